import {
  type Adapter,
  type Answer,
  type Call,
  isFault,
  type StreamTranslator,
} from '../adapter.ts';

/** How one client format is said in chat's words, and what chat answers in the format's own. */
export interface Bridge {
  /** The same request as a chat completion. Throws the Refusal of what chat has no word for. */
  readonly toChat: (call: Call) => Call;
  readonly answer: (answer: Answer, call: Call) => Answer;
  readonly stream: (call: Call, chat: StreamTranslator) => StreamTranslator;
}

/** A client format for a vendor that speaks chat: asked, read and streamed by its chat adapter. */
export function bridgeOver(chat: Adapter, { toChat, answer, stream }: Bridge): Adapter {
  /** Each attempt needs it twice: to ask, and to read. A weak map of calls would keep each until it has grown old. */
  const chatCall = (call: Call): Call => {
    if (call.bridged?.of !== call) call.bridged = { of: call, chat: toChat(call) };
    return call.bridged.chat;
  };
  const { needsBytes, unsigned } = chat;
  return {
    ask: (call) => chat.ask(chatCall(call)),
    read(reply, contentType, call) {
      const read = chat.read(reply, contentType, chatCall(call));
      return isFault(read) ? read : answer(read, call);
    },
    stream: (call) => stream(call, chat.stream(chatCall(call))),
    collect(call) {
      const collector = chat.collect(chatCall(call));
      return {
        meter: collector.meter,
        push: (piece) => collector.push(piece),
        answer: (cut) => answer(collector.answer(cut), call),
      };
    },
    needsBytes,
    unsigned: unsigned && ((call) => unsigned(chatCall(call))),
    fault: chat.fault,
  };
}
