import type { Adapter, Answer, Call } from '../adapter.ts';
import { bridgeOver } from './bridge.ts';
import { messageFrom } from './messages-over-chat-answer.ts';
import { chatBodyFrom } from './messages-over-chat-ask.ts';
import { MessageEvents } from './messages-over-chat-stream.ts';

/** `/v1/messages` for models whose vendor speaks chat (wire-formats §4.2 and §4.3, read the other way round). `marks`: it reads `cache_control`. */
export function messagesOverChat(chat: Adapter, marks = false): Adapter {
  return bridgeOver(chat, {
    toChat: (call) => messagesAsChat(call, marks),
    answer: messageAnswer,
    stream: (call, translator) => new MessageEvents(call, translator),
  });
}

/** The same request as a chat completion. Throws the Refusal of what chat has no word for. */
export function messagesAsChat(call: Call, marks: boolean): Call {
  const body = chatBodyFrom(call, marks);
  const answerId = call.answerId.replace(/^msg_/, 'chatcmpl-');
  return {
    ...call,
    clientHeaders: undefined,
    body,
    bytes: Buffer.from(JSON.stringify(body)),
    answerId,
    includeUsage: false,
  };
}

function messageAnswer(answer: Answer, call: Call): Answer {
  return { ...answer, body: Buffer.from(JSON.stringify(messageFrom(answer, call))) };
}
