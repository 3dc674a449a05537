import type { Measure, Quantities } from '../../../base/quantities.ts';
import type { PricingFacts, UsageItem } from '../../adapter.ts';
import { countOf, type Documented, objectOf, objectsOf, textOf } from '../../../base/json.ts';
import type { IterationUsage, MessageUsage } from './types.ts';

/** The counts of a message's `usage`, which a stream sends in pieces. */
export interface MessageCounts {
  input: number | undefined;
  cacheRead: number;
  cacheWrite: number;
  /** The part of `cacheWrite` that the vendor keeps for an hour. */
  cacheWriteHour: number;
  output: number | undefined;
  thinking: number;
  searches: number;
  fetches: number;
  /** Code ran in a container of the vendor. */
  container: boolean;
  /** The speed at which the vendor served the answer. */
  speed: string | undefined;
  iterations: readonly Documented<IterationUsage>[];
}

export const newMessageCounts = (): MessageCounts => ({
  input: undefined,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWriteHour: 0,
  output: undefined,
  thinking: 0,
  searches: 0,
  fetches: 0,
  container: false,
  speed: undefined,
  iterations: noIterations,
});

const noIterations: readonly Documented<IterationUsage>[] = [];

/**
 * Adds the counts of one `usage`; a later one of the same message overrides an earlier one
 * (platform.claude.com/docs/en/build-with-claude/streaming, 2026-11).
 */
export function addMessageUsage(
  into: MessageCounts,
  usage: Documented<MessageUsage> | undefined,
): void {
  if (!usage) return;
  noteTokens(into, usage);
  const tools = objectOf(usage.server_tool_use);
  into.searches = countOf(tools?.web_search_requests) ?? into.searches;
  into.fetches = countOf(tools?.web_fetch_requests) ?? into.fetches;
  into.speed = textOf(usage.speed) ?? into.speed;
  if (Array.isArray(usage.iterations)) into.iterations = objectsOf(usage.iterations);
}

function noteTokens(into: MessageCounts, usage: Documented<IterationUsage>): void {
  into.input = countOf(usage.input_tokens) ?? into.input;
  into.cacheRead = countOf(usage.cache_read_input_tokens) ?? into.cacheRead;
  into.cacheWrite = countOf(usage.cache_creation_input_tokens) ?? into.cacheWrite;
  into.cacheWriteHour =
    countOf(objectOf(usage.cache_creation)?.ephemeral_1h_input_tokens) ?? into.cacheWriteHour;
  into.output = countOf(usage.output_tokens) ?? into.output;
  into.thinking = countOf(objectOf(usage.output_tokens_details)?.thinking_tokens) ?? into.thinking;
}

/**
 * The disjoint quantities of a message: `input_tokens` does not hold cached tokens, `output_tokens`
 * holds the thinking. The calls of tools that the vendor ran and all iterations are included.
 * Undefined while the vendor has not counted the output.
 */
export function messageQuantities(counted: MessageCounts): Quantities | undefined {
  const own = tokensOf(counted);
  if (own === undefined) return undefined;
  const items = itemsOf(counted);
  const { searches, fetches, container } = counted;
  if (items === undefined && searches === 0 && fetches === 0 && !container) return own;
  const sum: Partial<Record<Measure, number>> = items === undefined ? { ...own } : {};
  for (const { quantities } of items ?? [])
    for (const [measure, count] of Object.entries(quantities) as [Measure, number][])
      sum[measure] = (sum[measure] ?? 0) + count;
  return withoutZeros({
    ...sum,
    web_search: searches,
    web_fetch: fetches,
    code_session: container ? 1 : 0,
  });
}

function tokensOf({
  input,
  cacheRead,
  cacheWrite,
  cacheWriteHour,
  output,
  thinking,
}: MessageCounts): Quantities | undefined {
  if (output === undefined) return undefined;
  const hour = Math.min(cacheWrite, cacheWriteHour);
  const thought = Math.min(output, thinking);
  return withoutZeros({
    input: input ?? 0,
    cached_input: cacheRead,
    cache_write_5m: cacheWrite - hour,
    cache_write_1h: hour,
    output: output - thought,
    reasoning: thought,
  });
}

/**
 * The model calls that an answer was made of, if they are more than its top-level count reports.
 * That count is the sum of the model's own sampling and leaves out compaction and the advisor's
 * answers (platform.claude.com/docs/en/build-with-claude/compaction and …/advisor-tool, 2026-11;
 * recorded 2026-08). Only the top-level count reports thinking.
 */
function itemsOf(counted: MessageCounts): readonly UsageItem[] | undefined {
  const { iterations } = counted;
  const own = tokensOf(counted);
  if (own === undefined || iterations.length === 0) return undefined;
  if (
    iterations.length === 1 &&
    iterations[0]?.type === 'message' &&
    iterations[0].model === undefined
  )
    return undefined;
  const items = iterations.map((one): MutableItem => {
    const each = newMessageCounts();
    noteTokens(each, one);
    const model = textOf(one.model);
    return { quantities: { ...tokensOf(each) }, ...(model === undefined ? {} : { model }) };
  });
  moveThoughts(items, Math.min(counted.output ?? 0, counted.thinking));
  const sampled = iterations.some(({ type }) => type === undefined || type === 'message');
  return sampled ? items : [{ quantities: own }, ...items];
}

interface MutableItem extends UsageItem {
  readonly quantities: Partial<Record<Measure, number>>;
}

/** Moves the thinking of the top-level count into the items of the requested model itself. */
function moveThoughts(items: readonly MutableItem[], thinking: number): void {
  let left = thinking;
  for (const { model, quantities } of items) {
    const thought = model === undefined ? Math.min(left, quantities.output ?? 0) : 0;
    if (thought === 0) continue;
    left -= thought;
    quantities.reasoning = (quantities.reasoning ?? 0) + thought;
    quantities.output = (quantities.output ?? 0) - thought;
    if (quantities.output === 0) delete quantities.output;
  }
}

/** Facts of the usage that decide prices, beside the quantities; undefined when there are none. */
export function messagePriceFacts(
  counted: MessageCounts,
  model: string | undefined,
): PricingFacts | undefined {
  const items = itemsOf(counted);
  const { speed } = counted;
  if (items === undefined && speed === undefined && model === undefined) return undefined;
  return { servedTier: speed, model, items };
}

function withoutZeros(quantities: Quantities): Quantities {
  return Object.fromEntries(Object.entries(quantities).filter(([, count]) => count > 0));
}
