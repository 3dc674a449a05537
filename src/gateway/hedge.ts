import type { Timers } from '../base/clock.ts';
import type { Candidate } from '../catalog/snapshot.ts';
import type { StreamTranslator } from '../providers/adapter.ts';
import { type ChannelAttempt, type AttemptResult, wasAnswered } from './attempt.ts';
import type { ChannelOutcome } from './outcome.ts';
import type { Hedge } from './parts.ts';
import type { RequestProgress, SharedWork, Work } from './progress.ts';
import type { FundedRequest } from './reserve.ts';

/** How channels are called. The attempt loop does it. */
interface HedgedAttempts {
  readonly funded: FundedRequest;
  readonly progress: RequestProgress;
  /** `progress.attempts` may come so far: attempts of earlier models are in it. */
  readonly attemptsMax: number;
  /** Another healthy channel than `first`, if there is one. */
  pickSecond(first: Candidate, nowMs: number): Candidate | undefined;
  /** `beganMs`: since the request began. */
  call(candidate: Candidate, beganMs: number, race: Race): Promise<ChannelOutcome>;
}

/**
 * Calls this channel, and a second one too when no byte has come within `afterMs` and the model's
 * hedge budget allows it. The client gets one answer.
 */
export async function callHedged(
  attempts: HedgedAttempts,
  first: Candidate,
  beganMs: number,
  afterMs: number,
): Promise<ChannelOutcome> {
  const { funded, progress } = attempts;
  const { parts, request, startedMonotonicMs } = funded;
  const race = new Race(parts.timers, progress);
  progress.shared = race;
  try {
    const one = attempts.call(first, beganMs, race);
    const early = await Promise.race([one, race.silence(afterMs)]);
    if (early !== 'silence') return early;
    const nowMs = parts.clock.monotonicMs();
    const second =
      progress.attempts < attempts.attemptsMax ? attempts.pickSecond(first, nowMs) : undefined;
    if (second === undefined || !parts.hedges.spend(request.model)) return await one;
    const outcome = await decideRace(
      race,
      first,
      one,
      attempts.call(second, nowMs - startedMonotonicMs, race),
    );
    progress.candidate = outcome.best.candidate;
    progress.hedge = hedgeOf(request.model, first, second, outcome);
    return outcome.best;
  } finally {
    race.abort(lostRace);
    progress.shared = undefined;
  }
}

interface HedgeOutcome {
  readonly best: ChannelOutcome;
  readonly brokenOff: boolean;
}

/**
 * The attempt that decides: the first of the two that delivers. A failure waits for the end of the
 * other attempt, a refusal of the request too: without the second channel nobody would have heard
 * its refusal. Where neither delivers, a refusal decides, of two that of the first channel.
 */
async function decideRace(
  race: Race,
  first: Candidate,
  one: Promise<ChannelOutcome>,
  two: Promise<ChannelOutcome>,
): Promise<HedgeOutcome> {
  // A broken-off attempt that is still being prepared may fail at that: nothing waits for it.
  for (const each of [one, two]) each.catch(() => undefined);
  const sooner = await Promise.race([one, two]);
  const lost = sooner.result.kind === 'lost_race';
  if (!lost && sooner.decides && !hasFailed(race, sooner)) {
    race.abort(lostRace);
    return { best: sooner, brokenOff: true };
  }
  const other = await (sooner.candidate === first ? two : one);
  const blamesOther = !sooner.decides || (other.decides && other.candidate === first);
  return { best: hasFailed(race, other) && !blamesOther ? sooner : other, brokenOff: lost };
}

/** Ended before either attempt had a byte for the client. */
const hasFailed = (race: Race, { result: { kind } }: ChannelOutcome): boolean =>
  race.decidedResult === undefined && (kind === 'fault' || kind === 'own_refusal');

function hedgeOf(
  model: string,
  first: Candidate,
  second: Candidate,
  { best, brokenOff }: HedgeOutcome,
): Hedge {
  const { candidate, result } = best;
  const loser = candidate === first ? second : first;
  return {
    model,
    first: first.channel.name,
    second: second.channel.name,
    won: !wasAnswered(result) ? 'neither' : candidate === first ? 'first' : 'second',
    brokenOff: brokenOff ? loser.channel.name : undefined,
  };
}

/** How an attempt ends when another was faster. */
export const lostRace: AttemptResult = { kind: 'lost_race' };

/**
 * Two attempts at one answer. The first that has a byte for the client wins, and the other is
 * broken off in that instant, so that the client never sees both.
 */
export class Race implements SharedWork {
  readonly #timers: Timers;
  readonly #progress: RequestProgress;
  readonly #running = new Set<Work>();
  #decidedResult: AttemptResult | undefined;
  #callOff: (() => void) | undefined;

  constructor(timers: Timers, progress: RequestProgress) {
    this.#timers = timers;
    this.#progress = progress;
  }

  /** The result for an attempt that has not begun once the race is decided; undefined before. */
  get decidedResult(): AttemptResult | undefined {
    return this.#decidedResult;
  }

  enter(work: Work): void {
    this.#running.add(work);
  }

  exit(work: Work): void {
    this.#running.delete(work);
  }

  /** Resolves when no byte has come for `ms`; never, once one has. */
  silence(ms: number): Promise<'silence'> {
    return new Promise((resolve) => {
      this.#callOff = this.#timers.after(ms, () => resolve('silence'));
    });
  }

  /** Ends all work except the winner. */
  abort(result: AttemptResult, winner?: Work): void {
    this.#callOff?.();
    this.#decidedResult ??= result;
    for (const work of this.#running) if (work !== winner) work.abort(result);
  }

  /** This attempt has the first byte: the client gets its stream. */
  won(attempt: ChannelAttempt, translator: StreamTranslator): void {
    this.abort(lostRace, attempt);
    this.#progress.stream = translator;
    this.#progress.dropped = attempt.dropped;
    this.#progress.call = attempt.call;
  }
}
