import type { Ask, Call } from '../adapter.ts';
import { uriEncoded } from '../../base/sigv4.ts';
import { andDropped, leftOut, translationOf } from '../takes/translated.ts';
import { answersLeftOut } from '../takes/turns.ts';
import { singleCallWords, wantsSingleCall } from '../takes/words.ts';
import { isInterrupted, thoughtsOf, withSampling } from './anthropic-messages-ask.ts';
import { thinkingBlocks } from './anthropic-messages-signed.ts';
import { thinkingFor, unthought, wishOf } from './anthropic-messages-thinking.ts';
import { planTools } from './anthropic-messages-tools.ts';
import { type ConverseModel, converseModel } from './bedrock-converse-models.ts';
import { toolConfig } from './bedrock-converse-tools.ts';
import { TurnsWriter } from './bedrock-converse-turns.ts';
import { type Conversation, readConversation, talkative } from './chat-conversation.ts';
import { countOf, type JsonObject, listOf, numberOf, objectOf, textOf } from './json.ts';
import { blankStops } from './stop-text.ts';
import { unsignedCalls, withSignatures } from './signatures.ts';
import { refuseTiers } from './tiers.ts';

const headers = { 'content-type': 'application/json' } as const;

/** The members of a chat request that Converse has a word for. */
const chatToConverse = translationOf(['parallel_tool_calls']);

/**
 * OpenAI's chat request as Converse's (wire-formats §5.3, §4.2 where they are alike). The model and
 * whether to stream stand in the path.
 */
export function askConverse(call: Call): Ask {
  const { body } = call;
  refuseTiers(call);
  const unread = leftOut(body, call.publicModel, chatToConverse);
  const model = converseModel(call);
  const plan = planTools(call, model.traits);
  const told = withSignatures(body['messages'], call.signatures);
  const conversation = talkative(readConversation(told));
  const reasoning = reasoningFor(call, model, conversation, plan.forced);
  const tools = toolConfig(plan, conversation, model);
  // Forced calls, and models that are not Claude, cannot be held to one call at a time.
  const single = wantsSingleCall(body) && tools.fields['tool_choice'] === undefined;
  const thinks = model.claude
    ? reasoning.on || reasoning.effort !== undefined
    : model.effort !== undefined;
  const dropped = andDropped(unread, [
    ...unthought(call, thinks),
    ...(single ? ['parallel_tool_calls'] : []),
    ...answersLeftOut(
      body['messages'],
      thoughtsOf(told, model.claude && model.traits.thinking !== 'none'),
    ),
  ]);
  const writer = new TurnsWriter(model, call.publicModel);
  const messages = writer.messages(conversation, model.traits.prefill && !reasoning.on);
  const system = writer.system(conversation, [
    ...plan.told,
    ...tools.told,
    ...(single ? singleCallWords(body) : []),
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
    headers,
    body: Buffer.from(JSON.stringify(sent)),
    dropped: droppedOf(call, inference, fields, betas.lost, dropped),
  };
}

/**
 * Betas that Claude on Bedrock knows and that change no price
 * (docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html,
 * 2026-08); of others it says "invalid beta flag".
 */
const betasTaken = new Set([
  'interleaved-thinking-2025-05-14',
  'dev-full-thinking-2025-05-14',
  'output-128k-2025-02-19',
  'token-efficient-tools-2025-02-19',
]);

function betasOf(
  { beside }: Call,
  { claude }: ConverseModel,
): { readonly sent: readonly string[]; readonly lost: boolean } {
  const asked = beside?.betas ?? [];
  const sent = claude ? asked.filter((beta) => betasTaken.has(beta)) : [];
  return { sent, lost: sent.length < asked.length };
}

/**
 * What the client wished for and this model does not take, beside what Converse has no word for.
 */
function droppedOf(
  { body, beside }: Call,
  inference: JsonObject,
  fields: JsonObject,
  lostBetas: boolean,
  dropped: readonly string[] | undefined,
): readonly string[] | undefined {
  const k = beside?.topK ?? body['top_k'];
  const isSent =
    k == null ||
    [fields['top_k'], fields['k'], objectOf(fields['inferenceConfig'])?.['topK']].includes(k);
  const sent = {
    temperature: inference['temperature'],
    top_p: inference['topP'],
    top_k: isSent ? true : undefined,
  };
  const all = withSampling(
    dropped,
    beside?.topK === undefined ? body : { ...body, top_k: beside.topK },
    sent,
  );
  return lostBetas ? andDropped(all, ['anthropic-beta']) : all;
}

/** Calls that came back without the thinking before them, of models that sign it. */
export function unsignedConverse(call: Call): readonly string[] {
  const { claude, traits } = converseModel(call);
  if (!claude || traits.thinking === 'none') return [];
  return unsignedCalls(call.body['messages'], (message) => thinkingBlocks(message).length > 0);
}

/**
 * The same for asking and for reading the answer: whether a JSON answer travels as a tool's input.
 */
export function usesHiddenTool(call: Call): boolean {
  return (
    objectOf(call.body['response_format']) !== undefined &&
    planTools(call, converseModel(call).traits).hidden
  );
}

/** Claude refuses to be told of white space alone. */
export const watchedStops = (call: Call): readonly string[] | undefined =>
  call.body['stop'] != null && converseModel(call).claude
    ? blankStops(call.body['stop'])
    : undefined;

interface Reasoning {
  /** `additionalModelRequestFields` for thinking and for `top_k`. */
  readonly fields: JsonObject;
  /** `outputConfig.effort`. */
  readonly effort: string | undefined;
  readonly on: boolean;
  /** No sampling parameter may be sent. */
  readonly fixed: boolean;
}

function reasoningFor(
  call: Call,
  model: ConverseModel,
  conversation: Conversation,
  forced: boolean,
): Reasoning {
  const { body, beside } = call;
  const k = beside?.topK ?? countOf(body['top_k']);
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
  const wanted = wishOf(call)?.effort;
  const effort = wanted === undefined ? undefined : model.effort?.(wanted, limit !== undefined);
  const fixed = effort?.fixed === true;
  return {
    fields: { ...effort?.fields, ...(k === undefined || fixed ? {} : model.topK?.(k)) },
    effort: undefined,
    on: false,
    fixed,
  };
}

/**
 * The client's limit (of two, `max_completion_tokens`: row 16), or ours when money is the tighter
 * one; never more than the model writes, as far as that is known.
 */
function limitOf({ body, outputTokensMax }: Call, { traits }: ConverseModel): number | undefined {
  const wanted = countOf(body['max_completion_tokens']) ?? countOf(body['max_tokens']);
  if (wanted === undefined && outputTokensMax === undefined) return undefined;
  return Math.max(1, Math.min(wanted ?? Infinity, outputTokensMax ?? Infinity, traits.outputMax));
}

function inferenceConfig(call: Call, model: ConverseModel, { fixed }: Reasoning): JsonObject {
  const { body } = call;
  const { traits, claude } = model;
  // Without a limit Converse takes the model's own, also beside a budget of thinking (recorded).
  const maxTokens = limitOf(call, model);
  const temperature = fixed ? undefined : numberOf(body['temperature']);
  const topP =
    fixed || (traits.sampling === 'one' && temperature !== undefined)
      ? undefined
      : numberOf(body['top_p']);
  const texts = (typeof body['stop'] === 'string' ? [body['stop']] : listOf(body['stop'])).filter(
    (text) => textOf(text),
  );
  // Claude refuses white space alone.
  const stop = claude ? texts.filter((text) => textOf(text)?.trim()) : texts;
  return {
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(temperature === undefined ? {} : { temperature: Math.min(1, temperature) }),
    ...(topP === undefined ? {} : { topP }),
    ...(stop.length ? { stopSequences: stop } : {}),
  };
}

function outputConfig(
  format: JsonObject | undefined,
  body: JsonObject,
  effort: string | undefined,
): JsonObject | undefined {
  if (!format) return effort === undefined ? undefined : { effort };
  const asked = objectOf(objectOf(body['response_format'])?.['json_schema']);
  const name = textOf(asked?.['name']);
  const description = textOf(asked?.['description']);
  const jsonSchema = {
    schema: JSON.stringify(format['schema']),
    ...(name ? { name } : {}),
    ...(description ? { description } : {}),
  };
  return {
    textFormat: { type: 'json_schema', structure: { jsonSchema } },
    ...(effort === undefined ? {} : { effort }),
  };
}
