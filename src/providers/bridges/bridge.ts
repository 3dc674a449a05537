import {
  type Documented,
  type JsonObject,
  objectOf,
  objectsOf,
  parse,
  stringEnd,
  textOf,
} from '../../base/json.ts';
import type { Quantities } from '../../base/quantities.ts';
import { Refusal } from '../../base/refusal.ts';
import {
  type Adapter,
  type VendorAnswer,
  type VendorRequest,
  type VendorCall,
  type StreamMeter,
  type StreamTranslator,
  translatedCall,
} from '../adapter.ts';
import { isFault } from '../formats/fault.ts';
import type { ChatCompletion, ChatMessage } from '../formats/openai-chat/types.ts';

/** Chat's path of a member → the client's path of it. */
export type PathNames = Readonly<Record<string, string>>;

const noNames: PathNames = {};

/** The translation of one client format to chat, and of chat's answers back. */
interface Bridge {
  /**
   * The same request as a chat completion. Throws the Refusal of a member that chat cannot express.
   */
  readonly toChat: (call: VendorCall) => VendorCall;
  /**
   * Chat's paths of members that the client's format names otherwise (`response_format` →
   * `text.format`), for `x-tollgate-dropped` and refusals. The longest path that fits counts; a
   * path that is not listed is the same in both.
   */
  readonly names?: (call: VendorCall) => PathNames;
  readonly answer: (answer: VendorAnswer, call: VendorCall) => VendorAnswer;
  readonly stream: (call: VendorCall, chat: StreamTranslator) => StreamTranslator;
}

/**
 * An adapter of a client format for a vendor that has chat: the vendor's chat adapter writes the
 * request and reads the answer.
 */
export function bridgeOver(
  chat: Adapter,
  { toChat, answer, stream, names = () => noNames }: Bridge,
): Adapter {
  const chatCall = (call: VendorCall): VendorCall => call.translated ?? toChat(call);
  const { needsBytes, unsigned } = chat;
  return {
    translate: (call) => ({ ...call, translated: translatedCall(chat, toChat(call)) }),
    ask: (call) => requestOver(chat, chatCall(call), () => names(call)),
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

/** The vendor's request, with dropped and unsupported members in the client's own names. */
function requestOver(chat: Adapter, call: VendorCall, namesOf: () => PathNames): VendorRequest {
  let ask: VendorRequest;
  try {
    ask = chat.ask(call);
  } catch (error) {
    if (!(error instanceof Refusal) || error.param === null) throw error;
    throw refusalWithClientPath(error, error.param, clientPath(error.param, namesOf()));
  }
  const { dropped = [], unsupported } = ask;
  if (ask.dropped === undefined && call.dropped === undefined && unsupported === undefined)
    return ask;
  const names = namesOf();
  const own: Pick<VendorRequest, 'dropped'> = {
    dropped: [...(call.dropped ?? []), ...dropped.map((path) => clientPath(path, names))],
  };
  if (unsupported === undefined) return Object.assign({}, ask, own);
  const refused: Pick<VendorRequest, 'unsupported'> = {
    unsupported: { param: clientPath(unsupported.param, names), why: unsupported.why },
  };
  return Object.assign({}, ask, own, refused);
}

function refusalWithClientPath(why: Refusal, param: string, own: string): Refusal {
  if (own === param) return why;
  return new Refusal(
    why.refusal,
    why.message.replaceAll(`'${param}'`, `'${own}'`),
    own,
    why.retryAfterMs,
  );
}

/** The client's path of a member that chat calls `path`. */
function clientPath(path: string, names: PathNames): string {
  for (let end = path.length; end > 0; end = path.lastIndexOf('.', end - 1)) {
    const own = names[path.slice(0, end)];
    if (own !== undefined) return own + path.slice(end);
  }
  return path;
}

/** The member, if it has a value. */
export const given = (member: string, value: unknown): JsonObject =>
  value === undefined || value === null ? {} : { [member]: value };

/** The chat completion of a whole answer. */
export const completionOf = ({ body }: VendorAnswer): Documented<ChatCompletion> =>
  objectOf(parse(body.toString('utf8'))) ?? {};

/** A picture that the model made, in base64. */
export interface MadePicture {
  readonly mimeType: string;
  readonly data: string;
}

export function picturesIn(message: Documented<ChatMessage>): MadePicture[] {
  return objectsOf(message.images).flatMap((image) => {
    const url = textOf(objectOf(image.image_url)?.url) ?? '';
    const [, mimeType, data] = /^data:([\w/+.-]+);base64,(.*)$/s.exec(url) ?? [];
    return mimeType === undefined || data === undefined ? [] : [{ mimeType, data }];
  });
}

/**
 * The JSON text of a chunk that has text and nothing else, as nearly every chunk does: its bytes
 * become the event's, unparsed. `head` cannot match inside a string, where its quotes would be
 * escaped.
 */
export function plainTextOf(json: string, head: string): string | undefined {
  const at = json.indexOf(head);
  if (at < 0) return undefined;
  const start = at + head.length - 1;
  const end = stringEnd(json, start);
  return json.charCodeAt(end) === 0x7d && json.indexOf('"finish_reason":"', end) < 0
    ? json.slice(start, end)
    : undefined;
}

/**
 * A chat stream, which the vendor's own adapter has normalized, in another format of a client's.
 */
export abstract class StreamOverChat implements StreamTranslator {
  readonly meter: StreamMeter;
  readonly #chat: StreamTranslator;
  #ended = false;

  constructor(chat: StreamTranslator) {
    this.#chat = chat;
    this.meter = chat.meter;
  }

  /** The client's events for one chunk, which is JSON text in `latin1`. */
  protected abstract readonly chunk: (json: string) => string;

  /** The client's last events, after those of all chunks. `cut`: the answer is cut short. */
  protected abstract conclude(quantities: Quantities | undefined, cut: boolean): string;

  push(piece: Buffer): string {
    return mapChunks(this.#chat.push(piece), this.chunk);
  }

  end(): string {
    const out = mapChunks(this.#chat.end(), this.chunk);
    return this.meter.fault === undefined ? out + this.#last(this.meter.quantities, false) : out;
  }

  cutShort(quantities: Quantities): string {
    return mapChunks(this.#chat.cutShort(quantities), this.chunk) + this.#last(quantities, true);
  }

  #last(quantities: Quantities | undefined, cut: boolean): string {
    if (this.#ended) return '';
    this.#ended = true;
    return this.conclude(quantities, cut);
  }
}

/** A chat adapter writes JSON without line ends, so that each event is a line. */
function mapChunks(chunks: string, translate: (json: string) => string): string {
  let out = '';
  for (let at = 0; at < chunks.length; ) {
    const end = chunks.indexOf('\n', at);
    const stop = end < 0 ? chunks.length : end;
    if (chunks.startsWith('data: {', at)) out += translate(chunks.slice(at + 6, stop));
    at = stop + 1;
  }
  return out;
}
