import type { Adapter, Answer, Call } from '../adapter.ts';
import { objectOf } from '../wire/json.ts';
import { bridgeOver, type Names } from './bridge.ts';
import { messageFrom } from './messages-over-chat-answer.ts';
import { besideChat, chatBodyFrom, leftOutOfChat } from './messages-over-chat-ask.ts';
import { MessageEvents } from './messages-over-chat-stream.ts';

/**
 * `/v1/messages` for models whose vendor speaks chat (wire-formats §4.2 and §4.3, read the other
 * way round). `marks`: it reads `cache_control`.
 */
export function messagesOverChat(chat: Adapter, marks = false): Adapter {
  return bridgeOver(chat, {
    toChat: (call) => messagesAsChat(call, marks, chat.reads),
    answer: messageAnswer,
    stream: (call, translator) => new MessageEvents(call, translator),
    names: namesOf,
  });
}

const names = {
  response_format: 'output_config.format',
  stop: 'stop_sequences',
  'messages[].reasoning_content': 'messages[].content[].thinking',
  'messages[].reasoning_details': 'messages[].content[].thinking',
  parallel_tool_calls: 'tool_choice.disable_parallel_tool_use',
};
const byEffort = { ...names, reasoning_effort: 'output_config.effort' };
const byThinking = { ...names, reasoning_effort: 'thinking' };

/** How much to think is said in one of two members. */
const namesOf = ({ body }: Call): Names =>
  objectOf(body['output_config'])?.['effort'] === undefined ? byThinking : byEffort;

/** The same request as a chat completion. Throws the Refusal of what chat has no word for. */
export function messagesAsChat(call: Call, marks: boolean, reads?: Adapter['reads']): Call {
  const body = chatBodyFrom(call, marks);
  const beside = besideChat(call);
  const dropped = leftOutOfChat(call, beside, reads);
  const answerId = call.answerId.replace(/^msg_/, 'chatcmpl-');
  return {
    ...call,
    clientHeaders: undefined,
    body,
    bytes: Buffer.from(JSON.stringify(body)),
    answerId,
    includeUsage: false,
    beside,
    dropped,
  };
}

function messageAnswer(answer: Answer, call: Call): Answer {
  return { ...answer, body: Buffer.from(JSON.stringify(messageFrom(answer, call))) };
}
