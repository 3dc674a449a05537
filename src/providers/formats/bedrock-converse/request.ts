import {
  countOf,
  type Documented,
  type JsonObject,
  numberOf,
  objectOf,
  textOf,
} from '../../../base/json.ts';
import { uriEncoded } from '../../../base/sigv4.ts';
import type { VendorRequest, VendorCall } from '../../adapter.ts';
import {
  type Conversation,
  readConversation,
  withFirstTurn,
} from '../../conversation/conversation.ts';
import { droppedReasoning, reasoningRequest } from '../../conversation/reasoning-request.ts';
import { stopWords, blankStops } from '../../conversation/stop-text.ts';
import { unsignedCalls, withCallSignatures } from '../../conversation/call-signatures.ts';
import { thinkingFor } from '../anthropic-messages/models.ts';
import { thinkingBlocks } from '../anthropic-messages/reasoning.ts';
import { isInterrupted, thoughtsOf, withSampling } from '../anthropic-messages/request.ts';
import { planTools, type ToolPlan } from '../anthropic-messages/tools.ts';
import type { MessageTool, MessageToolChoice } from '../anthropic-messages/types.ts';
import { refuseServiceTier } from '../../billable-features.ts';
import { withDropped, droppedMembers, chatTranslation } from '../../support/unsupported.ts';
import { droppedAnswerMembers } from '../../support/messages.ts';
import { singleCallInstruction, wantsSingleCall } from '../../support/fit.ts';
import { jsonHeaders } from '../json-request.ts';
import { chatTokensMax } from '../chat-limit.ts';
import { type ConverseModel, converseModel } from './models.ts';
import { TurnsWriter, cachePoint } from './messages.ts';
import type { ConverseChatRequest, InferenceConfiguration, TopKFields } from './types.ts';

/** The members of a chat request that Converse has an equivalent for. */
const chatToConverse = chatTranslation(['parallel_tool_calls']);

/**
 * Writes OpenAI's chat request as Converse's
 * (docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, 2026-08). The path
 * names the model and whether to stream.
 */
export function converseRequest(call: VendorCall<ConverseChatRequest>): VendorRequest {
  const { body } = call;
  refuseServiceTier(call);
  const unread = droppedMembers(body, call.publicModel, chatToConverse);
  const model = converseModel(call);
  const plan = planTools(call, model.traits);
  const told = withCallSignatures(body.messages, call.signatures);
  const conversation = withFirstTurn(readConversation(told));
  const reasoning = reasoningFor(call, model, conversation, plan.forced);
  const tools = toolConfig(plan, conversation, model);
  // A forced call, or a model that is not Claude, cannot be limited to one call at a time.
  const single = wantsSingleCall(body) && tools.fields.tool_choice === undefined;
  const thinks = model.claude
    ? reasoning.on || reasoning.effort !== undefined
    : model.effort !== undefined;
  const dropped = withDropped(unread, [
    ...droppedReasoning(call, thinks),
    ...(single ? ['parallel_tool_calls'] : []),
    ...droppedAnswerMembers(
      body.messages,
      thoughtsOf(told, model.claude && model.traits.thinking !== 'none'),
    ),
  ]);
  const writer = new TurnsWriter(model, call.publicModel);
  const messages = writer.messages(conversation, model.traits.prefill && !reasoning.on);
  const system = writer.system(conversation, [
    ...plan.told,
    ...tools.told,
    ...(single ? singleCallInstruction(body) : []),
  ]);
  const betas = betasOf(call, model);
  const fields = {
    ...reasoning.fields,
    ...tools.fields,
    ...(betas.sent.length ? { anthropic_beta: betas.sent } : {}),
  };
  const output = outputConfig(plan.format, body, reasoning.effort);
  const inference = inferenceConfig(call, model, reasoning);
  const sent = {
    messages,
    ...(system.length ? { system } : {}),
    ...(Object.keys(inference).length ? { inferenceConfig: inference } : {}),
    ...(tools.config ? { toolConfig: tools.config } : {}),
    ...(Object.keys(fields).length ? { additionalModelRequestFields: fields } : {}),
    ...(output ? { outputConfig: output } : {}),
  };
  const path = `/model/${uriEncoded(call.upstreamModel)}/converse${call.streamUpstream ? '-stream' : ''}`;
  return {
    path,
    headers: jsonHeaders,
    body: Buffer.from(JSON.stringify(sent)),
    dropped: droppedOf(call, inference, fields, betas.lost, dropped),
  };
}

/**
 * Betas that Claude on Bedrock knows and that change no price
 * (docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html,
 * 2026-08); others get "invalid beta flag".
 */
const betasTaken = new Set([
  'interleaved-thinking-2025-05-14',
  'dev-full-thinking-2025-05-14',
  'output-128k-2025-02-19',
  'token-efficient-tools-2025-02-19',
]);

function betasOf(
  { messagesOptions: beside }: VendorCall,
  { claude }: ConverseModel,
): { readonly sent: readonly string[]; readonly lost: boolean } {
  const betas = beside?.betas ?? [];
  const sent = claude ? betas.filter((beta) => betasTaken.has(beta)) : [];
  return { sent, lost: sent.length < betas.length };
}

/**
 * The client's members that this model does not take, beside those without an equivalent in
 * Converse.
 */
function droppedOf(
  { body, messagesOptions: beside }: VendorCall<ConverseChatRequest>,
  inference: InferenceConfiguration,
  fields: JsonObject,
  lostBetas: boolean,
  dropped: readonly string[] | undefined,
): readonly string[] | undefined {
  const k: unknown = beside?.topK ?? body.top_k;
  const taken: Documented<TopKFields> = fields;
  const isSent =
    k == null || [taken.top_k, taken.k, objectOf(taken.inferenceConfig)?.topK].includes(k);
  const sent = {
    temperature: inference.temperature,
    top_p: inference.topP,
    top_k: isSent ? true : undefined,
  };
  const all = withSampling(
    dropped,
    beside?.topK === undefined ? body : { ...body, top_k: beside.topK },
    sent,
  );
  return lostBetas ? withDropped(all, ['anthropic-beta']) : all;
}

/** The keys of calls that came back without the thinking before them, for models that sign it. */
export function unsignedConverse(call: VendorCall<ConverseChatRequest>): readonly string[] {
  const { claude, traits } = converseModel(call);
  if (!claude || traits.thinking === 'none') return [];
  return unsignedCalls(call.body.messages, (message) => thinkingBlocks(message).length > 0);
}

/**
 * Whether a JSON answer travels as the input of the hidden tool. Request and response must agree on
 * it.
 */
export function converseUsesHiddenTool(call: VendorCall<ConverseChatRequest>): boolean {
  return (
    objectOf(call.body.response_format) !== undefined &&
    planTools(call, converseModel(call).traits).hidden
  );
}

/** The stop texts of white space alone, which Claude refuses: Tollgate stops there itself. */
export const converseWatchedStops = (
  call: VendorCall<ConverseChatRequest>,
): readonly string[] | undefined =>
  call.body.stop != null && converseModel(call).claude ? blankStops(call.body.stop) : undefined;

interface Reasoning {
  /** `additionalModelRequestFields` for thinking and for `top_k`. */
  readonly fields: JsonObject;
  /** `outputConfig.effort`. */
  readonly effort: string | undefined;
  readonly on: boolean;
  /** The model refuses all sampling parameters. */
  readonly fixed: boolean;
}

function reasoningFor(
  call: VendorCall<ConverseChatRequest>,
  model: ConverseModel,
  conversation: Conversation,
  forced: boolean,
): Reasoning {
  const { body, messagesOptions: beside } = call;
  const k = beside?.topK ?? countOf(body.top_k);
  const limit = limitOf(call, model);
  if (model.claude) {
    const { thinking, effort, on } = thinkingFor(
      call,
      model.traits,
      limit ?? model.traits.outputUsual,
      {
        forced,
        interrupted: isInterrupted(conversation),
      },
    );
    const fixed = on || model.traits.sampling === 'none';
    return {
      fields: {
        ...(thinking ? { thinking } : {}),
        ...(k === undefined || fixed ? {} : model.topK?.(k)),
      },
      effort,
      on,
      fixed,
    };
  }
  const wanted = reasoningRequest(call)?.effort;
  const effort = wanted === undefined ? undefined : model.effort?.(wanted, limit !== undefined);
  const fixed = effort?.fixed === true;
  return {
    fields: { ...effort?.fields, ...(k === undefined || fixed ? {} : model.topK?.(k)) },
    effort: undefined,
    on: false,
    fixed,
  };
}

/** The client's limit, at most what Claude takes. */
function limitOf(
  call: VendorCall<ConverseChatRequest>,
  { traits }: ConverseModel,
): number | undefined {
  const limit = chatTokensMax(call);
  return limit === undefined ? undefined : Math.max(1, Math.min(limit, traits.outputMax));
}

function inferenceConfig(
  call: VendorCall<ConverseChatRequest>,
  model: ConverseModel,
  { fixed }: Reasoning,
): InferenceConfiguration {
  const { body } = call;
  const { traits, claude } = model;
  // Without a limit, Converse uses the model's own, also beside a budget of thinking (recorded).
  const maxTokens = limitOf(call, model);
  const temperature = fixed ? undefined : numberOf(body.temperature);
  const topP =
    fixed || (traits.sampling === 'one' && temperature !== undefined)
      ? undefined
      : numberOf(body.top_p);
  const texts = stopWords(body.stop);
  // Claude refuses stop texts of white space alone.
  const stop = claude ? texts.filter((text) => text.trim() !== '') : texts;
  return {
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(temperature === undefined ? {} : { temperature: Math.min(1, temperature) }),
    ...(topP === undefined ? {} : { topP }),
    ...(stop.length ? { stopSequences: stop } : {}),
  };
}

function outputConfig(
  format: Documented<{ readonly schema: JsonObject }> | undefined,
  body: Documented<ConverseChatRequest>,
  effort: string | undefined,
): JsonObject | undefined {
  if (!format) return effort === undefined ? undefined : { effort };
  const asked = objectOf(objectOf(body.response_format)?.json_schema);
  const name = textOf(asked?.name);
  const description = textOf(asked?.description);
  const jsonSchema = {
    schema: JSON.stringify(format.schema),
    ...(name ? { name } : {}),
    ...(description ? { description } : {}),
  };
  return {
    textFormat: { type: 'json_schema', structure: { jsonSchema } },
    ...(effort === undefined ? {} : { effort }),
  };
}

/** The tools in Converse's format. */
interface ConverseTools {
  readonly config: JsonObject | undefined;
  /** `additionalModelRequestFields`. */
  readonly fields: { readonly tool_choice?: Documented<MessageToolChoice> };
  /** Instructions that stand for settings without a parameter. */
  readonly told: readonly string[];
}

const silence = 'Do not call any tool in your next answer.';

/**
 * Converse has no choice `none`, and a conversation with calls must declare their tools ("The
 * toolConfig field must be defined when using toolUse and toolResult content blocks").
 */
function toolConfig(
  { tools, choice: chosen }: ToolPlan,
  { turns }: Conversation,
  model: ConverseModel,
): ConverseTools {
  const choice: Documented<MessageToolChoice> | undefined = chosen;
  const used = new Set(turns.flatMap((turn) => turn.calls.map(({ name }) => name)));
  const none = choice?.type === 'none';
  if (tools.length === 0 || none) {
    const declared = tools.length
      ? tools.flatMap((tool) => written(tool, model))
      : [...used].map(unknownTool);
    return used.size === 0
      ? { config: undefined, fields: {}, told: [] }
      : { config: { tools: declared }, fields: {}, told: [silence] };
  }
  const isForced = choice?.type === 'any' || choice?.type === 'tool';
  const declared = isForced && model.chooses === 'nothing' ? obliging(tools, choice) : tools;
  // A request cannot hold both `toolChoice` and Claude's own `tool_choice`, so that one call at a
  // time can be set only with a free choice.
  const single =
    model.claude && choice?.type === 'auto' && choice.disable_parallel_tool_use === true;
  const toolChoice = single ? undefined : choiceOf(choice, model);
  return {
    config: {
      tools: declared.flatMap((tool) => written(tool, model)),
      ...(toolChoice ? { toolChoice } : {}),
    },
    fields: single ? { tool_choice: choice } : {},
    told: [],
  };
}

function choiceOf(
  choice: Documented<MessageToolChoice> | undefined,
  { chooses }: ConverseModel,
): JsonObject | undefined {
  if (!choice || choice.type === 'auto') return choice && { auto: {} };
  if (chooses === 'nothing') return undefined;
  return choice.type === 'tool' && chooses === 'named'
    ? { tool: { name: choice.name } }
    : { any: {} };
}

/**
 * Where a call cannot be forced ("This model doesn't support the toolConfig.toolChoice.any field"),
 * the descriptions of the tools request it.
 */
function obliging(
  tools: readonly JsonObject[],
  choice: Documented<MessageToolChoice>,
): JsonObject[] {
  const named = choice.name;
  const plea =
    named === undefined
      ? 'At least one of the tools must be called in the next answer.'
      : 'This tool must be called in the next answer.';
  return tools.map((tool: Documented<MessageTool>) =>
    named !== undefined && tool.name !== named
      ? tool
      : { ...tool, description: [textOf(tool.description), plea].filter(Boolean).join(' ') },
  );
}

function written(tool: Documented<MessageTool>, { caches }: ConverseModel): JsonObject[] {
  const { name, description, input_schema: json, strict } = tool;
  const toolSpec = {
    name,
    ...(description === undefined ? {} : { description }),
    inputSchema: { json },
    ...(strict === true ? { strict } : {}),
  };
  const cache = objectOf(tool.cache_control);
  return cache && caches === 'everywhere' ? [{ toolSpec }, cachePoint(cache)] : [{ toolSpec }];
}

/** Stands for a tool that the conversation calls and the request does not declare. */
const unknownTool = (name: string): JsonObject => ({
  toolSpec: { name, inputSchema: { json: { type: 'object', properties: {} } } },
});
