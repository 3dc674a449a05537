import type { VendorAnswer, VendorCall } from '../adapter.ts';
import {
  characters,
  responsesAnnotation,
  responsesAnnotations,
  sourcesBeside,
} from '../conversation/citations.ts';
import {
  countOf,
  type Documented,
  type JsonObject,
  listOf,
  objectOf,
  objectsOf,
  parse,
  textOf,
} from '../../base/json.ts';
import { cutText } from '../formats/anthropic-messages/reasoning.ts';
import type {
  ChatChoice,
  ChatCompletion,
  ChatMessage,
  CompletionUsage,
} from '../formats/openai-chat/types.ts';
import type { CreateResponse } from '../formats/openai-responses/types.ts';
import { responsesQuantities } from '../formats/openai-responses/response.ts';
import { responseObject } from './response-object.ts';
import {
  clientToolOf,
  callItem,
  ItemIds,
  messageItem,
  reasoningItem,
  refusalPart,
  textPart,
  toolsByChatName,
} from './responses-over-chat-items.ts';

/** A chat completion as a response. */
export function responseAnswer(
  answer: VendorAnswer,
  call: VendorCall<CreateResponse>,
): VendorAnswer {
  const body: Documented<ChatCompletion> = objectOf(parse(answer.body.toString('utf8'))) ?? {};
  const choice = objectOf(listOf(body.choices)[0]) ?? {};
  const message = objectOf(choice.message) ?? {};
  const finish = choice.finish_reason;
  const incomplete =
    finish === 'length'
      ? 'max_output_tokens'
      : finish === 'content_filter'
        ? 'content_filter'
        : undefined;
  const output = outputOf(
    { body, message, choice },
    call,
    incomplete === undefined ? 'completed' : 'incomplete',
  );
  const quantities =
    answer.quantities ?? responsesQuantities(responsesUsageOf(objectOf(body.usage)));
  const response = responseObject(call, {
    status: incomplete === undefined ? 'completed' : 'incomplete',
    output,
    quantities,
    ...(incomplete === undefined ? {} : { incomplete }),
  });
  return { ...answer, body: Buffer.from(JSON.stringify(response)) };
}

/** The citations of the message; where it has none, the sources beside it. */
function annotationsOf(
  body: Documented<ChatCompletion>,
  message: Documented<ChatMessage>,
  content: string,
): JsonObject[] {
  const own = responsesAnnotations(message);
  return own.length ? own : sourcesBeside(body, content).map(responsesAnnotation);
}

/** The annotations of one piece of a text: each belongs to the piece in which it ends. */
function within(
  annotations: readonly JsonObject[],
  from: number,
  to: number,
  last: boolean,
): JsonObject[] {
  if (from === 0 && last) return [...annotations];
  const inside = annotations.filter(
    ({ end_index: end }) => Number(end) > from && (last || Number(end) <= to),
  );
  return inside.map((one) => ({
    ...one,
    start_index: Math.max(0, Number(one['start_index']) - from),
    end_index: Number(one['end_index']) - from,
  }));
}

interface Thought {
  /** The number of characters of text before it. */
  readonly at: number;
  readonly reasoning: string;
  readonly details: readonly unknown[];
}

/**
 * The model's reasoning by its place in the text. Only the details of models that sign their
 * reasoning have places.
 */
function thoughtsOf(message: Documented<ChatMessage>): Thought[] {
  const reasoning = textOf(message.reasoning_content) ?? '';
  const details = listOf(message.reasoning_details);
  const places = [...new Set(details.map((one) => countOf(objectOf(one)?.at) ?? 0))].sort(
    (a, b) => a - b,
  );
  if (places.length < 2 && (places[0] ?? 0) === 0)
    return reasoning === '' && details.length === 0 ? [] : [{ at: 0, reasoning, details }];
  return places.map((at) => {
    const here = details.filter((one) => (countOf(objectOf(one)?.at) ?? 0) === at);
    return {
      at,
      reasoning: here.map((one) => textOf(objectOf(one)?.text) ?? '').join(''),
      details: here,
    };
  });
}

function responsesUsageOf(usage: Documented<CompletionUsage> | undefined): JsonObject | undefined {
  return (
    usage && {
      ...usage,
      input_tokens: usage.prompt_tokens,
      output_tokens: usage.completion_tokens,
    }
  );
}

interface ChatMessageOutput {
  readonly body: Documented<ChatCompletion>;
  readonly message: Documented<ChatMessage>;
  readonly choice: Documented<ChatChoice>;
}

function outputOf(
  { body, message, choice }: ChatMessageOutput,
  call: VendorCall<CreateResponse>,
  status: 'completed' | 'incomplete',
): JsonObject[] {
  const ids = new ItemIds(call.answerId);
  const tools = toolsByChatName(call.body);
  const output: JsonObject[] = [];
  const content = textOf(message.content) ?? '';
  const refusal = textOf(message.refusal) ?? '';
  const calls = objectsOf(message.tool_calls);
  const logprobs = listOf(objectOf(choice.logprobs)?.content);
  const annotations = annotationsOf(body, message, content);
  const thoughts = thoughtsOf(message);
  const cuts = thoughts.map(({ at }) => at);
  let from = 0;
  cutText(content, cuts).forEach((text, i, all) => {
    const last = i === all.length - 1;
    for (const { reasoning, details } of thoughts.filter(({ at }) =>
      last ? at >= from : at === from,
    ))
      output.push(reasoningItem(ids.next('rs'), reasoning, details));
    const to = from + characters(text);
    const parts = [
      ...(text || (last && !refusal && !calls.length)
        ? [textPart(text, last ? logprobs : [], within(annotations, from, to, last))]
        : []),
      ...(refusal && last ? [refusalPart(refusal)] : []),
    ];
    if (parts.length) output.push(messageItem(ids.next('msg'), parts, status));
    from = to;
  });
  for (const one of calls) {
    const fn = objectOf(one.function) ?? {};
    const { custom, ...tool } = clientToolOf(textOf(fn.name) ?? '', tools);
    const called = {
      ...tool,
      callId: textOf(one.id) ?? '',
      arguments: textOf(fn.arguments) ?? '',
      extra: one.extra_content,
    };
    output.push(callItem(ids.next(custom ? 'ctc' : 'fc'), called, status, custom));
  }
  return output;
}
