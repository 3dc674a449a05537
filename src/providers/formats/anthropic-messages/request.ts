import {
  countOf,
  type Documented,
  isObject,
  type JsonObject,
  listOf,
  numberOf,
  objectOf,
  textOf,
  bodyOfPieces,
} from '../../../base/json.ts';
import { jsonPieces } from '../../../base/long-strings.ts';
import { refuse } from '../../../base/refusal.ts';
import { stopWords } from '../../conversation/stop-text.ts';
import type { VendorRequest, VendorCall } from '../../adapter.ts';
import { refuseServiceTier } from '../../billable-features.ts';
import {
  type Conversation,
  readConversation,
  withFirstTurn,
  type InlineBytes,
  type FilePart,
  type ImagePart,
  isBlank,
  type ContentPart,
  refusePart,
  type ToolCall,
  type ToolResult,
  type ConversationTurn,
} from '../../conversation/conversation.ts';
import { droppedReasoning } from '../../conversation/reasoning-request.ts';
import { CallIds } from '../../conversation/call-ids.ts';
import { unsignedCalls, withCallSignatures } from '../../conversation/call-signatures.ts';
import type { ChatRequest } from '../openai-chat/types.ts';
import { droppedAnswerMembers } from '../../support/messages.ts';
import { withDropped, droppedMembers, chatTranslation } from '../../support/unsupported.ts';
import { jsonHeaders } from '../json-request.ts';
import { chatTokensMax } from '../chat-limit.ts';
import { type ClaudeTraits, claudeTraits, type Thinking, thinkingFor } from './models.ts';
import { thinkingBlocks, turnSteps } from './reasoning.ts';
import { planTools, type ToolPlan } from './tools.ts';

/** How a host of this format departs from Anthropic's own API. */
export interface MessagesHost {
  /** The version for the body, where the path names the model (Vertex, Bedrock). */
  readonly bodyVersion?: string;
  /** What is appended to the base URL; `/messages` when absent. */
  readonly path?: (upstreamModel: string, stream: boolean) => string;
  /** False where the host does not fetch images and files by URL. */
  readonly fetches?: boolean;
  /** False where the host offers no structured outputs. */
  readonly structured?: boolean;
}

/**
 * The members of a chat request that Claude has an equivalent for. It has two tiers of its own
 * (platform.claude.com/docs/en/api/service-tiers, 2026-11).
 */
const chatToClaude = chatTranslation(
  ['parallel_tool_calls', 'user', 'safety_identifier', 'cache_control'],
  {
    service_tier: { takes: ['default', 'auto'], otherwise: 'drop' },
  },
);

/**
 * Writes OpenAI's chat request as Anthropic's (platform.claude.com/docs/en/api/messages, 2026-11).
 * Throws the Refusal of content that cannot be carried; members that only tune are dropped and
 * named.
 */
export function messagesRequest(call: VendorCall<ChatRequest>, host: MessagesHost): VendorRequest {
  const { body } = call;
  refuseServiceTier(call);
  const traits = traitsFor(call, host);
  const unread = droppedMembers(body, call.publicModel, chatToClaude);
  const plan = planTools(call, traits);
  const told = withCallSignatures(body.messages, call.signatures);
  const conversation = withFirstTurn(readConversation(told));
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
  const dropped = withDropped(unread, [
    ...droppedReasoning(call, thinking.on || thinking.effort !== undefined),
    ...droppedAnswerMembers(body.messages, thoughtsOf(told, writing.thinks)),
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
    headers: jsonHeaders,
    ...bodyOfPieces(jsonPieces(sent, call.skeleton)),
    dropped: withSampling(dropped, body, sampled),
  };
}

/**
 * Whether the answer travels as the input of the hidden tool. Request and response must agree on
 * it.
 */
export function messagesUsesHiddenTool(call: VendorCall<ChatRequest>, host: MessagesHost): boolean {
  return (
    objectOf(call.body.response_format) !== undefined &&
    planTools(call, traitsFor(call, host)).hidden
  );
}

function traitsFor(
  { upstreamModel }: Pick<VendorCall, 'upstreamModel'>,
  host: MessagesHost,
): ClaudeTraits {
  const traits = claudeTraits(upstreamModel);
  return host.structured === false ? { ...traits, structured: false } : traits;
}

/** The keys of calls that came back without the thinking before them, for models that think. */
export function unsignedMessages(
  call: VendorCall<ChatRequest>,
  host: MessagesHost,
): readonly string[] {
  if (traitsFor(call, host).thinking === 'none') return [];
  return unsignedCalls(call.body.messages, (message) => thinkingBlocks(message).length > 0);
}

/** Tells which messages bring thinking that Claude signed, for a model that takes it back. */
export const thoughtsOf = (messages: unknown, thinks: boolean): ((index: number) => boolean) => {
  const all = listOf(messages);
  return (index) => {
    const message = all[index];
    return thinks && isObject(message) && thinkingBlocks(message).length > 0;
  };
};

/** The model waits for tool results, and the thinking before its calls did not come back. */
export function isInterrupted({ turns }: Conversation): boolean {
  const caller = turns.at(-2);
  return Boolean(
    turns.at(-1)?.results.length &&
      caller?.calls.length &&
      caller.messages.every((message) => thinkingBlocks(message).length === 0),
  );
}

/** The client's limit, at most what the model takes. */
const limitOf = (call: VendorCall<ChatRequest>, { outputUsual, outputMax }: ClaudeTraits): number =>
  Math.max(1, Math.min(chatTokensMax(call) ?? outputUsual, outputMax));

// `JSON.stringify` leaves out undefined members.
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

/**
 * Adds the sampling members that the client set and the model does not take. A member with the
 * default value 1 is not reported.
 */
export function withSampling(
  dropped: readonly string[] | undefined,
  body: Documented<ChatRequest>,
  sent: JsonObject,
): readonly string[] | undefined {
  const lost = samplingMembers.filter(
    (name) => body[name] != null && body[name] !== 1 && sent[name] === undefined,
  );
  return withDropped(dropped, lost);
}
const samplingMembers = ['temperature', 'top_p', 'top_k'] as const;

/**
 * The sampling that the model takes: temperatures up to 1, none beside thinking, one of two on
 * newer models.
 */
function sampling(
  body: Documented<ChatRequest>,
  { sampling: taken }: ClaudeTraits,
  { on }: Thinking,
): JsonObject {
  if (taken === 'none' || on) return {};
  const temperature = numberOf(body.temperature);
  const topP = taken === 'one' && temperature !== undefined ? undefined : numberOf(body.top_p);
  const topK = countOf(body.top_k);
  return {
    temperature: temperature === undefined ? undefined : Math.min(1, temperature),
    top_p: topP,
    top_k: topK,
  };
}

const userIdMax = 256;

function members(body: Documented<ChatRequest>, host: MessagesHost): JsonObject {
  const stop = stopWords(body.stop).filter((text) => text.trim() !== '');
  const user = textOf(body.safety_identifier) ?? textOf(body.user);
  const tier =
    body.service_tier === 'default'
      ? 'standard_only'
      : body.service_tier === 'auto'
        ? 'auto'
        : undefined;
  const cache = objectOf(body.cache_control);
  return {
    stop_sequences: stop.length ? stop : undefined,
    metadata: user && user.length <= userIdMax ? { user_id: user } : undefined,
    service_tier: host.bodyVersion === undefined ? tier : undefined,
    cache_control: cache,
  };
}

/** `tool_use` takes ids of these characters. */
const callId = /^[a-zA-Z0-9_-]+$/;

/** Facts about the request that its messages depend on. */
interface MessageOptions {
  /** The model's public name, for refusals. */
  readonly model: string;
  /** The vendor fetches images and files by URL itself. */
  readonly fetches: boolean;
  /** The model thinks: its messages carry its earlier thinking. */
  readonly thinks: boolean;
}

type Block = Readonly<Record<string, unknown>>;
interface AnthropicMessage {
  readonly role: ConversationTurn['role'];
  readonly content: readonly Block[];
}

/**
 * Writes the conversation in Anthropic's format (platform.claude.com/docs/en/api/messages,
 * 2026-11). `prefill`: it may end with an assistant's message.
 */
function writeMessages(
  { turns }: Conversation,
  writing: MessageOptions,
  prefill: boolean,
): AnthropicMessage[] {
  const ids = new CallIds(callId);
  const messages = turns.map(({ role, ...turn }, i): AnthropicMessage => {
    const last = i === turns.length - 1;
    return {
      role,
      content:
        role === 'user'
          ? userBlocks(turn, writing, ids)
          : assistantBlocks(turn, writing, ids, last),
    };
  });
  if (turns.at(-1)?.role === 'assistant' && !prefill)
    messages.push({ role: 'user', content: [{ type: 'text', text: 'Continue.' }] });
  return messages;
}

const writeSystem = ({ system }: Conversation, told: readonly string[]): Block[] => [
  ...system.map((part) => cached({ type: 'text', text: part.text }, part)),
  ...told.map((text) => ({ type: 'text', text })),
];

type TurnContent = Omit<ConversationTurn, 'role'>;

/** All results of a turn are in one message, before anything else. */
function userBlocks(
  { results, parts }: TurnContent,
  writing: MessageOptions,
  ids: CallIds,
): Block[] {
  return [
    ...results.map((result) => resultBlock(result, writing, ids)),
    ...partBlocks(parts, writing),
  ];
}

function resultBlock(result: ToolResult, writing: MessageOptions, ids: CallIds): Block {
  const parts = result.parts.filter((part) => !isBlank(part));
  const only = parts.length === 1 ? parts[0] : undefined;
  const content =
    only?.kind === 'text' && !only.cache
      ? only.text
      : parts.length === 0
        ? ''
        : partBlocks(parts, writing);
  return cached(
    {
      type: 'tool_result',
      tool_use_id: ids.of(result.id),
      content,
      ...(result.isError ? { is_error: true } : {}),
    },
    result,
  );
}

/** The last text of a conversation may not end in white space. */
function assistantBlocks(
  { calls, spans }: TurnContent,
  writing: MessageOptions,
  ids: CallIds,
  last: boolean,
): Block[] {
  const text = asText(writing);
  const blocks = turnSteps(spans, writing.thinks).flatMap((step): Block[] => {
    if (step.kind === 'thinking') return [step.thought.block];
    return step.kind === 'call'
      ? [callBlock(step.call, ids)]
      : partBlocks([text(step.part)], writing);
  });
  const end = blocks.at(-1);
  if (last && calls.length === 0 && typeof end?.['text'] === 'string')
    blocks[blocks.length - 1] = { ...end, text: end['text'].trimEnd() };
  return blocks;
}

const asText =
  ({ model }: MessageOptions) =>
  (part: ContentPart): ContentPart =>
    part.kind === 'text' ? part : refusePart(part, model, 'text in the assistant’s turns');

function callBlock(call: ToolCall, ids: CallIds): Block {
  return cached(
    { type: 'tool_use', id: ids.begin(call.id), name: call.name, input: call.input },
    call,
  );
}

function partBlocks(parts: readonly ContentPart[], writing: MessageOptions): Block[] {
  return parts
    .filter((part) => !isBlank(part))
    .map((part) => cached(partBlock(part, writing), part));
}

function partBlock(part: ContentPart, writing: MessageOptions): Block {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  if (part.kind === 'image') return { type: 'image', source: imageSource(part, writing) };
  if (part.kind === 'file') return fileBlock(part, writing);
  return refusePart(part, writing.model, 'text, images and files');
}

const cached = (block: Block, { cache }: { readonly cache: JsonObject | undefined }): Block =>
  cache ? { ...block, cache_control: cache } : block;

const imageMime = ({ mime }: InlineBytes): string => (mime === 'image/jpg' ? 'image/jpeg' : mime);
const images = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

function imageSource(part: ImagePart, writing: MessageOptions): Block {
  if ('url' in part.source) return urlSource(part, part.source, writing);
  const mime = imageMime(part.source);
  if (!images.has(mime))
    refuse('invalid_value', {
      param: part.param,
      why: `'${mime}' is not one of ${[...images].join(', ')}.`,
    });
  return { type: 'base64', media_type: mime, data: part.source.base64 };
}

/** Refuses a medium that the client gave by an address, which the vendor does not fetch. */
export const refuseAddress = ({ kind, param }: Pick<ContentPart, 'kind' | 'param'>): never =>
  refuse('invalid_value', {
    param,
    why: `this model takes the ${kind} itself, as 'data:…;base64,…', not its address.`,
  });

function urlSource(
  part: ImagePart | FilePart,
  { url }: { readonly url: string },
  writing: MessageOptions,
): Block {
  if (!writing.fetches) refuseAddress(part);
  return { type: 'url', url };
}

function fileBlock(part: FilePart, writing: MessageOptions): Block {
  if (!('url' in part.source) && images.has(imageMime(part.source)))
    return { type: 'image', source: imageSource({ ...part, kind: 'image' }, writing) };
  const source =
    'url' in part.source
      ? urlSource(part, part.source, writing)
      : documentSource(part, part.source);
  return { type: 'document', source, ...(part.name ? { title: part.name } : {}) };
}

/** The types of files that a model reads as plain text. */
export const textTypes = /^(text\/|application\/(json|xml|yaml|x-yaml|toml|javascript)$)/;

function documentSource({ param }: FilePart, { mime, base64 }: InlineBytes): Block {
  if (mime === 'application/pdf') return { type: 'base64', media_type: mime, data: base64 };
  if (textTypes.test(mime))
    return {
      type: 'text',
      media_type: 'text/plain',
      data: Buffer.from(base64, 'base64').toString('utf8'),
    };
  return refuse('invalid_value', { param, why: `'${mime}' is not a PDF, a text or an image.` });
}
