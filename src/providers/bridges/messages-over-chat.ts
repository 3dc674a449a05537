import type { Adapter, Answer, Call, StreamCollector } from '../adapter.ts';
import { isFault } from '../adapter.ts';
import { messageFrom } from './messages-over-chat-answer.ts';
import { chatBodyFrom } from './messages-over-chat-ask.ts';
import { MessageEvents } from './messages-over-chat-stream.ts';

/** `/v1/messages` for models whose vendor speaks chat (wire-formats §4.2 and §4.3, read the other way round). `marks`: it reads `cache_control`. */
export function messagesOverChat(chat: Adapter, marks = false): Adapter {
  const calls = new WeakMap<Call, Call>();
  const chatCall = (call: Call): Call => {
    let made = calls.get(call);
    if (made === undefined) calls.set(call, (made = chatCallFrom(call, marks)));
    return made;
  };
  return {
    ask: (call) => chat.ask(chatCall(call)),
    read(reply, contentType, call) {
      const answer = chat.read(reply, contentType, chatCall(call));
      return isFault(answer) ? answer : messageAnswer(answer, call);
    },
    stream: (call) => new MessageEvents(call, chat.stream(chatCall(call))),
    collect: (call) => collectorOver(chat.collect(chatCall(call)), call),
    fault: chat.fault,
  };
}

function chatCallFrom(call: Call, marks: boolean): Call {
  const { clientHeaders: _, ...rest } = call;
  const body = chatBodyFrom(call, marks);
  const answerId = call.answerId.replace(/^msg_/, 'chatcmpl-');
  return { ...rest, body, bytes: Buffer.from(JSON.stringify(body)), answerId, includeUsage: false };
}

function messageAnswer(answer: Answer, call: Call): Answer {
  return { ...answer, body: Buffer.from(JSON.stringify(messageFrom(answer, call))) };
}

function collectorOver(collector: StreamCollector, call: Call): StreamCollector {
  return {
    meter: collector.meter,
    push: (piece) => collector.push(piece),
    answer: (cut) => messageAnswer(collector.answer(cut), call),
  };
}
