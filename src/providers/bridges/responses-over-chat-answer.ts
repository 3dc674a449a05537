import type { Answer, Call } from '../adapter.ts';
import { isObject, type JsonObject, listOf, objectOf, parse, textOf } from '../wire/json.ts';
import { responsesQuantities } from '../wire/openai-responses-usage.ts';
import { responseFrame } from './response-frame.ts';
import {
  calledAs,
  callItem,
  ItemIds,
  messageItem,
  reasoningItem,
  refusalPart,
  textPart,
} from './responses-over-chat-items.ts';
import { toolsByChatName } from './responses-over-chat-tools.ts';

/** A chat completion as a response. */
export function responseAnswer(answer: Answer, call: Call): Answer {
  const body = objectOf(parse(answer.body.toString('utf8'))) ?? {};
  const choice = objectOf(listOf(body['choices'])[0]) ?? {};
  const message = objectOf(choice['message']) ?? {};
  const finish = choice['finish_reason'];
  const incomplete =
    finish === 'length'
      ? 'max_output_tokens'
      : finish === 'content_filter'
        ? 'content_filter'
        : undefined;
  const output = outputOf(
    message,
    choice,
    call,
    incomplete === undefined ? 'completed' : 'incomplete',
  );
  const quantities = answer.quantities ?? responsesQuantities(asResponses(objectOf(body['usage'])));
  const response = responseFrame(call, {
    status: incomplete === undefined ? 'completed' : 'incomplete',
    output,
    quantities,
    ...(incomplete === undefined ? {} : { incomplete }),
  });
  return { ...answer, body: Buffer.from(JSON.stringify(response)) };
}

function asResponses(usage: JsonObject | undefined): JsonObject | undefined {
  return (
    usage && {
      ...usage,
      input_tokens: usage['prompt_tokens'],
      output_tokens: usage['completion_tokens'],
    }
  );
}

function outputOf(
  message: JsonObject,
  choice: JsonObject,
  call: Call,
  status: 'completed' | 'incomplete',
): JsonObject[] {
  const ids = new ItemIds(call.answerId);
  const tools = toolsByChatName(call.body);
  const output: JsonObject[] = [];
  const reasoning = textOf(message['reasoning_content']) ?? '';
  const details = listOf(message['reasoning_details']);
  if (reasoning !== '' || details.length)
    output.push(reasoningItem(ids.next('rs'), reasoning, details));
  const content = textOf(message['content']) ?? '';
  const refusal = textOf(message['refusal']) ?? '';
  const calls = listOf(message['tool_calls']).filter(isObject);
  const logprobs = listOf(objectOf(choice['logprobs'])?.['content']);
  const parts = [
    ...(content || (!refusal && !calls.length) ? [textPart(content, logprobs)] : []),
    ...(refusal ? [refusalPart(refusal)] : []),
  ];
  if (parts.length) output.push(messageItem(ids.next('msg'), parts, status));
  for (const one of calls) {
    const fn = objectOf(one['function']) ?? {};
    const { custom, ...tool } = calledAs(textOf(fn['name']) ?? '', tools);
    const called = {
      ...tool,
      callId: textOf(one['id']) ?? '',
      arguments: textOf(fn['arguments']) ?? '',
      extra: one['extra_content'],
    };
    output.push(callItem(ids.next(custom ? 'ctc' : 'fc'), called, status, custom));
  }
  return output;
}
