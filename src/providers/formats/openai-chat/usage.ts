import { type JsonChange, editJson } from '../../../base/json-edit.ts';
import type { Measure, Quantities } from '../../../base/quantities.ts';
import { countOf, isObject, type JsonObject, objectOf, parse } from '../../../base/json-value.ts';

/** A vendor's usage. `json` is the client's `usage`, as `latin1` JSON text. */
export interface ChatUsage {
  readonly quantities: Quantities;
  readonly json: string;
}

interface ChatCounts {
  readonly prompt: number;
  readonly completion: number;
  readonly cached: number;
  readonly reasoning: number;
}

/**
 * Reads the counts and corrects them. xAI leaves reasoning out of `completion_tokens` and, on Azure
 * too, counts cached tokens outside `prompt_tokens` (recorded 161 > 7; docs.x.ai/docs/models,
 * 2026-08). The numbers themselves show both, so that no vendor needs a flag.
 */
function countsOf(usage: JsonObject): ChatCounts | undefined {
  const prompt = countOf(usage['prompt_tokens']);
  const completion = countOf(usage['completion_tokens']);
  if (prompt === undefined && completion === undefined) return undefined;
  // A count that is absent is zero, but a count that is present and invalid makes the usage void.
  if (prompt === undefined && usage['prompt_tokens'] != null) return undefined;
  if (completion === undefined && usage['completion_tokens'] != null) return undefined;
  const cached = cachedOf(usage);
  // Mistral reports more cached tokens than a prompt has (10 + 142 = 152 with 64 of them): its own
  // sum is right.
  const beside = cached > (prompt ?? 0) && usage['num_cached_tokens'] === undefined;
  const reasoning =
    countOf(objectOf(usage['completion_tokens_details'])?.['reasoning_tokens']) ?? 0;
  const total = countOf(usage['total_tokens']);
  const told = completion ?? 0;
  const outside =
    reasoning > 0 &&
    (total === undefined ? reasoning > told : total === (prompt ?? 0) + told + reasoning);
  const input = (prompt ?? 0) + (beside ? cached : 0);
  return {
    prompt: input,
    completion: told + (outside ? reasoning : 0),
    cached: Math.min(cached, input),
    reasoning,
  };
}

/**
 * Reads the cached tokens: OpenAI's member first, then DeepSeek's
 * (api-docs.deepseek.com/guides/kv_cache), Moonshot's and Together's, and Mistral's.
 */
function cachedOf(usage: JsonObject): number {
  const places = [
    objectOf(usage['prompt_tokens_details'])?.['cached_tokens'],
    usage['prompt_cache_hit_tokens'],
    usage['cached_tokens'],
    usage['num_cached_tokens'],
  ];
  for (const place of places) {
    const count = countOf(place);
    if (count !== undefined) return count;
  }
  return 0;
}

/**
 * Splits `total` into disjoint measures; the remainder is `rest`. The sum is never more than
 * `total`, whatever the vendor reports.
 */
function divide(
  into: Partial<Record<Measure, number>>,
  total: number,
  rest: Measure,
  parts: readonly (readonly [Measure, number | undefined])[],
): void {
  let left = total;
  for (const [measure, count] of parts) {
    const taken = Math.min(left, count ?? 0);
    if (taken > 0) into[measure] = (into[measure] ?? 0) + taken;
    left -= taken;
  }
  if (left > 0) into[rest] = left;
}

function quantitiesOf(usage: JsonObject, counts: ChatCounts): Quantities {
  const input = objectOf(usage['prompt_tokens_details']) ?? {};
  const output = objectOf(usage['completion_tokens_details']) ?? {};
  const creation = objectOf(input['cache_creation']) ?? {};
  const longWrites = countOf(creation['ephemeral_1h_input_tokens']) ?? 0;
  // OpenAI and OpenRouter say `cache_write_tokens`, Qwen `cache_creation_input_tokens`
  // (help.aliyun.com/zh/model-studio/context-cache, 2026-06).
  const writes =
    countOf(input['cache_write_tokens']) ?? countOf(input['cache_creation_input_tokens']) ?? 0;
  const into: Partial<Record<Measure, number>> = {};
  divide(into, counts.prompt, 'input', [
    ['cached_input', counts.cached],
    ['cache_write_1h', Math.min(longWrites, writes)],
    ['cache_write_5m', Math.max(0, writes - longWrites)],
    ['audio_input', countOf(input['audio_tokens'])],
    ['image_input', countOf(input['image_tokens'])],
  ]);
  divide(into, counts.completion, 'output', [
    ['reasoning', counts.reasoning],
    ['audio_output', countOf(output['audio_tokens'])],
    ['image_output', countOf(output['image_tokens'])],
  ]);
  // xAI's live search, and OpenRouter's tools (recorded 2026-08).
  const tools = objectOf(usage['server_tool_use_details']) ?? objectOf(usage['server_tool_use']);
  const searches =
    countOf(usage['num_sources_used']) ?? countOf(tools?.['web_search_requests']) ?? 0;
  if (searches > 0) into.web_search = searches;
  return into;
}

/**
 * Reads a `usage` object (`latin1` JSON text); undefined when it counts nothing. The client's text
 * keeps every member and gets correct sums.
 */
export function readUsage(text: string): ChatUsage | undefined {
  const usage = parse(text);
  if (!isObject(usage)) return undefined;
  const counts = countsOf(usage);
  if (!counts) return undefined;
  const changes = correctionsOf(usage, counts);
  return {
    quantities: quantitiesOf(usage, counts),
    json: changes.length === 0 ? text : editJson(text, changes),
  };
}

/** The quantities of a `usage` object that needs no correction; undefined for others. */
export function plainUsage(usage: JsonObject): Quantities | undefined {
  const counts = countsOf(usage);
  return counts && correctionsOf(usage, counts).length === 0
    ? quantitiesOf(usage, counts)
    : undefined;
}

/** The changes that correct the client's `usage`. */
function correctionsOf(usage: JsonObject, counts: ChatCounts): readonly JsonChange[] {
  const changes: JsonChange[] = [];
  const corrected =
    counts.prompt !== usage['prompt_tokens'] || counts.completion !== usage['completion_tokens'];
  if (counts.prompt !== usage['prompt_tokens'])
    changes.push({ path: ['prompt_tokens'], json: String(counts.prompt) });
  if (counts.completion !== usage['completion_tokens'])
    changes.push({ path: ['completion_tokens'], json: String(counts.completion) });
  if (corrected || countOf(usage['total_tokens']) === undefined)
    changes.push({ path: ['total_tokens'], json: String(counts.prompt + counts.completion) });
  if (
    counts.cached > 0 &&
    countOf(objectOf(usage['prompt_tokens_details'])?.['cached_tokens']) === undefined
  ) {
    changes.push({ path: ['prompt_tokens_details', 'cached_tokens'], json: String(counts.cached) });
  }
  return changes;
}
