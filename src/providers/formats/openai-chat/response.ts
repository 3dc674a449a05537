import type { Fault } from '../../../base/fault.ts';
import {
  bytesOfLatin1,
  jsonText,
  jsonMembers,
  nameJson,
  type JsonChange,
  type Documented,
  editJson,
  isObject,
  listOf,
  objectOf,
  objectsOf,
  parse,
  rawElements,
  rawInside,
  rawMembers,
  rawText,
  type Raw,
  soleMember,
  textOf,
  type JsonObject,
  countOf,
} from '../../../base/json.ts';
import type { Measure, Quantities } from '../../../base/quantities.ts';
import type { VendorAnswer, VendorCall } from '../../adapter.ts';
import { servedTier } from '../../billable-features.ts';
import { faultWithin, mayTellFault, protocolFault } from '../fault.ts';
import { objectIn } from '../reply.ts';
import { choiceState, finishReason, normaliseMessage } from './message.ts';
import type { ChatQuirks } from './quirks.ts';
import type { ChatCompletion, CompletionUsage } from './types.ts';

/**
 * Reads a whole answer in OpenAI's format. The client gets the vendor's bytes, except for the ids,
 * the model and departures from the format.
 */
export function readChatResponse(
  reply: Buffer,
  call: VendorCall,
  quirks: ChatQuirks,
  stops?: readonly string[],
): VendorAnswer | Fault {
  const text = reply.toString('latin1');
  const body = parse(text.trim());
  if (body === undefined)
    return protocolFault(`an answer that is not JSON: ${reply.toString('utf8', 0, 120)}`);
  if (!isObject(body)) return protocolFault('an answer that is no JSON object');
  const refused = mayTellFault(body)
    ? faultWithin(objectIn(reply) ?? {}, quirks.faults)
    : undefined;
  if (refused) return refused;
  const choices = listOf(body['choices']);
  if (!choices.some(isObject)) return protocolFault('an answer without choices');
  const usage = readUsageObject(
    body['usage'] === undefined ? objectOf(choices[0])?.['usage'] : body['usage'],
  );
  const keepsText =
    stops === undefined &&
    quirks.thinkTags !== true &&
    (quirks.standardTier === undefined || body['service_tier'] !== quirks.standardTier);
  const written =
    (keepsText && isPlain(body, usage) ? renamed(text, body, call) : undefined) ??
    rewritten(text.trim(), body, usage, call, quirks, stops);
  if (written === undefined)
    return { kind: 'server_error', message: 'the vendor ended its answer with an error' };
  return {
    body: bytesOfLatin1(written),
    quantities: usage?.quantities,
    pricingFacts: servedTier(call, body).told,
    upstreamId: upstreamIdOf(body),
    outputText: usage ? '' : outputText(reply),
  };
}

/** The vendor's text with the client's id and model; undefined when it has one of them twice. */
function renamed(
  text: string,
  body: JsonObject,
  { answerId, publicModel }: VendorCall,
): string | undefined {
  const id = soleMember(text, 'id', String(body['id']));
  const model = soleMember(text, 'model', String(body['model']));
  if (id !== undefined && model !== undefined && id.end < model.value)
    return `${text.slice(0, id.value)}${jsonText(answerId)}${text.slice(id.end, model.value)}${nameJson(publicModel)}${text.slice(model.end)}`;
  let out = '';
  let at = 0;
  let changed = 0;
  for (const { name, value, end } of jsonMembers(text, text.indexOf('{'))) {
    if (name !== 'id' && name !== 'model') continue;
    out += text.slice(at, value) + (name === 'id' ? jsonText(answerId) : nameJson(publicModel));
    at = end;
    changed++;
  }
  return changed === 2 ? out + text.slice(at) : undefined;
}

/** The answer in OpenAI's order and names; undefined when it ended with an error. */
function rewritten(
  text: string,
  body: JsonObject,
  usage: UsageReading | undefined,
  call: VendorCall,
  quirks: ChatQuirks,
  stops: readonly string[] | undefined,
): string | undefined {
  const top = rawMembers(text);
  const rawChoices = rawElements(top.get('choices'));
  const choices: string[] = [];
  for (const choice of rawChoices) {
    const normalised = normaliseChoice(choice, choices.length, call, quirks, stops);
    if (normalised === undefined) return undefined;
    choices.push(normalised);
  }
  const usageText = top.get('usage') ?? rawMembers(rawChoices[0] ?? '').get('usage');
  const created = typeof body['created'] === 'number' ? top.get('created') : String(call.created);
  for (const name of ['id', 'object', 'created', 'model', 'choices', ...hiddenMembers])
    top.delete(name);
  nameStandardTier(top, quirks);
  if (usage && usageText !== undefined) top.set('usage', editJson(usageText, usage.changes));
  const rest = rawInside(top);
  const head = `{"id":${jsonText(call.answerId)},"object":"chat.completion","created":${created},"model":${jsonText(call.publicModel)}`;
  return `${head},"choices":[${choices.join(',')}]${rest && ','}${rest}}`;
}

/**
 * Gives the standard tier OpenAI's name. A strict decoder refuses the whole answer for another one:
 * async-openai 0.43, src/types/chat/chat_.rs, `enum ServiceTier`.
 */
export function nameStandardTier(top: Raw, { standardTier }: ChatQuirks): void {
  if (standardTier !== undefined && top.get('service_tier') === jsonText(standardTier))
    top.set('service_tier', '"default"');
}

/** The choice in OpenAI's form; undefined when it ended with an error. */
function normaliseChoice(
  text: string,
  position: number,
  call: VendorCall,
  quirks: ChatQuirks,
  stops?: readonly string[],
): string | undefined {
  const choice = rawMembers(text);
  const reason = finishReason(choice.get('finish_reason'));
  if (reason === 'error') return undefined;
  const message = rawMembers(choice.get('message') ?? '');
  const state = choiceState(stops);
  normaliseMessage(message, state, { quirks, newId: newCallId(call), whole: true, last: true });
  const index = Number(choice.get('index') ?? position) || 0;
  // Perplexity sends an empty delta in whole answers, too.
  for (const name of ['index', 'message', 'delta', 'finish_reason', 'usage', ...hiddenInChoice])
    choice.delete(name);
  const rest = rawInside(choice);
  return `{"index":${index},"message":${rawText(message)}${rest && ','}${rest},"finish_reason":"${state.stop?.met === true ? 'stop' : (reason ?? 'stop')}"}`;
}

/** All text that the model wrote, for a count if the vendor reports none. */
function outputText(reply: Buffer): string {
  let text = '';
  const body: Documented<ChatCompletion> = objectIn(reply) ?? {};
  for (const choice of objectsOf(body.choices)) {
    const message = objectOf(choice.message) ?? {};
    const { content } = message;
    text +=
      textOf(content) ??
      listOf(content)
        .map((part) => textOf(objectOf(part)?.text) ?? '')
        .join('');
    text += textOf(message.reasoning_content) ?? textOf(message.reasoning) ?? '';
    for (const toolCall of objectsOf(message.tool_calls)) {
      const called = objectOf(toolCall.function) ?? objectOf(toolCall.custom);
      text +=
        (textOf(called?.name) ?? '') + (textOf(called?.arguments) ?? textOf(called?.input) ?? '');
    }
  }
  return text;
}

const topMembers = new Set([
  'id',
  'object',
  'created',
  'model',
  'choices',
  'usage',
  'service_tier',
  'system_fingerprint',
]);
const choiceMembers = new Set(['index', 'message', 'logprobs', 'finish_reason']);
const messageMembers = new Set(['role', 'content', 'refusal', 'annotations']);
const plainFinishes = new Set<unknown>(['stop', 'length', 'content_filter']);

function has(object: JsonObject, only: ReadonlySet<string>): boolean {
  for (const name in object) if (!only.has(name)) return false;
  return true;
}

/**
 * Whether the answer is one choice of plain text, exactly as OpenAI writes it: the client gets it
 * byte for byte, with its blanks, but for the id and the model.
 */
function isPlain(body: JsonObject, usage: UsageReading | undefined): boolean {
  const choices = listOf(body['choices']);
  const [choice] = choices;
  if (
    choices.length !== 1 ||
    !isObject(choice) ||
    !has(body, topMembers) ||
    !has(choice, choiceMembers)
  )
    return false;
  const { message } = choice;
  return (
    usage?.changes.length === 0 &&
    body['object'] === 'chat.completion' &&
    typeof body['id'] === 'string' &&
    typeof body['created'] === 'number' &&
    typeof body['model'] === 'string' &&
    choice['index'] === 0 &&
    plainFinishes.has(choice['finish_reason']) &&
    isObject(message) &&
    has(message, messageMembers) &&
    message['role'] === 'assistant' &&
    typeof message['content'] === 'string'
  );
}

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
 * Reads the counts and corrects them: some vendors leave cached tokens, audio or reasoning out of
 * the two sums. The numbers themselves show it, so that no vendor needs a flag.
 */
function countsOf(usage: Documented<CompletionUsage>): ChatCounts | undefined {
  const prompt = countOf(usage.prompt_tokens);
  const completion = countOf(usage.completion_tokens);
  if (prompt === undefined && completion === undefined) return undefined;
  // A count that is absent is zero, but a count that is present and invalid makes the usage void.
  if (prompt === undefined && usage.prompt_tokens != null) return undefined;
  if (completion === undefined && usage.completion_tokens != null) return undefined;
  const told: ChatCounts = {
    prompt: prompt ?? 0,
    completion: completion ?? 0,
    cached: cachedOf(usage),
    reasoning:
      countOf(objectOf(usage.completion_tokens_details)?.reasoning_tokens) ??
      countOf(usage.reasoning_tokens) ??
      0,
  };
  const sums = sumsOf(usage, told);
  const cached = Math.min(told.cached, sums.prompt);
  // Each answer passes here: a spread is dearer than the members.
  return { prompt: sums.prompt, completion: sums.completion, cached, reasoning: sums.reasoning };
}

type ChatSums = Pick<ChatCounts, 'prompt' | 'completion' | 'reasoning'>;

/**
 * The sums with everything that the vendor's total has. What the total has beyond prompt and
 * completion stands outside of them:
 * - reasoning, at xAI (docs.x.ai/docs/models, 2026-08);
 * - audio, at Mistral (recorded 2026-08: 11 + 375 of audio + 15 = 401);
 * - thinking that nothing else tells, at Google's compatible endpoint (recorded 2026-08: 35 + 12, of
 *   109).
 *
 * Where it has nothing beyond them, they are whole: Azure's Grok tells more cached tokens than a
 * prompt has, since it caches a preamble that it does not count (recorded 2026-08: 249 with 158, and
 * again with 416), and so does Mistral (10 + 142 = 152 with 64).
 */
function sumsOf(usage: Documented<CompletionUsage>, told: ChatCounts): ChatSums {
  const { prompt, completion, cached, reasoning } = told;
  const beyond = (countOf(usage.total_tokens) ?? -1) - prompt - completion;
  if (beyond < 0) return guessedSums(usage, told);
  if (beyond === reasoning) return { prompt, completion: completion + reasoning, reasoning };
  const sound = countOf(objectOf(usage.prompt_tokens_details)?.audio_tokens);
  const audio = sound ?? (countOf(usage.prompt_audio_seconds) ? beyond : 0);
  if (beyond === audio || beyond === cached)
    return { prompt: prompt + beyond, completion, reasoning };
  if (beyond === cached + reasoning)
    return { prompt: prompt + cached, completion: completion + reasoning, reasoning };
  const counted = prompt > 0 && countOf(usage.completion_tokens) !== undefined;
  const unseen = counted && reasoning === 0 ? beyond : 0;
  return { prompt, completion: completion + unseen, reasoning: reasoning + unseen };
}

/** The sums of a vendor that tells no total, or less than its parts: no part is above its whole. */
function guessedSums(usage: Documented<CompletionUsage>, told: ChatCounts): ChatSums {
  const { prompt, completion, cached, reasoning } = told;
  const beside = cached > prompt && usage.num_cached_tokens === undefined;
  return {
    prompt: prompt + (beside ? cached : 0),
    completion: completion + (reasoning > completion ? reasoning : 0),
    reasoning,
  };
}

/**
 * Reads the cached tokens: OpenAI's member first, then DeepSeek's
 * (api-docs.deepseek.com/guides/kv_cache), Moonshot's and Together's, and Mistral's.
 */
function cachedOf(usage: Documented<CompletionUsage>): number {
  const places = [
    objectOf(usage.prompt_tokens_details)?.cached_tokens,
    usage.prompt_cache_hit_tokens,
    usage.cached_tokens,
    usage.num_cached_tokens,
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

function quantitiesOf(usage: Documented<CompletionUsage>, counts: ChatCounts): Quantities {
  const input = objectOf(usage.prompt_tokens_details) ?? {};
  const output = objectOf(usage.completion_tokens_details) ?? {};
  const creation = objectOf(input.cache_creation) ?? {};
  const longWrites = countOf(creation.ephemeral_1h_input_tokens) ?? 0;
  // OpenAI and OpenRouter say `cache_write_tokens`, Qwen `cache_creation_input_tokens`
  // (help.aliyun.com/zh/model-studio/context-cache, 2026-06).
  const writes =
    countOf(input.cache_write_tokens) ?? countOf(input.cache_creation_input_tokens) ?? 0;
  const into: Partial<Record<Measure, number>> = {};
  divide(into, counts.prompt, 'input', [
    ['cached_input', counts.cached],
    ['cache_write_1h', Math.min(longWrites, writes)],
    ['cache_write_5m', Math.max(0, writes - longWrites)],
    ['audio_input', countOf(input.audio_tokens)],
    ['image_input', countOf(input.image_tokens)],
  ]);
  divide(into, counts.completion, 'output', [
    ['reasoning', counts.reasoning],
    ['audio_output', countOf(output.audio_tokens)],
    ['image_output', countOf(output.image_tokens)],
  ]);
  // xAI's live search, and OpenRouter's tools (recorded 2026-08).
  const tools = objectOf(usage.server_tool_use_details) ?? objectOf(usage.server_tool_use);
  const searches = countOf(usage.num_sources_used) ?? countOf(tools?.web_search_requests) ?? 0;
  if (searches > 0) into.web_search = searches;
  return into;
}

/** What a `usage` object counts, and the changes that correct the client's copy of it. */
interface UsageReading {
  readonly quantities: Quantities;
  readonly changes: readonly JsonChange[];
}

/** Reads a parsed `usage` object; undefined when it counts nothing. */
export function readUsageObject(usage: unknown): UsageReading | undefined {
  if (!isObject(usage)) return undefined;
  const counts = countsOf(usage);
  return (
    counts && { quantities: quantitiesOf(usage, counts), changes: correctionsOf(usage, counts) }
  );
}

/**
 * Reads a `usage` object (`latin1` JSON text); undefined when it counts nothing. The client's text
 * keeps every member and gets correct sums.
 */
export function readUsage(text: string): ChatUsage | undefined {
  const read = readUsageObject(parse(text));
  return read && { quantities: read.quantities, json: editJson(text, read.changes) };
}

/** The changes that correct the client's `usage`. */
function correctionsOf(
  usage: Documented<CompletionUsage>,
  counts: ChatCounts,
): readonly JsonChange[] {
  const changes: JsonChange[] = [];
  const corrected =
    counts.prompt !== usage.prompt_tokens || counts.completion !== usage.completion_tokens;
  if (counts.prompt !== usage.prompt_tokens)
    changes.push({ path: ['prompt_tokens'], json: String(counts.prompt) });
  if (counts.completion !== usage.completion_tokens)
    changes.push({ path: ['completion_tokens'], json: String(counts.completion) });
  if (corrected || countOf(usage.total_tokens) === undefined)
    changes.push({ path: ['total_tokens'], json: String(counts.prompt + counts.completion) });
  if (
    counts.cached > 0 &&
    countOf(objectOf(usage.prompt_tokens_details)?.cached_tokens) === undefined
  ) {
    changes.push({ path: ['prompt_tokens_details', 'cached_tokens'], json: String(counts.cached) });
  }
  if (
    counts.reasoning > 0 &&
    countOf(objectOf(usage.completion_tokens_details)?.reasoning_tokens) === undefined
  )
    changes.push({
      path: ['completion_tokens_details', 'reasoning_tokens'],
      json: String(counts.reasoning),
    });
  return changes;
}

/**
 * Members of an answer that the client does not get: padding against traffic analysis
 * (`obfuscation`, Mistral's `p`), the vendor's own ids (rows 59, 60), Azure's filter results
 * (learn.microsoft.com/azure/ai-foundry/openai/concepts/content-streaming, 2026-08).
 */
export const hiddenMembers = [
  'obfuscation',
  'p',
  'x_groq',
  'prompt_filter_results',
  'request_id',
  'base_resp',
] as const;

export const hiddenInChoice = [
  'content_filter_results',
  'content_filter_result',
  'content_filter_offsets',
  'content_filter_raw',
] as const;

/**
 * Makes call ids of `call_` and the random part of the answer's id: unique where the vendor gave no
 * id, and the same each time the same answer is read.
 */
export const newCallId =
  (call: VendorCall) =>
  (n: number): string =>
    `call_${call.answerId.replace(/^chatcmpl-/, '')}_${n}`;

export const upstreamIdOf = (body: Documented<Pick<ChatCompletion, 'id'>>): string | undefined =>
  textOf(body.id) || undefined;
