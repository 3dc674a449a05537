import type { VendorAnswer, VendorCall } from '../adapter.ts';
import { characters, citedPages, responsesAnnotation } from '../conversation/citations.ts';
import {
  type Documented,
  type JsonObject,
  listOf,
  objectOf,
  objectsOf,
  textOf,
} from '../../base/json.ts';
import { inOrder, placeOf, type TurnPlace } from '../formats/anthropic-messages/reasoning.ts';
import type {
  ChatChoice,
  ChatCompletion,
  ChatMessage,
  ChatToolCall,
} from '../formats/openai-chat/types.ts';
import type { CreateResponse } from '../formats/openai-responses/types.ts';
import { completionOf, picturesIn } from './bridge.ts';
import { incompleteReason, responseObject } from './response-object.ts';
import {
  clientToolOf,
  callItem,
  ItemIds,
  messageItem,
  pictureItem,
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
  const body = completionOf(answer);
  const choice = objectOf(listOf(body.choices)[0]) ?? {};
  const message = objectOf(choice.message) ?? {};
  const incomplete = incompleteReason(choice.finish_reason);
  const status = incomplete === undefined ? 'completed' : 'incomplete';
  const output = outputOf({ body, message, choice }, call, status);
  const { quantities } = answer;
  const response = responseObject(call, { status, output, quantities, incomplete });
  return { ...answer, body: Buffer.from(JSON.stringify(response)) };
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

interface Thought extends TurnPlace {
  readonly reasoning: string;
  readonly details: readonly unknown[];
}

/**
 * The model's reasoning by its place in the turn. Only the details of models that sign their
 * reasoning have places.
 */
function thoughtsOf(message: Documented<ChatMessage>): Thought[] {
  const reasoning = textOf(message.reasoning_content) ?? '';
  const details = listOf(message.reasoning_details);
  const placed: (TurnPlace & { readonly details: unknown[] })[] = [];
  for (const detail of details) {
    const { at, calls } = placeOf(objectOf(detail));
    const last = placed.at(-1);
    if (last?.at === at && last.calls === calls) last.details.push(detail);
    else placed.push({ at, calls, details: [detail] });
  }
  const [first = { at: 0, calls: 0 }] = placed;
  if (placed.length < 2 && first.at + first.calls === 0)
    return reasoning === '' && details.length === 0
      ? []
      : [{ at: 0, calls: 0, reasoning, details }];
  return placed.map(({ at, calls, details: here }) => ({
    at,
    calls,
    reasoning: here.map((one) => textOf(objectOf(one)?.text) ?? '').join(''),
    details: here,
  }));
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
  const calledItem = (one: Documented<ChatToolCall>): JsonObject => {
    const fn = objectOf(one.function) ?? {};
    const { custom, ...tool } = clientToolOf(textOf(fn.name) ?? '', tools);
    const called = {
      ...tool,
      callId: textOf(one.id) ?? '',
      arguments: textOf(fn.arguments) ?? '',
      extra: one.extra_content,
    };
    return callItem(ids.next(custom ? 'ctc' : 'fc'), called, status, custom);
  };
  const logprobs = listOf(objectOf(choice.logprobs)?.content);
  const annotations = citedPages(body, message, content).map(responsesAnnotation);
  const pictures = picturesIn(message);
  const speaks = content !== '' || refusal !== '' || calls.length + pictures.length === 0;
  const said = speaks ? [{ kind: 'text', text: content }] : [];
  const { steps, left } = inOrder(thoughtsOf(message), said, calls);
  const last = steps.findLast(({ kind }) => kind === 'part');
  let from = 0;
  for (const step of [...steps, ...left.map((call) => ({ kind: 'call', call }) as const)]) {
    if (step.kind === 'thinking')
      output.push(reasoningItem(ids.next('rs'), step.thought.reasoning, step.thought.details));
    else if (step.kind === 'call') output.push(calledItem(step.call));
    else {
      const { text } = step.part;
      const isLast = step === last;
      const to = from + characters(text);
      const cited = within(annotations, from, to, isLast);
      const parts = [
        ...(text !== '' || refusal === '' ? [textPart(text, isLast ? logprobs : [], cited)] : []),
        ...(refusal !== '' && isLast ? [refusalPart(refusal)] : []),
      ];
      output.push(messageItem(ids.next('msg'), parts, status));
      from = to;
    }
  }
  for (const picture of pictures) output.push(pictureItem(ids.next('ig'), picture));
  return output;
}
