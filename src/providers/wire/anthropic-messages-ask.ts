import { jsonPieces } from '../../base/long-strings.ts';
import type { Ask, Call } from '../adapter.ts';
import { type Traits, traitsOf } from './anthropic-messages-models.ts';
import { thinkingBlocks } from './anthropic-messages-signed.ts';
import { type Thinking, thinkingFor, unthought } from './anthropic-messages-thinking.ts';
import { planTools, type ToolPlan } from './anthropic-messages-tools.ts';
import { writeMessages, writeSystem } from './anthropic-messages-turns.ts';
import { type Conversation, readConversation, talkative } from './chat-conversation.ts';
import { andDropped, leftOut, translationOf } from '../takes/translated.ts';
import { answersLeftOut } from '../takes/turns.ts';
import { inPieces } from './in-pieces.ts';
import { countOf, isObject, type JsonObject, listOf, numberOf, objectOf, textOf } from './json.ts';
import { unsignedCalls, withSignatures } from './signatures.ts';
import { refuseTiers } from './tiers.ts';

/** Where the format is spoken, and how that place departs from Anthropic's own API. */
export interface MessagesHost {
  /**
   * The version in the body, where the model is in the path (Vertex, Bedrock) and not in the body.
   */
  readonly bodyVersion?: string;
  /** What is appended to the base URL; `/messages` when absent. */
  readonly path?: (upstreamModel: string, stream: boolean) => string;
  /** False where images and files by URL are not fetched. */
  readonly fetches?: boolean;
  /** False where structured outputs are shut off. */
  readonly structured?: boolean;
}

const headers = { 'content-type': 'application/json' } as const;

/**
 * The members of a chat request that Claude has a word for. It has two tiers of its own
 * (platform.claude.com/docs/en/api/service-tiers, 2026-11).
 */
const chatToClaude = translationOf(
  ['parallel_tool_calls', 'user', 'safety_identifier', 'cache_control'],
  {
    service_tier: { takes: ['default', 'auto'], otherwise: 'drop' },
  },
);

/**
 * OpenAI's chat request as Anthropic's (wire-formats §4.2). Refuses what cannot be carried; drops
 * what only tunes (row 62c) and names it.
 */
export function askMessages(call: Call, host: MessagesHost): Ask {
  const { body } = call;
  refuseTiers(call);
  const traits = traitsFor(call, host);
  const unread = leftOut(body, call.publicModel, chatToClaude);
  const plan = planTools(call, traits);
  const told = withSignatures(body['messages'], call.signatures);
  const conversation = talkative(readConversation(told));
  const maxTokens = limitOf(call, traits);
  const thinking = thinkingFor(call, traits, maxTokens, {
    forced: plan.forced,
    interrupted: isInterrupted(conversation),
  });
  const writing = {
    model: call.publicModel,
    fetches: host.fetches !== false,
    thinks: traits.thinking !== 'none',
  };
  const system = writeSystem(conversation, plan.told);
  const messages = writeMessages(conversation, writing, traits.prefill && !thinking.on);
  const sampled = sampling(body, traits, thinking);
  const dropped = andDropped(unread, [
    ...unthought(call, thinking.on || thinking.effort !== undefined),
    ...answersLeftOut(body['messages'], thoughtsOf(told, writing.thinks)),
  ]);
  const sent = {
    model: host.bodyVersion === undefined ? call.upstreamModel : undefined,
    anthropic_version: host.bodyVersion,
    max_tokens: maxTokens,
    system: system.length ? system : undefined,
    messages,
    ...toolMembers(plan),
    ...thinkingMembers(plan, thinking),
    ...sampled,
    ...members(body, host),
    stream: call.streamUpstream ? true : undefined,
  };
  const path = host.path?.(call.upstreamModel, call.streamUpstream) ?? '/messages';
  return {
    path,
    headers,
    ...inPieces(jsonPieces(sent, call.bytes)),
    dropped: withSampling(dropped, body, sampled),
  };
}

/** The same for asking and for reading the answer: whether the hidden tool is in play. */
export function usesHiddenTool(call: Call, host: MessagesHost): boolean {
  return (
    objectOf(call.body['response_format']) !== undefined &&
    planTools(call, traitsFor(call, host)).hidden
  );
}

function traitsFor({ upstreamModel }: Call, host: MessagesHost): Traits {
  const traits = traitsOf(upstreamModel);
  return host.structured === false ? { ...traits, structured: false } : traits;
}

/** Calls that came back without the thinking before them, of models that think. */
export function unsignedMessages(call: Call, host: MessagesHost): readonly string[] {
  if (traitsFor(call, host).thinking === 'none') return [];
  return unsignedCalls(call.body['messages'], (message) => thinkingBlocks(message).length > 0);
}

/** Which messages bring thoughts that Claude has signed, for a model that takes them back. */
export const thoughtsOf = (messages: unknown, thinks: boolean): ((index: number) => boolean) => {
  const all = listOf(messages);
  return (index) => {
    const message = all[index];
    return thinks && isObject(message) && thinkingBlocks(message).length > 0;
  };
};

/** The model waits for tool results, and the thoughts before its calls did not come back. */
export function isInterrupted({ turns }: Conversation): boolean {
  const caller = turns.at(-2);
  return Boolean(
    turns.at(-1)?.results.length &&
      caller?.calls.length &&
      caller.messages.every((message) => thinkingBlocks(message).length === 0),
  );
}

/**
 * The client's limit (of two, `max_completion_tokens`: row 16), never more than the model takes or
 * the money pays for.
 */
function limitOf({ body, outputTokensMax }: Call, { outputUsual, outputMax }: Traits): number {
  const wanted =
    countOf(body['max_completion_tokens']) ?? countOf(body['max_tokens']) ?? outputUsual;
  return Math.max(1, Math.min(wanted, outputMax, outputTokensMax ?? outputMax));
}

// A member that is undefined is not in the JSON.
const toolMembers = ({ tools, choice }: ToolPlan): JsonObject => ({
  tools: tools.length ? tools : undefined,
  tool_choice: choice,
});

function thinkingMembers({ format }: ToolPlan, { thinking, effort }: Thinking): JsonObject {
  return {
    thinking,
    output_config: effort === undefined && !format ? undefined : { effort, format },
  };
}

/** Sampling that the client wished for and the model does not take; a default is no wish. */
export function withSampling(
  dropped: readonly string[] | undefined,
  body: JsonObject,
  sent: JsonObject,
): readonly string[] | undefined {
  const lost = samplingMembers.filter(
    (name) => body[name] != null && body[name] !== 1 && sent[name] === undefined,
  );
  return andDropped(dropped, lost);
}
const samplingMembers = ['temperature', 'top_p', 'top_k'] as const;

/**
 * Sampling as far as the model takes it: temperatures to 1, none beside thinking, one of two on
 * newer models.
 */
function sampling(body: JsonObject, { sampling: taken }: Traits, { on }: Thinking): JsonObject {
  if (taken === 'none' || on) return {};
  const temperature = numberOf(body['temperature']);
  const topP = taken === 'one' && temperature !== undefined ? undefined : numberOf(body['top_p']);
  const topK = countOf(body['top_k']);
  return {
    temperature: temperature === undefined ? undefined : Math.min(1, temperature),
    top_p: topP,
    top_k: topK,
  };
}

const userIdMax = 256;

function members(body: JsonObject, host: MessagesHost): JsonObject {
  const stop = (typeof body['stop'] === 'string' ? [body['stop']] : listOf(body['stop'])).filter(
    (text) => textOf(text)?.trim(),
  );
  const user = textOf(body['safety_identifier']) ?? textOf(body['user']);
  const tier =
    body['service_tier'] === 'default'
      ? 'standard_only'
      : body['service_tier'] === 'auto'
        ? 'auto'
        : undefined;
  const cache = objectOf(body['cache_control']);
  return {
    stop_sequences: stop.length ? stop : undefined,
    metadata: user && user.length <= userIdMax ? { user_id: user } : undefined,
    service_tier: host.bodyVersion === undefined ? tier : undefined,
    cache_control: cache,
  };
}
