import { expect, test } from 'vitest';
import { processorMs } from '../../../test/support/processor-time.ts';
import type { FaultKind } from '../../base/fault.ts';
import type { Adapter } from '../adapter.ts';
import { sanitizeVendorMessage } from '../vendor-message.ts';
import type { Vendor } from '../vendor.ts';
import { deepseek } from '../vendors/deepseek.ts';
import { huggingface } from '../vendors/huggingface.ts';
import { openai } from '../vendors/openai.ts';
import { volcengine } from '../vendors/volcengine.ts';
import { xai } from '../vendors/xai.ts';

function chatOf({ id, adapters: { chat } }: Vendor): Adapter {
  if (chat === undefined) throw new Error(`${id} does not chat`);
  return chat;
}

const team = '0c1a8f3e-5b7d-4e2a-9f60-1d2c3b4a5968';
const refused: readonly (readonly [Vendor, number, unknown, FaultKind])[] = [
  [
    xai,
    403,
    {
      code: 'The caller does not have permission',
      error: `Content violates usage guidelines. Team: ${team}`,
    },
    'content_policy',
  ],
  [
    xai,
    403,
    { code: 'The caller does not have permission', error: 'The API key is blocked.' },
    'credentials',
  ],
  [
    deepseek,
    400,
    {
      error: {
        message: 'Content Exists Risk',
        type: 'invalid_request_error',
        code: 'invalid_request_error',
      },
    },
    'content_policy',
  ],
  [
    volcengine,
    400,
    {
      error: {
        code: 'InvalidParameter',
        message: 'Total tokens of image and text exceed max message tokens.',
        type: 'BadRequest',
      },
    },
    'context_length',
  ],
  [
    huggingface,
    422,
    {
      error: {
        message:
          'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 9000',
        type: 'validation',
      },
    },
    'context_length',
  ],
  [
    openai,
    400,
    { error: { message: 'Unknown parameter', type: 'invalid_request_error' } },
    'bad_request',
  ],
];

test.each(refused)(
  '%s: the client’s own fault stays the client’s, and parks nobody (%i %j)',
  (vendor, status, body, kind) => {
    expect(chatOf(vendor).fault(status, {}, JSON.stringify(body)).kind).toBe(kind);
  },
);

test('a reply that no request deserves is not the client’s fault: redirects, other successes, methods and proxies', () => {
  for (const status of [201, 204, 206, 301, 302, 307, 304, 405, 407])
    for (const body of ['', '<html><title>Moved</title></html>', '{}'])
      expect(chatOf(openai).fault(status, {}, body).kind, `${status} ${body}`).toBe('protocol');
});

test('a page in front of the vendor that stops one prompt parks nobody', () => {
  const blocked =
    '<!DOCTYPE html><html><head><title>Attention Required! | Cloudflare</title></head></html>';
  expect(chatOf(openai).fault(403, {}, blocked).kind).toBe('protocol');
  expect(chatOf(openai).fault(403, {}, '').kind).toBe('credentials');
});

test('our team and key at the vendor are not told', () => {
  const told = `Content violates usage guidelines. Team: ${team}, API key ID: ${team}, Model: grok-4`;
  expect(sanitizeVendorMessage(told)).toBe(
    'Content violates usage guidelines. Team: ***, API key ID: ***, Model: grok-4',
  );
});

test('a vendor that repeats a long text to us does not stop everybody else', () => {
  const started = processorMs();
  for (const text of ['sk-', '<title', 'Bearer ', '\u0001', 'org-'])
    chatOf(openai).fault(
      400,
      {},
      JSON.stringify({ error: { message: text.repeat(250_000 / text.length) } }),
    );
  chatOf(openai).fault(502, {}, '<title'.repeat(40_000));
  expect(processorMs() - started).toBeLessThan(250);
});
