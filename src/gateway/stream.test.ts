import { expect, test } from 'vitest';
import type { Candidate } from '../catalog/snapshot.ts';
import type { VendorCall } from '../providers/adapter.ts';
import { openaiChat } from '../providers/formats/openai-chat/adapter.ts';
import { vendorCall } from '../../test/support/vendor-call.ts';
import { parseJson } from '../api/request-body.ts';
import type { ApiRequest } from './api-request.ts';
import { ChannelAttempt } from './attempt.ts';
import { lostRace } from './hedge.ts';
import { gatewayLimits } from './parts.ts';
import { RequestProgress } from './progress.ts';
import type { FundedRequest, ReservedFunds } from './reserve.ts';
import { ForwardingReceiver } from './stream.ts';

/** Its prompt is a long string, for which the request has a skeleton. */
function newCall(): VendorCall {
  const messages = [{ role: 'user', content: 'word '.repeat(8_000) }];
  const sent = Buffer.from(JSON.stringify({ model: 'm', messages, stream: true }));
  const parsed = parseJson(sent, 'application/json');
  return vendorCall(parsed.body, {
    ...parsed,
    publicModel: 'm',
    stream: true,
    streamUpstream: true,
  });
}

const chunk = (content: string): Buffer =>
  Buffer.from(
    `data: {"id":"a","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"${content}"}}]}\n\n`,
  );

/** A stream whose second half waits for money until `pay` is called. */
function waitingForMoney() {
  const adapter = openaiChat();
  const call = newCall();
  const sent = { bytes: call.bytes, skeleton: call.skeleton };
  // The first model could not answer, and one of two others does.
  const [first, request, spare] = [{ ...sent }, { ...sent }, { ...sent }];
  const attempt = new ChannelAttempt(adapter, call, gatewayLimits, () => {
    throw new Error('no vendor is asked');
  });
  let owes = true;
  let pay = (): void => {};
  const funds: Partial<ReservedFunds> = {
    nextLookBytes: 0,
    isPast: () => false,
    grow: () => {},
    raiseLimitFor: () => {},
    isBeyondCovered: () => owes,
    isPartlyCovered: () => false,
    growOrWait: () =>
      new Promise((resolve) => {
        pay = () => {
          owes = false;
          resolve(true);
        };
      }),
  };
  const written: string[] = [];
  const response = {
    write: (text: string) => written.push(text) > 0,
    started: true,
    startStream: () => {},
    onDrain: () => {},
  };
  const parts = { clock: { monotonicMs: () => 0 }, limits: gatewayLimits };
  const funded = {
    parts,
    request,
    fallbacks: [{ request }, { request: spare }],
    response,
    funds,
    startedMonotonicMs: 0,
  } as unknown as FundedRequest;
  const progress = new RequestProgress(first as ApiRequest);
  progress.call = call;
  const receiver = new ForwardingReceiver(funded, progress, attempt, adapter.stream(call));
  return {
    attempt,
    progress,
    receiver,
    written,
    holders: [call, first, request, spare],
    pay: () => pay(),
  };
}

test('what waits for money is written once it is paid for', async () => {
  const { receiver, written, pay } = waitingForMoney();
  expect(receiver.data(chunk('one'))).toBe(false);
  expect(written).toEqual([]);
  pay();
  await new Promise((resolve) => setImmediate(resolve));
  expect(written.join('')).toContain('one');
});

test('a request keeps its bytes until the client has the first of its answer', async () => {
  const { receiver, holders, pay } = waitingForMoney();
  const held = () => holders.filter(({ bytes }) => bytes.length > 0);
  const skeletons = () => holders.filter(({ skeleton }) => skeleton !== undefined);
  receiver.data(chunk('one'));
  expect([held(), skeletons()]).toEqual([holders, holders]);
  pay();
  await new Promise(setImmediate);
  expect([held(), skeletons()]).toEqual([[], []]);
});

test('the call of a failed attempt is not kept for the next', () => {
  const { progress } = waitingForMoney();
  expect(progress.call).toBeDefined();
  progress.begin({} as Candidate);
  expect(progress.call).toBeUndefined();
});

test('nothing is written of an attempt that lost its race while it waited for money', async () => {
  const { attempt, receiver, written, pay } = waitingForMoney();
  expect(receiver.data(chunk('one'))).toBe(false);
  attempt.abort(lostRace);
  pay();
  await new Promise((resolve) => setImmediate(resolve));
  expect(written).toEqual([]);
});

test('an event that cannot be read, behind bytes that waited for money, ends the attempt alone', async () => {
  const { attempt, receiver, pay } = waitingForMoney();
  const { translator } = receiver;
  let pieces = 0;
  const push = translator.push.bind(translator);
  translator.push = (piece) => {
    pieces += 1;
    if (pieces > 1) throw new Error('unreadable');
    return push(piece);
  };
  expect(receiver.data(chunk('word '.repeat(400)))).toBe(false);
  pay();
  expect(await attempt.result).toMatchObject({
    kind: 'fault',
    stage: 'waiting',
    fault: { kind: 'protocol', message: expect.stringContaining('unreadable') },
  });
});
