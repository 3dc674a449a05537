import type { FaultKind } from '../base/fault.ts';
import type { Policy } from '../base/policy.ts';
import type { Candidate } from '../catalog/snapshot.ts';
import { type Choice, togetherOf } from '../routing/choice.ts';
import type { ClientRequest } from './request.ts';

/** Of a conversation's beginning so much tells which one it is. */
const startCharsMax = 1_024;

/** How the channel of this request is chosen among equals. */
export function choiceOf(request: ClientRequest, policy: Policy = 'weighted'): Choice {
  return { policy, together: together(request, policy), streamed: request.stream };
}

/**
 * Who names a cache means it, whatever the policy; `sticky` finds what belongs together by itself.
 * Only of the same account: no other has its cache.
 */
function together({ body, principal }: ClientRequest, policy: Policy): number | undefined {
  const { prompt_cache_key: named, user } = body;
  if (typeof named === 'string' && named !== '')
    return togetherOf([principal.userId, 'key', named]);
  if (policy !== 'sticky') return undefined;
  if (typeof user === 'string' && user !== '') return togetherOf([principal.userId, 'user', user]);
  return togetherOf([principal.userId, 'start', startOf(body)]);
}

/**
 * How a conversation begins, in any client's format: its instructions and its first words stay when
 * it goes on, and are what a vendor's cache knows. An answer to a question is not among them: the
 * first request has none.
 */
function startOf({ system, instructions, messages, input, prompt }: ClientRequest['body']): string {
  const texts: string[] = [];
  let room = startCharsMax;
  const read = (value: unknown, depth: number): void => {
    if (room <= 0 || depth > 4) return;
    if (typeof value === 'string') {
      texts.push(value.slice(0, room));
      room -= value.length;
    } else if (Array.isArray(value)) for (const one of value.slice(0, 4)) read(one, depth + 1);
    else if (typeof value === 'object' && value !== null) {
      if ('content' in value) read(value.content, depth + 1);
      if ('text' in value) read(value.text, depth + 1);
    }
  };
  for (const said of [system, instructions, prompt]) read(said, 0);
  for (const said of [messages, input]) read(Array.isArray(said) ? untilAsked(said) : said, 0);
  return texts.join('\n');
}

/** What stands before the first question, and the question. */
function untilAsked(turns: readonly unknown[]): readonly unknown[] {
  const first = turns.findIndex(
    (turn) => typeof turn === 'object' && turn !== null && 'role' in turn && turn.role === 'user',
  );
  return turns.slice(0, first + 1 || 1);
}

/**
 * What is wrong with one key says nothing of the channel's others; what is wrong with a vendor
 * does.
 */
const faultsOfKeys: ReadonlySet<FaultKind> = new Set(['credentials', 'quota', 'rate_limited']);

/** The candidates that this request asks no more, after a fault of one. */
export function spentBy(
  fault: FaultKind,
  failed: Candidate,
  candidates: readonly Candidate[],
): readonly Candidate[] {
  if (faultsOfKeys.has(fault) || failed.channel.moreSecrets === undefined) return [failed];
  return candidates.filter(({ channel }) => channel.name === failed.channel.name);
}
