import { expect, test } from 'vitest';
import { refusal } from '../base/refusal.ts';
import type { Charge } from '../ledger/contract.ts';
import type { StreamMeter, VendorAnswer } from '../providers/adapter.ts';
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

/** The charge of an answer that the database does not take in time, and what the client is sent. */
async function chargedInVain(result: AttemptResult, stream: boolean) {
  const charges: Charge[] = [];
  const funded = {
    parts: { clock: { now: () => 0, monotonicMs: () => 0 } },
    request: { id: 'r1', principal: {}, capability: 'chat', choices: 1, stream },
    admitted: {
      offer: { group: {} },
      quote: { bill: () => ({ lines: [], total: 1n }) },
      textTokens: 1,
      media: { inputTokens: 0 },
    },
    funds: {
      outputTokensMax: 10,
      thinkingTokensMax: 0,
      reservation: {
        settle(charge: Charge) {
          charges.push(charge);
          return Promise.resolve({ outcome: 'unavailable', amount: 0n, shortfall: 0n });
        },
      },
    },
    response: { started: false },
  } as unknown as FundedRequest;
  const { status, label } = await finishRequest(funded, new RequestProgress(funded.request), {
    result,
  });
  return { status, label, withheld: charges.map(({ withheld }) => withheld) };
}

test('a whole answer that cannot be charged is withheld, a streamed request’s too', async () => {
  const quantities = { input: 1, output: 1 };
  const whole = { body: '{}', quantities, upstreamId: undefined, outputText: 'Hi' };
  const refused = { status: 503, label: 'unsettled' };
  for (const stream of [false, true])
    expect(
      await chargedInVain({ kind: 'answer', answer: whole as unknown as VendorAnswer }, stream),
    ).toEqual({ ...refused, withheld: [true] });
  const meter = { outputBytes: 2, quantities, finished: true } as unknown as StreamMeter;
  expect(await chargedInVain({ kind: 'streamed', meter, tail: '' }, true)).toEqual({
    ...refused,
    withheld: [undefined],
  });
});

test('a response that has begun keeps its status', async () => {
  expect(await statusAfter(fault('overloaded'), true)).toBe(200);
  expect(await statusAfter({ kind: 'own_refusal', why: refusal('too_many_files') }, true)).toBe(
    200,
  );
});
