import type { Ask, Call } from '../adapter.ts';
import { uriEncoded } from '../../base/sigv4.ts';
import { isInterrupted } from './anthropic-messages-ask.ts';
import { thinkingBlocks } from './anthropic-messages-signed.ts';
import { thinkingFor } from './anthropic-messages-thinking.ts';
import { planTools } from './anthropic-messages-tools.ts';
import { type ConverseModel, converseModel } from './bedrock-converse-models.ts';
import { toolConfig } from './bedrock-converse-tools.ts';
import { TurnsWriter } from './bedrock-converse-turns.ts';
import {
  type Conversation,
  readConversation,
  refuseUncarried,
  talkative,
} from './chat-conversation.ts';
import { countOf, type JsonObject, listOf, numberOf, objectOf, textOf } from './json.ts';
import { unsignedCalls, withSignatures } from './signatures.ts';

const headers = { 'content-type': 'application/json' } as const;

/** OpenAI's chat request as Converse's (wire-formats §5.3, §4.2 where they are alike). The model and whether to stream stand in the path. */
export function askConverse(call: Call): Ask {
  const { body } = call;
  refuseUncarried(body);
  const model = converseModel(call);
  const plan = planTools(body, model.traits);
  const conversation = talkative(
    readConversation(withSignatures(body['messages'], call.signatures)),
  );
  const reasoning = reasoningFor(call, model, conversation, plan.forced);
  const tools = toolConfig(plan, conversation, model);
  const writer = new TurnsWriter(model, call.publicModel);
  const messages = writer.messages(conversation, model.traits.prefill && !reasoning.on);
  const system = writer.system(conversation, [...plan.told, ...tools.told]);
  const fields = { ...reasoning.fields, ...tools.fields };
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
  return { path, headers, body: Buffer.from(JSON.stringify(sent)) };
}

/** Calls that came back without the thinking before them, of models that sign it. */
export function unsignedConverse(call: Call): readonly string[] {
  const { claude, traits } = converseModel(call);
  if (!claude || traits.thinking === 'none') return [];
  return unsignedCalls(call.body['messages'], (message) => thinkingBlocks(message).length > 0);
}

/** The same for asking and for reading the answer: whether a JSON answer travels as a tool's input. */
export function usesHiddenTool(call: Call): boolean {
  return (
    objectOf(call.body['response_format']) !== undefined &&
    planTools(call.body, converseModel(call).traits).hidden
  );
}

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
  const { body } = call;
  const k = countOf(body['top_k']);
  const limit = limitOf(call, model);
  if (model.claude) {
    const { thinking, effort, on } = thinkingFor(
      body,
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
  const wanted = textOf(body['reasoning_effort']);
  const effort = wanted === undefined ? undefined : model.effort?.(wanted, limit !== undefined);
  const fixed = effort?.fixed === true;
  return {
    fields: { ...effort?.fields, ...(k === undefined || fixed ? {} : model.topK?.(k)) },
    effort: undefined,
    on: false,
    fixed,
  };
}

/** The client's limit (of two, `max_completion_tokens`: row 16), or ours when money is the tighter one; never more than the model writes, as far as that is known. */
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
