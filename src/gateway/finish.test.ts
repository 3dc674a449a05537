import { expect, test } from 'vitest';
import { refusal } from '../base/refusal.ts';
import type { AttemptResult } from './attempt.ts';
import { finishRequest } from './finish.ts';
import { RequestProgress } from './progress.ts';
import type { FundedRequest } from './reserve.ts';

async function statusAfter(result: AttemptResult, started = false): Promise<number> {
  const parts = {
    clock: { monotonicMs: () => 0 },
    health: { retryAfterMs: () => undefined },
  };
  const funded = {
    parts,
    request: { id: 'r1' },
    admitted: { offer: { candidates: [] } },
    response: { started },
  } as unknown as FundedRequest;
  const outcome = await finishRequest(funded, new RequestProgress(funded.request), {
    result,
    receiver: undefined,
  });
  return outcome.status;
}

const fault = (kind: 'overloaded' | 'bad_request'): AttemptResult => ({
  kind: 'fault',
  stage: 'waiting',
  fault: { kind, message: 'the vendor’s words' },
});

test('the access line has the status that the client is sent', async () => {
  const away = refusal('unavailable', { why: 'pictures cannot be kept', id: 'r1' });
  expect(await statusAfter({ kind: 'own_refusal', why: away })).toBe(503);
  expect(await statusAfter({ kind: 'own_refusal', why: refusal('too_many_files') })).toBe(429);
  const unsupported = refusal('unsupported_parameter', { model: 'm', param: 'n', why: 'no.' });
  expect(await statusAfter({ kind: 'own_refusal', why: unsupported })).toBe(400);
  expect(await statusAfter(fault('overloaded'))).toBe(503);
  expect(await statusAfter(fault('bad_request'))).toBe(400);
});

test('a response that has begun keeps its status', async () => {
  expect(await statusAfter(fault('overloaded'), true)).toBe(200);
  expect(await statusAfter({ kind: 'own_refusal', why: refusal('too_many_files') }, true)).toBe(
    200,
  );
});
