import { expect, test } from 'vitest';
import { systemTimers } from '../base/clock.ts';
import type { Candidate } from '../catalog/snapshot.ts';
import { callHedged, Race } from './hedge.ts';
import type { ChannelOutcome } from './outcome.ts';
import { RequestProgress } from './progress.ts';
import type { FundedRequest } from './reserve.ts';

const candidate = (name: string): Candidate =>
  ({ id: name, channel: { name } }) as unknown as Candidate;
const [first, second] = [candidate('first'), candidate('second')];

/** Calls a silent first channel of a model that may be tried until `attemptsMax`. */
async function channelsCalled(attemptsSoFar: number, attemptsMax: number): Promise<string[]> {
  const parts = {
    timers: { after: (_: number, then: () => void) => void setImmediate(then) },
    clock: { monotonicMs: () => 0 },
    limits: { attemptsMax: 4 },
    hedges: { spend: () => true },
  };
  const funded = {
    parts,
    request: { model: 'm' },
    startedMonotonicMs: 0,
  } as unknown as FundedRequest;
  const progress = new RequestProgress(funded.request);
  progress.attempts = attemptsSoFar;
  const called: string[] = [];
  const call = async (one: Candidate): Promise<ChannelOutcome> => {
    called.push(one.channel.name);
    if (one === first) await new Promise((resolve) => setTimeout(resolve, 50));
    return { result: { kind: 'left' }, candidate: one, decides: true };
  };
  const loop = { funded, progress, attemptsMax, pickSecond: () => second, call };
  await callHedged(loop, first, 0, 1);
  return called;
}

test('a second channel is called while the model has attempts left, whatever earlier models used', async () => {
  expect(await channelsCalled(1, 4)).toEqual(['first', 'second']);
  expect(await channelsCalled(5, 8)).toEqual(['first', 'second']);
});

test('no second channel is called once the model has used its attempts', async () => {
  expect(await channelsCalled(8, 8)).toEqual(['first']);
});

test('work of a hedge that ends after its race leaves the next attempt to be stopped', () => {
  const progress = new RequestProgress({} as FundedRequest['request']);
  const stopped: string[] = [];
  const work = (name: string) => ({ abort: () => void stopped.push(name) });
  const [download, next] = [work('download'), work('next')];
  progress.shared = new Race(systemTimers, progress);
  progress.startWork(download);
  progress.shared = undefined;
  progress.startWork(next);
  progress.endWork(download);
  progress.leave();
  expect(stopped).toEqual(['next']);
});
