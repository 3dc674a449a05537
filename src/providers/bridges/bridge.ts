import { Refusal } from '../../base/refusal.ts';
import {
  type Adapter,
  type Answer,
  type Ask,
  type Call,
  isFault,
  type StreamTranslator,
} from '../adapter.ts';

/** Chat's paths, and the client's. */
export type Names = Readonly<Record<string, string>>;

const none: Names = {};

/** How one client format is said in chat's words, and what chat answers in the format's own. */
export interface Bridge {
  /** The same request as a chat completion. Throws the Refusal of what chat has no word for. */
  readonly toChat: (call: Call) => Call;
  /**
   * Chat's paths of members that the client's format names otherwise (`response_format` →
   * `text.format`), for `x-tollgate-dropped` and refusals. The longest path that fits counts; a
   * path that is not here is the same.
   */
  readonly names?: (call: Call) => Names;
  readonly answer: (answer: Answer, call: Call) => Answer;
  readonly stream: (call: Call, chat: StreamTranslator) => StreamTranslator;
}

/** A client format for a vendor that speaks chat: asked, read and streamed by its chat adapter. */
export function bridgeOver(
  chat: Adapter,
  { toChat, answer, stream, names = () => none }: Bridge,
): Adapter {
  /**
   * Each attempt needs it twice: to ask, and to read. A weak map of calls would keep each until it
   * has grown old.
   */
  const chatCall = (call: Call): Call => {
    if (call.bridged?.of !== call) call.bridged = { of: call, chat: toChat(call) };
    return call.bridged.chat;
  };
  const { needsBytes, unsigned } = chat;
  return {
    ask: (call) => askOver(chat, chatCall(call), () => names(call)),
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

/** The vendor's request, with what was left out in the client's own names. */
function askOver(chat: Adapter, call: Call, namesOf: () => Names): Ask {
  let ask: Ask;
  try {
    ask = chat.ask(call);
  } catch (error) {
    if (!(error instanceof Refusal) || error.param === null) throw error;
    throw renamed(error, error.param, ownName(error.param, namesOf()));
  }
  const { dropped = [], untaken } = ask;
  if (ask.dropped === undefined && call.dropped === undefined && untaken === undefined) return ask;
  const names = namesOf();
  const own = {
    dropped: [...(call.dropped ?? []), ...dropped.map((path) => ownName(path, names))],
  };
  return Object.assign(
    {},
    ask,
    own,
    untaken && { untaken: { param: ownName(untaken.param, names), why: untaken.why } },
  );
}

function renamed(why: Refusal, param: string, own: string): Refusal {
  if (own === param) return why;
  return new Refusal(
    why.refusal,
    why.message.replaceAll(`'${param}'`, `'${own}'`),
    own,
    why.retryAfterMs,
  );
}

/** The client's path of a member that chat calls `path`. */
export function ownName(path: string, names: Names): string {
  for (let end = path.length; end > 0; end = path.lastIndexOf('.', end - 1)) {
    const own = names[path.slice(0, end)];
    if (own !== undefined) return own + path.slice(end);
  }
  return path;
}
