import { type Adapter, type Answer, type Call, isFault, type StreamCollector } from '../adapter.ts';
import { responseAnswer } from './responses-over-chat-answer.ts';
import { chatBody } from './responses-over-chat-request.ts';
import { ResponseStream } from './responses-over-chat-stream.ts';

/** Responses of a vendor that speaks chat: asked, read and streamed by its chat adapter. */
export function responsesOverChat(chat: Adapter): Adapter {
  return {
    ask: (call) => chat.ask(chatCall(call)),
    read(reply, contentType, call) {
      const answer = chat.read(reply, contentType, chatCall(call));
      return isFault(answer) ? answer : responseAnswer(answer, call);
    },
    stream: (call) => new ResponseStream(call, chat.stream(chatCall(call))),
    collect: (call) => new BridgedCollector(call, chat.collect(chatCall(call))),
    fault: chat.fault,
  };
}

class BridgedCollector implements StreamCollector {
  readonly meter: StreamCollector['meter'];
  readonly #call: Call;
  readonly #chat: StreamCollector;

  constructor(call: Call, chat: StreamCollector) {
    this.#call = call;
    this.#chat = chat;
    this.meter = chat.meter;
  }

  push(piece: Buffer): void {
    this.#chat.push(piece);
  }

  answer(...cut: Parameters<StreamCollector['answer']>): Answer {
    return responseAnswer(this.#chat.answer(...cut), this.#call);
  }
}

/** Asked for twice in each attempt: to ask, and to read. */
const known = new WeakMap<Call, Call>();

function chatCall(call: Call): Call {
  let chat = known.get(call);
  if (chat === undefined) {
    const body = chatBody(call);
    const answerId = call.answerId.replace(/^resp_/, 'chatcmpl-');
    known.set(call, (chat = { ...call, body, bytes: Buffer.from(JSON.stringify(body)), includeUsage: true, answerId }));
  }
  return chat;
}
