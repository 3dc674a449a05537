import type { Candidate } from '../catalog/snapshot.ts';
import { usesVendorTools } from './bound.ts';
import type { Asked, Trial } from './channels.ts';
import { Contest, outrun } from './contest.ts';
import type { Exchange } from './exchange.ts';
import type { ClientRequest } from './request.ts';

/**
 * What a client gets as it is made, and what may be made twice: it is words, and nobody keeps it
 * but us.
 */
const repeatable: ReadonlySet<string> = new Set(['chat', 'messages', 'completions', 'responses']);
/** Members that make a vendor do or keep something beside its answer. */
const lasting = [
  'background',
  'container',
  'conversation',
  'mcp_servers',
  'plugins',
  'store',
  'web_search_options',
] as const;

/**
 * After how many milliseconds without a byte a second channel is asked as well; undefined: never,
 * as for nearly all.
 */
export function hedgeAfter({ admitted, request }: Exchange): number | undefined {
  const { hedgeAfterMs } = admitted.offer.model;
  return hedgeAfterMs !== undefined && mayBeMadeTwice(request) ? hedgeAfterMs : undefined;
}

function mayBeMadeTwice({ capability, stream, choices, sized, body }: ClientRequest): boolean {
  if (!stream || choices !== 1 || sized !== undefined || !repeatable.has(capability)) return false;
  if (lasting.some((member) => body[member] != null && body[member] !== false)) return false;
  return !usesVendorTools(body);
}

/** What became of a request that two channels were asked for. */
export interface Hedge {
  readonly first: string;
  readonly second: string;
  /** Whose answer the client got. */
  readonly won: 'first' | 'second' | 'neither';
  /**
   * The channel whose attempt was broken off, and may want its money all the same; undefined: none,
   * since it had failed before.
   */
  readonly brokenOff: string | undefined;
}

/**
 * Asks this channel, and another one too when nothing has come for so long and the model's requests
 * have earned it. One answer comes of it.
 */
export async function askHedged(
  exchange: Exchange,
  trial: Trial,
  first: Candidate,
  begunMs: number,
  afterMs: number,
): Promise<Asked> {
  const { parts, request, startedAtMs } = exchange;
  const contest = new Contest(exchange);
  exchange.attempt = contest;
  try {
    const one = trial.ask(first, begunMs, contest);
    const early = await Promise.race([one, contest.silence(afterMs)]);
    if (early !== 'silence') return early;
    const nowMs = parts.clock.monotonicMs();
    const second =
      exchange.attempts < parts.limits.attemptsMax ? trial.pickBeside(first, nowMs) : undefined;
    if (second === undefined || !parts.hedges.spend(request.model)) return await one;
    const asked = await outcomeOf(
      contest,
      first,
      one,
      trial.ask(second, nowMs - startedAtMs, contest),
    );
    exchange.candidate = asked.best.candidate;
    exchange.hedge = told(first, second, asked);
    return asked.best;
  } finally {
    contest.finish(outrun);
    exchange.attempt = undefined;
  }
}

interface Outcome {
  readonly best: Asked;
  readonly brokenOff: boolean;
}

/** Of two attempts the one that decides: the first that ends for good, else the last. */
async function outcomeOf(
  contest: Contest,
  first: Candidate,
  one: Promise<Asked>,
  two: Promise<Asked>,
): Promise<Outcome> {
  // Whoever is broken off while it is still being made ready may fail at that: nobody waits for it.
  for (const each of [one, two]) each.catch(() => undefined);
  const sooner = await Promise.race([one, two]);
  if (sooner.goesOn || sooner.result.kind === 'outrun') {
    return {
      best: await (sooner.candidate === first ? two : one),
      brokenOff: sooner.result.kind === 'outrun',
    };
  }
  contest.finish(outrun);
  return { best: sooner, brokenOff: true };
}

function told(first: Candidate, second: Candidate, { best, brokenOff }: Outcome): Hedge {
  const { candidate, result } = best;
  const delivered =
    result.kind === 'streamed' || result.kind === 'answer' || result.kind === 'length';
  const loser = candidate === first ? second : first;
  return {
    first: first.channel.name,
    second: second.channel.name,
    won: !delivered ? 'neither' : candidate === first ? 'first' : 'second',
    brokenOff: brokenOff ? loser.channel.name : undefined,
  };
}
