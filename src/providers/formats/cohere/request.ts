import {
  countOf,
  type Documented,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  textOf,
} from '../../../base/json.ts';
import { refuse } from '../../../base/refusal.ts';
import { stopWords } from '../../conversation/stop-text.ts';
import type { VendorRequest, VendorCall } from '../../adapter.ts';
import {
  readConversation,
  withFirstTurn,
  type Conversation,
  isBlank,
  type ContentPart,
  refusePart,
  type ConversationTurn,
} from '../../conversation/conversation.ts';
import { droppedReasoning, reasoningRequest } from '../../conversation/reasoning-request.ts';
import { mediaAfterResults } from '../../conversation/tool-results.ts';
import { refuseServiceTier } from '../../billable-features.ts';
import { refuseParam } from '../../support/rules.ts';
import { withDropped, droppedMembers, chatTranslation } from '../../support/unsupported.ts';
import { droppedAnswerMembers } from '../../support/messages.ts';
import { jsonInstruction, singleCallInstruction } from '../../support/fit.ts';
import type { ChatMessage, ChatToolChoice } from '../openai-chat/types.ts';
import { jsonHeaders } from '../json-request.ts';
import { chatTokensMax } from '../chat-limit.ts';
import type { CohereChatRequest, CohereSchema } from './types.ts';

/** Cohere's own members, which OpenAI's format has no equivalent for. */
const own = ['documents', 'citation_options', 'safety_mode', 'strict_tools', 'priority'] as const;

/** The members of a chat request that Cohere has an equivalent for. */
const chatToCohere = chatTranslation([
  ...own,
  'k',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'logprobs',
]);

/** OpenAI's chat request as Cohere's v2 (docs.cohere.com/v2/reference/chat, 2026-08). */
export function cohereRequest(call: VendorCall<CohereChatRequest>): VendorRequest {
  const { body } = call;
  refuseServiceTier(call);
  const unread = droppedMembers(body, call.publicModel, chatToCohere);
  const { tools, choice } = toolsOf(call);
  const thinks = reasoningModels.test(call.upstreamModel);
  const format = formatOf(body, tools.length > 0 || listOf(body.documents).length > 0);
  const told = [...format.told, ...singleCallInstruction(body)];
  const messages = listOf(body.messages);
  const dropped = withDropped(unread, [
    ...droppedReasoning(call, thinks),
    ...droppedAnswerMembers(messages, (i) => carriesThought(objectOf(messages[i]) ?? {}, thinks)),
  ]);
  const sent = {
    model: call.upstreamModel,
    messages: cohereMessages(withFirstTurn(readConversation(mediaAfterResults(messages))), {
      model: call.publicModel,
      thinks,
      told,
    }),
    ...(tools.length ? { tools } : {}),
    ...(choice ? { tool_choice: choice } : {}),
    ...(format.native ? { response_format: format.native } : {}),
    ...tuning(call),
    ...(thinks ? thinkingOf(call) : {}),
    ...(body.logprobs === true ? { logprobs: true } : {}),
    ...Object.fromEntries(
      own
        .filter((name) => body[name] !== undefined && body[name] !== null)
        .map((name) => [name, body[name]]),
    ),
    stream: call.streamUpstream,
  };
  return {
    path: '/chat',
    headers: jsonHeaders,
    body: Buffer.from(JSON.stringify(sent)),
    dropped,
  };
}

interface Tools {
  readonly tools: readonly JsonObject[];
  readonly choice: 'REQUIRED' | 'NONE' | undefined;
}

/**
 * Cohere can be forced to call a tool, but not a named one: then that tool is the only one
 * declared.
 */
function toolsOf({ body, publicModel }: VendorCall<CohereChatRequest>): Tools {
  if (listOf(body.functions).length)
    refuseParam('functions', publicModel, 'it takes functions as `tools` only.');
  const tools = listOf(body.tools).map((tool, i): JsonObject => {
    const fn = objectOf(objectOf(tool)?.function);
    if (!fn)
      refuseParam(`tools[${i}].type`, publicModel, 'it takes tools of type `function` only.');
    const description = textOf(fn.description);
    const parameters = { type: 'object', properties: {}, ...objectOf(fn.parameters) };
    return {
      type: 'function',
      function: { name: fn.name, ...(description ? { description } : {}), parameters },
    };
  });
  const wanted = body.tool_choice;
  if (tools.length === 0) return { tools, choice: undefined };
  if (wanted === 'none') return { tools, choice: 'NONE' };
  if (wanted === 'required') return { tools, choice: 'REQUIRED' };
  const allowed = objectOf(objectOf(wanted)?.allowed_tools);
  const names = allowed
    ? listOf(allowed.tools).map(nameOf)
    : isObject(wanted)
      ? [nameOf(wanted)]
      : undefined;
  const left = names ? tools.filter((tool) => names.includes(nameOf(tool))) : tools;
  if (left.length === 0)
    refuse('invalid_value', { param: 'tool_choice', why: 'it names none of the `tools`.' });
  return { tools: left, choice: names && allowed?.mode !== 'auto' ? 'REQUIRED' : undefined };
}

/** Some clients write a tool's name beside its type. */
function nameOf(value: unknown): string {
  const tool: Documented<ChatToolChoice> | undefined = objectOf(value);
  return textOf(objectOf(tool?.function)?.name) ?? textOf(tool?.name) ?? '';
}

/**
 * The answer's format, as a parameter or as an instruction: "response_format … is not supported in
 * combination with documents and tools" (docs.cohere.com/docs/structured-outputs, 2026-08).
 */
function formatOf(
  body: Documented<CohereChatRequest>,
  accompanied: boolean,
): { readonly native?: JsonObject; readonly told: readonly string[] } {
  const format = objectOf(body.response_format);
  const schema =
    format?.type === 'json_schema' ? objectOf(objectOf(format.json_schema)?.schema) : undefined;
  if (format?.type !== 'json_schema' && format?.type !== 'json_object') return { told: [] };
  if (accompanied) return { told: [jsonInstruction(schema)] };
  if (schema && !isTaken(schema))
    return { native: { type: 'json_object' }, told: [jsonInstruction(schema)] };
  return { native: { type: 'json_object', ...(schema ? { json_schema: schema } : {}) }, told: [] };
}

/**
 * "The top level … must be an object", "every object … at least one required field", nothing
 * composed but `anyOf` (docs.cohere.com/docs/structured-outputs#schema-constraints, 2026-08).
 */
const isTaken = (schema: Documented<CohereSchema>): boolean =>
  schema.type === 'object' && isTakenInside(schema);

function isTakenInside(value: unknown): boolean {
  const schema: Documented<CohereSchema> | undefined = objectOf(value);
  if (schema === undefined) return true;
  if ('allOf' in schema || 'oneOf' in schema || 'not' in schema) return false;
  if (schema.type === 'object' && listOf(schema.required).length === 0) return false;
  const named = [schema.properties, schema.$defs, schema.definitions].flatMap((map) =>
    Object.values(objectOf(map) ?? {}),
  );
  return [...named, ...listOf(schema.anyOf), schema.items].every(isTakenInside);
}

/** docs.cohere.com/v2/reference/chat, 2026-08. */
export const cohereStopsMax = 5;

/**
 * Limits and sampling with Cohere's names and within its ranges: members that only tune are
 * adjusted, never refused.
 */
function tuning(call: VendorCall<CohereChatRequest>): JsonObject {
  const { body, messagesOptions: beside } = call;
  const limit = chatTokensMax(call);
  const stops = stopWords(body.stop);
  const all: Readonly<Record<string, number | undefined>> = {
    max_tokens: limit === undefined ? undefined : Math.max(1, limit),
    temperature: within(body.temperature, 0, 1),
    p: within(body.top_p, 0.01, 0.99),
    k: within(beside?.topK ?? body.top_k ?? body.k, 0, 500),
    seed: countOf(body.seed),
    ...penalties(body),
  };
  return {
    ...Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)),
    ...(stops.length ? { stop_sequences: stops.slice(0, cohereStopsMax) } : {}),
  };
}

/**
 * "cannot specify both frequency_penalty and presence_penalty" (docs.cohere.com/reference/errors,
 * 2026-08): the one whose effect grows with repetition stays.
 */
function penalties(
  body: Documented<CohereChatRequest>,
): Readonly<Record<string, number | undefined>> {
  const frequency_penalty = within(body.frequency_penalty, 0, 1);
  const presence_penalty = within(body.presence_penalty, 0, 1);
  return frequency_penalty && presence_penalty
    ? { frequency_penalty }
    : { frequency_penalty, presence_penalty };
}

const within = (value: unknown, least: number, most: number): number | undefined =>
  typeof value === 'number' ? Math.min(most, Math.max(least, value)) : undefined;

/** Models that reason (docs.cohere.com/docs/models, 2026-08); the others take no setting for it. */
const reasoningModels = /reasoning|command-a-plus|north/;

/**
 * The tokens that a model may think for an effort. Models that reason do so by default
 * (docs.cohere.com/docs/reasoning, 2026-08).
 */
const budgets: Readonly<Record<string, number>> = { minimal: 512, low: 1024, medium: 4096 };

function thinkingOf(call: VendorCall<CohereChatRequest>): JsonObject {
  const { body } = call;
  const thinking = objectOf(body.thinking);
  if (thinking) {
    const budget = countOf(thinking.token_budget) ?? countOf(thinking.budget_tokens);
    return {
      thinking: {
        type: thinking.type === 'disabled' ? 'disabled' : 'enabled',
        ...(budget ? { token_budget: budget } : {}),
      },
    };
  }
  const reasoning = reasoningRequest(call);
  if (reasoning?.effort === 'none') return { thinking: { type: 'disabled' } };
  const budget = reasoning && (reasoning.budget ?? budgets[reasoning.effort]);
  return budget === undefined ? {} : { thinking: { type: 'enabled', token_budget: budget } };
}

interface CohereOptions {
  /** The model's public name, for refusals. */
  readonly model: string;
  /** The model reasons, and takes its thinking back. */
  readonly thinks: boolean;
  /** Further instructions. */
  readonly told: readonly string[];
}

/**
 * Writes a conversation in Cohere's format: OpenAI's roles, with a plan beside calls and thinking
 * in the content (docs.cohere.com/v2/reference/chat, 2026-08).
 */
function cohereMessages({ system, turns }: Conversation, writing: CohereOptions): JsonObject[] {
  const instructions = [...system.map((part) => part.text), ...writing.told].join('\n');
  const messages = instructions === '' ? [] : [{ role: 'system', content: instructions }];
  const spoken = turns.flatMap((turn) =>
    turn.role === 'user' ? userMessages(turn, writing) : [assistantMessage(turn, writing)],
  );
  // The model answers only a message of a user or a tool.
  const nudge = turns.at(-1)?.role === 'assistant' ? [{ role: 'user', content: 'Continue.' }] : [];
  return [...messages, ...spoken, ...nudge];
}

function userMessages(
  { results, parts }: ConversationTurn,
  { model }: CohereOptions,
): JsonObject[] {
  const messages: JsonObject[] = results.map((result) => ({
    role: 'tool',
    tool_call_id: result.id,
    // "all elements in history must have a message": tools that only act return no text.
    content: joined(result.parts) || '(empty)',
  }));
  let merged: ContentPart[] = [];
  const speak = (): void => {
    if (merged.length > 0) messages.push({ role: 'user', content: contentOf(merged, model) });
    merged = [];
  };
  for (const part of parts) {
    if (isBlank(part)) continue;
    if (part.kind !== 'text' || part.instruction === undefined) {
      merged.push(part);
      continue;
    }
    // Cohere takes instructions at any place (recorded).
    speak();
    messages.push({ role: 'system', content: part.instruction });
  }
  speak();
  return messages;
}

const contentOf = (parts: readonly ContentPart[], model: string): unknown =>
  parts.every((part) => part.kind === 'text')
    ? joined(parts)
    : parts.map((part) => partOf(part, model));

function partOf(part: ContentPart, model: string): JsonObject {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  if (part.kind !== 'image') return refusePart(part, model, 'text and images');
  const { source } = part;
  return {
    type: 'image_url',
    image_url: {
      url: 'url' in source ? source.url : `data:${source.mime};base64,${source.base64}`,
    },
  };
}

const joined = (parts: readonly ContentPart[]): string =>
  parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');

/** The thinking of a message, under either of its two names in OpenAI's format. */
const thoughtOf = (message: Documented<ChatMessage>): string =>
  textOf(message.reasoning_content) ?? textOf(message.reasoning) ?? '';

/** Whether a message's thinking is sent: as thinking, or as the plan of its calls. */
const carriesThought = (message: Documented<ChatMessage>, thinks: boolean): boolean =>
  thoughtOf(message) !== '' && (thinks || listOf(message.tool_calls).length > 0);

function assistantMessage(
  { parts, calls, messages }: ConversationTurn,
  { model, thinks }: CohereOptions,
): JsonObject {
  const media = parts.find((part) => part.kind !== 'text');
  if (media) refusePart(media, model, 'text in the assistant’s turns');
  const text = joined(parts);
  const thought = messages.map(thoughtOf).join('');
  const thinking = thinks && thought !== '' ? [{ type: 'thinking', thinking: thought }] : [];
  const content = [...thinking, ...(text.trim() === '' ? [] : [{ type: 'text', text }])];
  const plan = !thinks && thought !== '' && calls.length > 0 ? { tool_plan: thought } : {};
  const written = calls.map(({ id, name, input }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }));
  return {
    role: 'assistant',
    ...(content.length ? { content } : {}),
    ...(written.length ? { tool_calls: written, ...plan } : {}),
  };
}
