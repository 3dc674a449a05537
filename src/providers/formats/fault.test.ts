import { expect, test } from 'vitest';
import { processorMs } from '../../../test/support/processor-time.ts';
import { vendorCall } from '../../../test/support/vendor-call.ts';
import type { FaultKind } from '../../base/fault.ts';
import type { Adapter } from '../adapter.ts';
import { sanitizeVendorMessage } from '../vendor-message.ts';
import type { Vendor } from '../vendor.ts';
import { anthropic } from '../vendors/anthropic.ts';
import { bedrock } from '../vendors/bedrock.ts';
import { deepseek } from '../vendors/deepseek.ts';
import { gemini } from '../vendors/gemini.ts';
import { groq } from '../vendors/groq.ts';
import { huggingface } from '../vendors/huggingface.ts';
import { mistral } from '../vendors/mistral.ts';
import { openai } from '../vendors/openai.ts';
import { openrouter } from '../vendors/openrouter.ts';
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

const openaiError = (message: string, code: string | null = null) => ({
  error: { message, type: 'invalid_request_error', param: null, code },
});
const anthropicError = (message: string) => ({
  type: 'error',
  error: { type: 'invalid_request_error', message },
});
const googleError = (message: string, status = 'INVALID_ARGUMENT') => ({
  error: { code: 400, message, status },
});

/** What vendors say of the client's mistake, with words that the client chose. */
const repeating: readonly (readonly [Vendor, unknown])[] = [
  [
    openai,
    openaiError(
      "Invalid schema for function 'list_overdue_invoices': In context=(), 'additionalProperties' is required.",
      'invalid_function_parameters',
    ),
  ],
  [
    openai,
    openaiError(
      'Error while downloading https://cdn.example.com/letters/overdue-notice.png.',
      'invalid_image_url',
    ),
  ],
  [
    openai,
    openaiError(
      "Invalid schema for response_format 'r': In context=('properties', 'invalid api key'), 'required' is missing.",
    ),
  ],
  [
    openai,
    openaiError("Invalid 'messages[1].name': does not match: 'flagged user'.", 'invalid_value'),
  ],
  [openai, openaiError("'insufficient_balance' is not of type 'object'.", 'invalid_type')],
  [openai, openaiError("The customer's insufficient balance is not one of ['a', 'b']")],
  [anthropic, anthropicError("tools.0.custom.name: should match pattern; got 'overdue list'")],
  [
    anthropic,
    anthropicError('Unable to download the file https://x.test/credit balance is too low.pdf'),
  ],
  [anthropic, anthropicError('tools.0.custom.input_schema: spend limit is no type')],
  [gemini, googleError('tools[0].function_declarations[0].name: Invalid function name overdue')],
  [gemini, googleError('Cannot fetch content. API key not valid https://x.test/overdue.png')],
  [gemini, googleError('File files/free tier billing region is not ACTIVE', 'FAILED_PRECONDITION')],
  [deepseek, openaiError('Invalid tool name list_overdue: arrearage')],
  [groq, openaiError('invalid JSON schema for tool list_overdue, tools[0].function.parameters')],
  [mistral, { object: 'error', message: 'Tool list_overdue is wrong', type: 'invalid_request' }],
  [
    openrouter,
    {
      error: {
        code: 400,
        message: 'Provider returned error',
        metadata: { raw: "Invalid schema for function 'list_overdue'" },
      },
    },
  ],
  [xai, { code: 'Invalid argument', error: 'Fetching https://x.test/spending limit failed' }],
  [bedrock, { message: "The value at toolConfig.tools.0.toolSpec.name 'overdue x' is invalid" }],
];

test.each(repeating)('%s: words of the client blame no account (%j)', (vendor, body) => {
  const chat = chatOf(vendor);
  const statuses = vendor === mistral ? [400, 422] : [400];
  for (const status of statuses)
    expect(chat.fault(status, {}, JSON.stringify(body)).kind, `${status}`).toBe('bad_request');
});

test('an error inside a stream that repeats words of the client blames no account', () => {
  for (const code of [400, undefined]) {
    const message = 'Invalid schema for function list_overdue: insufficient balance';
    const translator = chatOf(openrouter).stream(vendorCall({}, { stream: true }));
    translator.push(
      Buffer.from(`data: ${JSON.stringify({ error: { code, message }, choices: [] })}\n\n`),
    );
    expect(translator.meter.fault?.kind).toBe(code === 400 ? 'bad_request' : 'server_error');
  }
});

/** What vendors say of the account with the status of a client's mistake. */
const ofTheAccount: readonly (readonly [Vendor, unknown, FaultKind])[] = [
  [
    anthropic,
    anthropicError('Your credit balance is too low to access the Anthropic API. Please go to …'),
    'quota',
  ],
  [
    anthropic,
    anthropicError('You have reached your specified API usage limits. You will regain access …'),
    'quota',
  ],
  [anthropic, anthropicError('This organization has been disabled.'), 'credentials'],
  [gemini, googleError('API key not valid. Please pass a valid API key.'), 'credentials'],
  [
    gemini,
    googleError('User location is not supported for the API use.', 'FAILED_PRECONDITION'),
    'credentials',
  ],
  [xai, { code: 'invalid-argument', error: 'Incorrect API key provided: xa***' }, 'credentials'],
];

test.each(ofTheAccount)(
  '%s: the vendor’s own words blame the account (%j)',
  (vendor, body, kind) => {
    expect(chatOf(vendor).fault(400, {}, JSON.stringify(body)).kind).toBe(kind);
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
