import { describe, expect, test } from 'vitest';
import type { PendingAnswer, ImageAdapter } from '../../adapter.ts';
import { bflImages } from './bfl.ts';
import { cogView } from './hosts.ts';
import { dashscopeTasks } from './dashscope.ts';
import { falImages } from './fal.ts';
import { ideogramImages } from './ideogram.ts';
import { minimaxImages } from './minimax.ts';
import { recraftImages } from './recraft.ts';
import { replicateImages } from './replicate.ts';
import { runwayImages } from './runway.ts';
import { stabilityImages } from './stability.ts';
import { vendorCall } from '../../../../test/support/vendor-call.ts';

const call = vendorCall(
  {},
  {
    upstreamModel: 'owner/app/way',
    answerId: 'img-1',
    created: 1_700_000_000,
    image: {
      prompt: 'a cat',
      n: 2,
      size: undefined,
      quality: undefined,
      returns: 'url',
      partials: 0,
      images: [],
      mask: undefined,
    },
  },
);

const bytes = (reply: unknown): Buffer =>
  Buffer.from(typeof reply === 'string' ? reply : JSON.stringify(reply));
type Said = ReturnType<PendingAnswer['read']>;
const read = (adapter: ImageAdapter, reply: unknown): Said =>
  adapter.read(bytes(reply), 'application/json', call);
const next = (later: PendingAnswer, reply: unknown): Said =>
  later.read(bytes(reply), 'application/json', call);

function isLater(said: Said): said is PendingAnswer {
  return 'afterMs' in said;
}

function laterFrom(adapter: ImageAdapter, reply: unknown): PendingAnswer {
  const said = read(adapter, reply);
  if (!isLater(said)) throw new Error(JSON.stringify(said));
  return said;
}

/**
 * `fine`: addresses; for a fault, its kind, whether it ends the wait, and whether the work is gone;
 * else `again`.
 */
function meaning(said: Said): unknown {
  if (isLater(said)) return 'again';
  if ('kind' in said)
    return [said.kind, said.ended === true ? 'ended' : 'gone' in said ? 'gone' : 'asked again'];
  return said.pictures?.map(({ from }) => ('url' in from ? from.url : from.base64));
}

const url = 'https://delivery.example/1.png';
const again = ['protocol', 'asked again'];
const moderated = ['content_policy', 'ended'];
const failed = ['server_error', 'ended'];

interface Row {
  readonly vendor: string;
  readonly adapter: ImageAdapter;
  readonly accepted: unknown;
  readonly path: string;
  readonly replies: readonly (readonly [reply: unknown, meaning: unknown])[];
}

const prediction = (status: string, more: object = {}) => ({ id: 'p 1', status, ...more });
const wan = (status: string, more: object = {}) => ({
  output: { task_id: 't', task_status: status, ...more },
});
const rows: readonly Row[] = [
  {
    vendor: 'BFL',
    adapter: bflImages,
    accepted: { id: 't/1', polling_url: 'https://api.us1.bfl.ai/v1/get_result?id=t/1' },
    path: '/get_result?id=t%2F1',
    replies: [
      [{ id: 't', status: 'Pending', result: null, progress: 0.5 }, 'again'],
      [{ id: 't', status: 'Ready', result: { sample: url } }, [url]],
      [{ id: 't', status: 'Ready', result: null }, again],
      [
        { id: 't', status: 'Request Moderated', details: { 'Moderation Reasons': ['Sexual'] } },
        moderated,
      ],
      [{ id: 't', status: 'Content Moderated' }, moderated],
      [{ id: 't', status: 'Error' }, failed],
      [{ id: 't', status: 'Task not found' }, ['unknown_model', 'gone']],
      [{ id: 't', status: 'Thinking' }, again],
    ],
  },
  {
    vendor: 'Replicate',
    adapter: replicateImages,
    accepted: prediction('starting'),
    path: '/predictions/p%201',
    replies: [
      [prediction('processing'), 'again'],
      [prediction('succeeded', { output: url }), [url]],
      [prediction('succeeded', { output: [url, url, url] }), [url, url]],
      [prediction('succeeded', { output: ['data:image/png;base64,aGk='] }), ['aGk=']],
      [prediction('succeeded', { output: null }), ['protocol', 'ended']],
      [prediction('failed', { error: 'NSFW content detected. Try running it again' }), moderated],
      [prediction('failed', { error: 'CUDA out of memory' }), failed],
      [prediction('canceled'), failed],
      [prediction('dreaming'), again],
    ],
  },
  {
    vendor: 'DashScope',
    adapter: dashscopeTasks([{ code: /^DataInspectionFailed$/, kind: 'content_policy' }]),
    accepted: wan('PENDING'),
    path: '/../../api/v1/tasks/t',
    replies: [
      [wan('RUNNING'), 'again'],
      [
        wan('SUCCEEDED', { results: [{ url }, { code: 'DataInspectionFailed', message: 'no' }] }),
        [url],
      ],
      [wan('SUCCEEDED', { results: [{ code: 'DataInspectionFailed', message: 'no' }] }), moderated],
      [wan('FAILED', { code: 'DataInspectionFailed', message: 'no' }), moderated],
      [wan('FAILED', { code: 'InternalError', message: 'oh' }), failed],
      [wan('UNKNOWN'), again],
    ],
  },
  {
    vendor: 'Runway',
    adapter: runwayImages,
    accepted: { id: 't' },
    path: '/v1/tasks/t',
    replies: [
      [{ id: 't', status: 'THROTTLED' }, 'again'],
      [{ id: 't', status: 'SUCCEEDED', output: [url] }, [url]],
      [{ id: 't', status: 'FAILED', failureCode: 'SAFETY.INPUT.TEXT', failure: 'no' }, moderated],
      [{ id: 't', status: 'FAILED', failureCode: 'INTERNAL', failure: 'oh' }, failed],
      [{ id: 't', status: 'MUSING' }, again],
    ],
  },
];

describe('what a vendor says of what it has taken', () => {
  for (const { vendor, adapter, accepted, path, replies } of rows)
    test(`${vendor}`, () => {
      const later = laterFrom(adapter, accepted);
      expect([later.poll.method, later.poll.path]).toEqual(['GET', path]);
      for (const [reply, means] of [...replies, ['<html>', again] as const, ['', again] as const])
        expect([reply, meaning(next(later, reply))]).toEqual([reply, means]);
      // A reply that cannot be read may stand for an accepted task: it is a fault of the format,
      // and no address to poll is known.
      for (const reply of ['<html>', '{}', '{"id":7}'])
        expect(meaning(read(adapter, reply))).toEqual(again);
      expect(later.fault?.(404, {}, '{"detail":"Not Found"}')).toMatchObject({ gone: true });
      expect(later.fault?.(401, {}, '{}')).not.toHaveProperty('ended');
      expect(later.fault?.(500, {}, '<html>')).not.toHaveProperty('ended');
    });

  test('fal, which has done its work before it tells how that went', () => {
    const status = laterFrom(falImages, {
      request_id: 'r',
      status_url: 'https://queue.fal.run/owner/app/requests/r/status',
    });
    expect([status.poll.path, status.poll.url]).toEqual([
      '/owner/app/requests/r/status',
      'https://queue.fal.run/owner/app/requests/r/status',
    ]);
    expect([status.cancel?.method, status.cancel?.path]).toEqual([
      'PUT',
      '/owner/app/requests/r/cancel',
    ]);
    expect(meaning(next(status, { status: 'IN_QUEUE' }))).toBe('again');
    expect(meaning(next(status, { status: 'PONDERING' }))).toEqual(again);
    const answer = next(status, { status: 'COMPLETED' });
    if (!isLater(answer)) throw new Error('completed work is asked for');
    expect([answer.poll.path, answer.afterMs]).toEqual(['/owner/app/requests/r', 0]);
    expect(
      meaning(next(answer, { images: [{ url }, { url: 'data:image/png;base64,aGk=' }] })),
    ).toEqual([url, 'aGk=']);
    expect(meaning(next(answer, { image: { url } }))).toEqual([url]);
    expect(
      meaning(next(answer, { images: [{ url }, { url }], has_nsfw_concepts: [true, false] })),
    ).toEqual([url]);
    expect(meaning(next(answer, { images: [{ url }], has_nsfw_concepts: [true] }))).toEqual(
      moderated,
    );
    expect(meaning(next(answer, '<html>'))).toEqual(again);
    const fault = (code: number, body: unknown) => answer.fault?.(code, {}, bytes(body).toString());
    expect(
      fault(422, { detail: [{ loc: ['body'], msg: 'flagged', type: 'content_policy_violation' }] }),
    ).toMatchObject({
      kind: 'content_policy',
      ended: true,
    });
    expect(
      fault(422, { detail: [{ loc: ['body', 'seed'], msg: 'too large', type: 'int' }] }),
    ).toMatchObject({
      kind: 'bad_request',
      param: 'seed',
      ended: true,
    });
    expect(fault(500, { detail: 'Internal Server Error' })).toMatchObject({
      kind: 'server_error',
      ended: true,
    });
    expect(fault(400, { detail: 'Request is still in progress' })).not.toHaveProperty('ended');
    expect(fault(502, '<html>')).not.toHaveProperty('ended');
    expect(fault(401, { detail: 'no' })).not.toHaveProperty('ended');
  });
});

test('what a vendor answers at once', () => {
  const rules = [{ code: /^1026$/, kind: 'content_policy' }] as const;
  const told: readonly (readonly [ImageAdapter, unknown, unknown])[] = [
    [stabilityImages, { image: 'aGk=', finish_reason: 'SUCCESS' }, ['aGk=']],
    [stabilityImages, { image: 'aGk=', finish_reason: 'CONTENT_FILTERED' }, moderated],
    [stabilityImages, '<html>', again],
    [
      ideogramImages,
      {
        data: [
          { url, is_image_safe: true },
          { url: '', is_image_safe: false },
        ],
      },
      [url],
    ],
    [ideogramImages, { data: [{ url: '', is_image_safe: false }] }, moderated],
    [ideogramImages, { data: [] }, again],
    [recraftImages, { data: [{ url }, { b64_json: 'aGk=' }] }, [url, 'aGk=']],
    [recraftImages, { created: 1 }, again],
    [minimaxImages(rules), { data: { image_urls: [url] }, base_resp: { status_code: 0 } }, [url]],
    [
      minimaxImages(rules),
      { data: { image_base64: ['aGk='] }, base_resp: { status_code: 0 } },
      ['aGk='],
    ],
    [
      minimaxImages(rules),
      { data: {}, metadata: { failed_count: '1' }, base_resp: { status_code: 0 } },
      moderated,
    ],
    [
      minimaxImages(rules),
      { base_resp: { status_code: 1026, status_msg: 'sensitive' } },
      ['content_policy', 'asked again'],
    ],
    [cogView([]), { data: [{ url }] }, [url]],
    [cogView([]), { error: {} }, again],
  ];
  for (const [adapter, reply, means] of told)
    expect([reply, meaning(read(adapter, reply))]).toEqual([reply, means]);
});

test('what a vendor refuses', () => {
  const refused: readonly (readonly [ImageAdapter, number, unknown, string])[] = [
    [bflImages, 402, { detail: 'Insufficient credits' }, 'quota'],
    [bflImages, 403, { detail: 'Not authenticated' }, 'credentials'],
    [bflImages, 429, { detail: 'Too many active tasks' }, 'rate_limited'],
    [
      bflImages,
      422,
      { detail: [{ loc: ['body', 'width'], msg: 'too small', type: 'v' }] },
      'bad_request',
    ],
    [falImages, 403, { detail: 'User is locked. Reason: Exhausted balance.' }, 'quota'],
    [
      falImages,
      422,
      { detail: [{ loc: ['body', 'prompt'], msg: 'flagged', type: 'content_policy_violation' }] },
      'content_policy',
    ],
    [
      replicateImages,
      402,
      { title: 'Insufficient credit', detail: 'You have insufficient credit', status: 402 },
      'quota',
    ],
    [
      replicateImages,
      422,
      { title: 'Input validation failed', detail: '- input.seed: too large', status: 422 },
      'bad_request',
    ],
    [
      stabilityImages,
      403,
      { id: 'i', name: 'content_moderation', errors: ['flagged'] },
      'content_policy',
    ],
    [stabilityImages, 402, { id: 'i', name: 'payment_required', errors: ['no credits'] }, 'quota'],
    [
      stabilityImages,
      400,
      { id: 'i', name: 'bad_request', errors: ['strength: too large'] },
      'bad_request',
    ],
    [ideogramImages, 422, { error: 'Prompt failed the safety check.' }, 'content_policy'],
    [ideogramImages, 401, { detail: 'Not authorized' }, 'credentials'],
    [recraftImages, 402, { code: 'not_enough_credits', message: 'Not enough credits' }, 'quota'],
    [recraftImages, 400, { code: 'content_policy_violation', message: 'no' }, 'content_policy'],
    [runwayImages, 400, { error: 'You do not have enough credits to run this task.' }, 'quota'],
  ];
  for (const [adapter, status, body, kind] of refused)
    expect([body, adapter.fault(status, {}, JSON.stringify(body)).kind]).toEqual([body, kind]);
});
