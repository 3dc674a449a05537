import { expect, test } from 'vitest';
import type { Reservation, ReserveRequest, ReserveRefusal } from '../ledger/contract.ts';
import { tariffOf } from '../catalog/price.ts';
import type { Admission } from './admit.ts';
import { type AdmittedRequest, reserve } from './reserve.ts';

const price = {
  rates: { input: 1_000_000_000n, output: 1_000_000_000n },
  tiers: [],
  by: undefined,
};
const limits = { rpm: undefined, tpm: undefined, concurrency: undefined };
const unknown = {
  ownedBy: '',
  outputTokensMax: 1_000,
  context: undefined,
  modalities: undefined,
  topSpeed: undefined,
};
const model = {
  ...unknown,
  id: 'm',
  kind: 'chat' as const,
  durations: undefined,
  shutdownDate: undefined,
  price,
  created: 0,
};
const group = { name: 'g', multiplierPpm: 1_000_000n, limits };
const pass = { requests: undefined, tokens: undefined, finish: () => {} };

/**
 * An account with `money` nano-yuan, and a text of `bytes` bytes. `in use`: other requests hold the
 * money until this one waits for it. `left`: the client leaves while the request waits. Returns the
 * till's requests, and whether the text was read.
 */
function story(money: bigint, bytes: number, meanwhile?: 'in use' | 'left') {
  const requests: ReserveRequest[] = [];
  let read = 0;
  const held = (amount: bigint): Reservation => ({
    amount,
    extend: () => 0n,
    extendOrWait: () => Promise.resolve(0n),
    settle: () => Promise.reject(new Error('nobody pays here')),
    release: () => {},
  });
  const till = {
    admitting: true,
    tryReserve: () => undefined,
    reserve: (request: ReserveRequest): Promise<Reservation | ReserveRefusal> => {
      requests.push(request);
      const waits = request.once !== true;
      if (waits && meanwhile === 'left') return Promise.resolve('left');
      const isThere = request.minimum <= money && (waits || meanwhile === undefined);
      return Promise.resolve(isThere ? held(request.minimum) : 'insufficient');
    },
    close: () => Promise.resolve(),
  };
  const clock = { now: () => 0, monotonicMs: () => 0 };
  const parts = { till, clock, limits: { utcOffsetMinutes: 0 } };
  const request = {
    ...{
      id: 'req_1',
      principal: { userId: 'u', keyId: 'k' },
      bytes: Buffer.alloc(bytes, 'word '),
      textBytes: bytes,
      mediaCount: 0,
    },
    ...{ choices: 1, stream: false, outputTokensRequested: 16, capability: 'chat', body: {} },
    text: () => {
      read += 1;
      return 'a few words';
    },
  };
  const offer = { model, group, price, tariff: tariffOf(price, 1_000_000n), candidates: [] };
  const media = { inputTokens: 0, output: false };
  const admitted: Admission = {
    offer,
    tariff: offer.tariff,
    textTokens: Math.ceil(bytes / 3),
    media,
    outputTokens: 16,
    pass,
  };
  const response = { onLeave: () => {} };
  const asked = { parts, request, admitted, response } as unknown as AdmittedRequest;
  const run = () => reserve(asked);
  return { run, requests, read: () => read };
}

test('R6: a large text is refused by its bytes alone where the account could not pay for the fewest tokens that they can be', async () => {
  const { run, requests, read } = story(1_000n, 50_000_000);
  await expect(run()).rejects.toMatchObject({ refusal: 'insufficient_quota' });
  expect(read()).toBe(0);
  expect(requests).toHaveLength(2);
});

test('R6: a large text that the account may be able to pay for is counted before it is refused', async () => {
  const { run, read } = story(1_000n * (50_000_000n / 128n + 32n), 50_000_000);
  expect(await run()).toMatchObject({ admitted: { textTokens: expect.any(Number) } });
  expect(read()).toBe(1);
});

test('R6: a large text waits for money that other requests hold', async () => {
  const { run, read } = story(1_000n * (50_000_000n / 128n + 32n), 50_000_000, 'in use');
  expect(await run()).toMatchObject({ admitted: { textTokens: expect.any(Number) } });
  expect(read()).toBe(1);
});

test('R6: a large text is not counted for a client that left while it waited', async () => {
  const { run, read } = story(1_000n * (50_000_000n / 128n + 32n), 50_000_000, 'left');
  expect(await run()).toBe('left');
  expect(read()).toBe(0);
});

test('R6: a small text is counted before anybody is refused for it', async () => {
  const { run, read } = story(1n, 1_000);
  await expect(run()).rejects.toMatchObject({ refusal: 'insufficient_quota' });
  expect(read()).toBe(1);
});
