import type { Fault } from '../../../base/fault.ts';
import {
  type JsonChange,
  editJsonBytes,
  editJsonPieces,
  jsonText,
  countOf,
  type Documented,
  isObject,
  listOf,
  objectOf,
  objectsOf,
  textOf,
  type JsonObject,
  bodyOfPieces,
} from '../../../base/json.ts';
import type {
  Adapter,
  VendorAnswer,
  VendorRequest,
  VendorCall,
  BaseAdapter,
} from '../../adapter.ts';
import { messagesVersionHeader } from '../../conversation/messages-version.ts';
import { droppedReasoning } from '../../conversation/reasoning-request.ts';
import { fittingId } from '../../conversation/call-ids.ts';
import { withDropped } from '../../support/unsupported.ts';
import { protocolFault } from '../fault.ts';
import { jsonHeaders } from '../json-request.ts';
import { objectIn, noObject, readStreamed } from '../reply.ts';
import { messagesFault, messagesFaultWithin } from './fault.ts';
import { type ClaudeTraits, claudeTraits, nearestEffort, thinkingFor } from './models.ts';
import { MessageCollector, NativeMessageStream } from './native-stream.ts';
import type { MessagesHost } from './request.ts';
import { obligation } from './tools.ts';
import type {
  ContentBlock,
  CreateMessageParams,
  InputContentBlock,
  MessageAnswer,
  MessageCitation,
  ThinkingConfig,
} from './types.ts';
import {
  newMessageCounts,
  addMessageUsage,
  messageQuantities,
  messagePriceFacts,
} from './usage.ts';

/**
 * The client's headers about the format: its version and its betas
 * (platform.claude.com/docs/en/api/beta-headers, 2026-11).
 */
const formatHeaders = [messagesVersionHeader, 'anthropic-beta'] as const;

/**
 * The adapter for clients of `/v1/messages` and a vendor of the same format. The bytes stay the
 * same except for the model, the parts that this model would refuse, and a limit beyond its
 * maximum.
 */
export function anthropicNative({
  path,
  bodyVersion,
  fetches,
}: Pick<MessagesHost, 'path' | 'bodyVersion' | 'fetches'> = {}): Adapter {
  return {
    ask(call) {
      const fitted = fitToModel(call);
      const changes = [
        ...commonChanges(call, bodyVersion),
        ...fitted.changes,
        ...(call.bounds ?? []),
      ];
      if (call.outputTokensMax !== undefined)
        changes.push({ path: ['max_tokens'], json: String(call.outputTokensMax) });
      if (call.streamUpstream && !call.stream) changes.push({ path: ['stream'], json: 'true' });
      const dropped = withDropped(undefined, [...fitted.dropped, ...othersLeftOut(call)]);
      return {
        ...askAt(path?.(call.upstreamModel, call.streamUpstream) ?? '/messages', call, changes),
        dropped,
      };
    },
    read(reply, contentType, call) {
      if (!/event-stream/i.test(contentType)) return readWhole(reply, call);
      return readStreamed(reply, new MessageCollector(call));
    },
    stream: (call) => new NativeMessageStream(call),
    collect: (call) => new MessageCollector(call),
    needsBytes: () => fetches === false,
    fault: messagesFault,
  };
}

/**
 * Counts the tokens of a request, which the vendor does for free
 * (platform.claude.com/docs/en/build-with-claude/token-counting, 2026-11).
 */
export const anthropicCount: BaseAdapter = {
  ask: (call) => askAt('/messages/count_tokens', call, commonChanges(call)),
  read(reply) {
    const body: Documented<{ readonly input_tokens: number }> | undefined = objectIn(reply);
    if (countOf(body?.input_tokens) === undefined)
      return protocolFault('a count that tells no tokens');
    return { body: reply, quantities: undefined, upstreamId: undefined, outputText: '' };
  },
  fault: messagesFault,
};

/** The same for vendors whose path is fixed and whose body carries the version. */
export function anthropicCountAt(path: string, bodyVersion: string): BaseAdapter {
  const version: JsonChange = { path: ['anthropic_version'], json: jsonText(bodyVersion) };
  return { ...anthropicCount, ask: (call) => askAt(path, call, [...commonChanges(call), version]) };
}

function commonChanges(call: VendorCall, bodyVersion?: string): JsonChange[] {
  const changes = withoutOthers(call);
  // Where the path names the model, the body carries the version.
  if (bodyVersion === undefined)
    changes.push({ path: ['model'], json: jsonText(call.upstreamModel) });
  else
    changes.push({ path: ['model'] }, { path: ['anthropic_version'], json: jsonText(bodyVersion) });
  return changes;
}

function askAt(path: string, call: VendorCall, changes: readonly JsonChange[]): VendorRequest {
  return {
    path,
    headers: headersOf(call),
    ...bodyOfPieces(editJsonPieces(call.bytes, changes, call.skeleton)),
  };
}

function headersOf({ clientHeaders }: VendorCall): VendorRequest['headers'] {
  let headers: Record<string, string> | undefined;
  for (const name of formatHeaders) {
    const value = clientHeaders?.[name];
    if (value === undefined) continue;
    headers ??= { 'content-type': 'application/json' };
    headers[name] = Array.isArray(value) ? value.join(',') : value;
  }
  return headers ?? jsonHeaders;
}

/**
 * Removes from the messages what another model of the same conversation wrote and this vendor would
 * refuse: thinking that no Claude signed, extensions of tool calls, citations without Anthropic's
 * seal, ids of another alphabet, and texts of white space alone.
 */
function withoutOthers(call: VendorCall<CreateMessageParams>): JsonChange[] {
  const changes: JsonChange[] = [];
  listOf(call.body.messages).forEach((message, i) => {
    if (!isObject(message)) return;
    const content = listOf(message.content);
    if (!content.some((block) => isObject(block) && isOthers(block))) return;
    const isAnswer = message.role === 'assistant';
    const kept = content
      .filter(
        (block) => !isObject(block) || (!isUnsigned(block) && !(isAnswer && isBlankText(block))),
      )
      .map((block) => (isObject(block) ? withoutElse(withFittingId(withoutMark(block))) : block));
    changes.push({
      path: ['messages', i, 'content'],
      json: jsonText(kept.length ? kept : [{ type: 'text', text: '…' }]),
    });
  });
  return changes;
}

/**
 * The thinking that is removed, as the name of a dropped member; empty thinking is not reported.
 */
const othersLeftOut = ({ body }: Pick<VendorCall<CreateMessageParams>, 'body'>): string[] =>
  objectsOf(body.messages).some((message) =>
    objectsOf(message.content).some((block) => isUnsigned(block) && block.thinking !== ''),
  )
    ? ['messages[].content[].thinking']
    : [];

const isOthers = (block: Documented<InputContentBlock>): boolean =>
  isUnsigned(block) ||
  isMarked(block) ||
  citesElse(block) ||
  isBlankText(block) ||
  foreignId(block) !== undefined;

/**
 * The vendor refuses "text content blocks must contain non-whitespace text"; models write such
 * blocks between their calls.
 */
const isBlankText = (block: Documented<InputContentBlock>): boolean =>
  block.type === 'text' && typeof block.text === 'string' && block.text.trim() === '';

const idsTaken = /^[a-zA-Z0-9_-]+$/;
const idNames = { tool_use: 'id', tool_result: 'tool_use_id' } as const;

/** The member of a block that holds an id outside Anthropic's pattern (`functions.add:0`). */
function foreignId(block: Documented<InputContentBlock>): 'id' | 'tool_use_id' | undefined {
  const { type } = block;
  if (type !== 'tool_use' && type !== 'tool_result') return undefined;
  const id = block[idNames[type]];
  return typeof id === 'string' && !idsTaken.test(id) ? idNames[type] : undefined;
}

function withFittingId(block: Documented<InputContentBlock>): Documented<InputContentBlock> {
  const name = foreignId(block);
  return name === undefined
    ? block
    : { ...block, [name]: fittingId(textOf(block[name]) ?? '', idsTaken) };
}

const isUnsigned = (block: Documented<InputContentBlock>): boolean =>
  block.type === 'thinking' && !block.signature;
const isMarked = (block: Documented<InputContentBlock>): boolean =>
  block.type === 'tool_use' && block.extra_content !== undefined;

/**
 * A citation of another vendor: `encrypted_index` is required, and only Anthropic fills it
 * (platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool, 2026-11).
 */
const isElse = (citation: Documented<MessageCitation>): boolean => citation.encrypted_index === '';
const citesElse = (block: Documented<InputContentBlock>): boolean =>
  objectsOf(block.citations).some(isElse);

function withoutElse(block: Documented<InputContentBlock>): JsonObject {
  if (!citesElse(block)) return block;
  const { citations, ...rest } = block;
  const kept = listOf(citations).filter((citation) => !(isObject(citation) && isElse(citation)));
  return kept.length ? { ...rest, citations: kept } : rest;
}

function withoutMark(block: Documented<InputContentBlock>): Documented<InputContentBlock> {
  if (!isMarked(block)) return block;
  const { extra_content: _, ...rest } = block;
  return rest;
}

function readWhole(reply: Buffer, call: VendorCall): VendorAnswer | Fault {
  const body: Documented<MessageAnswer> | undefined = objectIn(reply);
  if (body === undefined) return noObject(reply);
  const fault = messagesFaultWithin(body);
  if (fault) return fault;
  if (!Array.isArray(body.content)) return protocolFault('an answer without content');
  const counted = newMessageCounts();
  addMessageUsage(counted, objectOf(body.usage));
  counted.container ||= body.container != null;
  const quantities = messageQuantities(counted);
  return {
    body: editJsonBytes(reply, [
      { path: ['id'], json: jsonText(call.answerId) },
      { path: ['model'], json: jsonText(call.publicModel) },
    ]),
    quantities,
    pricingFacts: messagePriceFacts(counted, textOf(body.model)),
    upstreamId: textOf(body.id),
    outputText: quantities ? '' : objectsOf(body.content).map(wordsOf).join(''),
  };
}

/** What the model wrote in one block. */
function wordsOf(block: Documented<ContentBlock>): string {
  return (
    textOf(block.text) ??
    textOf(block.thinking) ??
    (block.input === undefined ? '' : JSON.stringify(block.input))
  );
}

/**
 * From this version of the format on, the vendor refuses `temperature`, `top_p` and `top_k` with
 * any value (platform.claude.com/docs/en/api/versioning, 2026-11).
 */
const versionUnsampled = '2026-10-21';

/**
 * Rewrites members that another generation of Claude takes and this one refuses, so that a client
 * can change the model and nothing else: thinking, effort, sampling and forced calls
 * (platform.claude.com/docs/en/api/messages, 2026-11). A request that fits is not changed.
 */
function fitToModel({
  body,
  upstreamModel,
  outputTokensMax,
  clientHeaders,
}: VendorCall<CreateMessageParams>): {
  readonly changes: JsonChange[];
  readonly dropped: string[];
} {
  const traits = claudeTraits(upstreamModel);
  const { on, changes, dropped } = fittingThinking(body, traits, outputTokensMax);
  const effort = fittingEffort(body, traits, on);
  const unsampled = String(clientHeaders?.[messagesVersionHeader] ?? '') >= versionUnsampled;
  const sampling = unsampled ? samplingIn(body) : fittingSampling(body, traits, on);
  return {
    changes: [
      ...changes,
      ...effort.changes,
      ...sampling.map((name) => ({ path: [name] })),
      ...fittingChoice(body, traits),
      ...fittingEnd(body.messages, traits),
    ],
    // 1 is the default, so that removing it changes nothing.
    dropped: [
      ...dropped,
      ...effort.dropped,
      ...sampling.filter((name) => name === 'top_k' || body[name] !== 1),
    ],
  };
}

/**
 * If a conversation ends with an assistant's text that this model cannot continue, adds a user's
 * message that requests it. Turns that the vendor has paused and calls that wait for their results
 * stay last.
 */
function fittingEnd(
  messages: Documented<CreateMessageParams>['messages'],
  { prefill }: ClaudeTraits,
): JsonChange[] {
  const last = listOf(messages).length - 1;
  const message = objectOf(listOf(messages)[last]);
  if (prefill || message?.role !== 'assistant') return [];
  const { content } = message;
  const isText =
    typeof content === 'string' ||
    listOf(content).every((block) => objectOf(block)?.type === 'text');
  return isText
    ? [{ path: ['messages', last], after: jsonText({ role: 'user', content: 'Continue.' }) }]
    : [];
}

function forced(body: Documented<CreateMessageParams>): boolean {
  const type = objectOf(body.tool_choice)?.type;
  return type === 'any' || type === 'tool';
}

/**
 * Whether a model of these traits takes `thinking` of this type unchanged. A budget must stay below
 * a limit that is tighter than the client's.
 */
function takes(
  requested: Documented<ThinkingConfig> | undefined,
  { thinking, silent, rest }: ClaudeTraits,
  limit: number | undefined,
): boolean {
  const type = requested?.type;
  if (type === 'enabled')
    return (
      thinking !== 'none' && !silent && !(Number(requested?.budget_tokens) >= (limit ?? Infinity))
    );
  if (type === 'adaptive') return thinking === 'adaptive';
  return type !== 'disabled' || rest === 'disabled';
}

function fittingThinking(
  body: Documented<CreateMessageParams>,
  traits: ClaudeTraits,
  outputTokensMax: number | undefined,
): { readonly on: boolean; readonly changes: JsonChange[]; readonly dropped: readonly string[] } {
  const requested = objectOf(body.thinking);
  const type = requested?.type;
  if (takes(requested, traits, outputTokensMax))
    return { on: type === 'enabled' || type === 'adaptive', changes: [], dropped: [] };
  const limit = outputTokensMax ?? countOf(body.max_tokens) ?? traits.outputUsual;
  const config = objectOf(body.output_config);
  // A budget that stands for adaptive thinking is as large as the effort beside it.
  const asked = type === 'adaptive' ? textOf(config?.effort) : undefined;
  const call = { body: asked === undefined ? body : { ...body, reasoning_effort: asked } };
  const { thinking, effort, on } = thinkingFor(call, traits, limit, {
    forced: forced(body) && traits.forcing,
    interrupted: false,
  });
  const display = textOf(requested?.display);
  const changes: JsonChange[] = [
    thinking
      ? { path: ['thinking'], json: jsonText(display && on ? { ...thinking, display } : thinking) }
      : { path: ['thinking'] },
  ];
  if (effort !== undefined && config?.effort === undefined)
    changes.push({ path: ['output_config'], json: jsonText({ ...config, effort }) });
  return { on, changes, dropped: droppedReasoning({ body }, on || effort !== undefined) };
}

/**
 * "This model does not support the effort parameter." (anthropics/claude-code#30760, 2026-03) and
 * "This model does not support effort level 'xhigh'." (recorded 2026-08).
 */
function fittingEffort(
  body: Documented<CreateMessageParams>,
  traits: ClaudeTraits,
  thinks: boolean,
): { readonly changes: JsonChange[]; readonly dropped: readonly string[] } {
  const config = objectOf(body.output_config);
  const asked = textOf(config?.effort);
  if (config === undefined || asked === undefined) return { changes: [], dropped: [] };
  const path = ['output_config', 'effort'];
  if (traits.efforts?.length === 0) {
    // The budget that stands for adaptive thinking says the effort.
    const isTold = thinks && objectOf(body.thinking)?.type === 'adaptive';
    const whole = Object.keys(config).length === 1;
    return {
      changes: [{ path: whole ? ['output_config'] : path }],
      dropped: isTold ? [] : ['output_config.effort'],
    };
  }
  const nearest = nearestEffort(asked, traits);
  return { changes: nearest === asked ? [] : [{ path, json: jsonText(nearest) }], dropped: [] };
}

const samplingMembers = ['temperature', 'top_p', 'top_k'] as const;
type SamplingMember = (typeof samplingMembers)[number];

const samplingIn = (body: Documented<CreateMessageParams>): SamplingMember[] =>
  samplingMembers.filter((name) => body[name] !== undefined);

/** The sampling members that this model refuses. */
function fittingSampling(
  body: Documented<CreateMessageParams>,
  { sampling }: ClaudeTraits,
  thinks: boolean,
): SamplingMember[] {
  const given = samplingIn(body);
  // While it thinks, a model takes `top_p` from 0.95 on
  // (platform.claude.com/docs/en/build-with-claude/extended-thinking, 2026-11; recorded).
  const takesTop = sampling !== 'none' && Number(body.top_p) >= 0.95;
  const taken = (name: SamplingMember): boolean =>
    name !== 'top_k' && (body[name] === 1 || (name === 'top_p' && takesTop));
  const refused = sampling === 'none' || thinks ? given.filter((name) => !taken(name)) : [];
  const second: SamplingMember[] =
    sampling === 'one' && given.includes('temperature') && given.includes('top_p') ? ['top_p'] : [];
  return [...new Set([...refused, ...second])];
}

/** If the model cannot be forced to call a tool, an instruction requests the call. */
function fittingChoice(
  body: Documented<CreateMessageParams>,
  { forcing }: ClaudeTraits,
): JsonChange[] {
  if (forcing || !forced(body)) return [];
  const choice = objectOf(body.tool_choice) ?? {};
  const single = choice.disable_parallel_tool_use;
  const told = obligation(
    choice.type === 'tool' ? { name: textOf(choice.name) ?? '' } : 'required',
  );
  const system = body.system;
  const before = typeof system === 'string' ? [{ type: 'text', text: system }] : listOf(system);
  return [
    {
      path: ['tool_choice'],
      json: jsonText({
        type: 'auto',
        ...(single === undefined ? {} : { disable_parallel_tool_use: single }),
      }),
    },
    { path: ['system'], json: jsonText([...before, { type: 'text', text: told }]) },
  ];
}
