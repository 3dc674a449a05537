import { assert } from '../base/assert.ts';
import type { Fault } from '../base/fault.ts';
import type { JsonChange } from '../base/json-edit.ts';
import type { Quantities } from '../base/quantities.ts';
import type { EnclosedFile } from '../http/spool.ts';
import type { ImageRequest, TranscriptionRequest, SpeechRequest } from './media-request.ts';

/**
 * One client request as an adapter sees it. Read-only: a retry on another channel reuses it.
 * The hub format is OpenAI's chat completion (DESIGN §4).
 */
export interface VendorCall {
  /** The client's body, parsed and validated by api/. */
  readonly body: Readonly<Record<string, unknown>>;
  /**
   * The client's body as it was sent. An adapter of the same format edits spans of these bytes and
   * never re-encodes them.
   */
  readonly bytes: Buffer;
  /** The id the client wrote in `model`, and what answers carry in `model`. */
  readonly publicModel: string;
  /** The vendor's id for it. */
  readonly upstreamModel: string;
  /** The client asked for a stream. */
  readonly stream: boolean;
  /** The client set `stream_options.include_usage`. */
  readonly includeUsage: boolean;
  /**
   * Ask the vendor for a stream: always when `stream`, and for whole answers when money is short
   * (till.md §5).
   */
  readonly streamUpstream: boolean;
  /**
   * Set only when the vendor's limit has to be lower than the client's: the model cannot write so
   * much, or the reserve cannot pay for it.
   */
  readonly outputTokensMax: number | undefined;
  /** The client's headers, in formats where some of them belong to the request. */
  readonly clientHeaders?: Readonly<Record<string, string | string[] | undefined>> | undefined;
  /** What is remembered of the calls that `unsigned` named. */
  readonly signatures?: Signatures;
  /**
   * Where pictures are asked for: what the body and the files beside it say. `bytes` is empty when
   * the client did not send JSON.
   */
  readonly image?: ImageRequest | undefined;
  /** Where sound is to be written down, and where text is to be read aloud. */
  readonly transcription?: TranscriptionRequest | undefined;
  readonly speech?: SpeechRequest | undefined;
  /**
   * Changes of the client's body that keep the answer within the reserved amount: limits on tools
   * that the vendor runs, and the vendor's names of other models that the body names.
   */
  readonly bounds?: readonly JsonChange[] | undefined;
  /**
   * The client asked for another tier or speed than the standard one. The adapter reads from the
   * answer which one served it.
   */
  readonly asksForTier?: boolean | undefined;
  /** Id of the answer: `chatcmpl-…`. */
  readonly answerId: string;
  /** Unix seconds, for answers whose vendor gives no time of its own. */
  readonly created: number;
  /**
   * Set by a bridge: the members of the client's request that chat has no word for, in the client's
   * names (`Ask.dropped`).
   */
  readonly dropped?: readonly string[] | undefined;
  /**
   * Set by a bridge: values of the client's format that chat has no word for. An adapter lists
   * those that it reads (`Adapter.reads`).
   */
  readonly messagesOptions?: MessagesOptions | undefined;
  /** A bridge's note on this very call: a copy of the call has it, too, and means another. */
  bridged?: { readonly of: VendorCall; readonly chat: VendorCall } | undefined;
}

/** Values of Anthropic's format that OpenAI's chat has no word for. */
export interface MessagesOptions {
  /** `top_k`. */
  readonly topK?: number | undefined;
  /** `thinking.budget_tokens`, of which `reasoning_effort` is an approximation. */
  readonly budget?: number | undefined;
  /** The header `anthropic-beta`. */
  readonly betas?: readonly string[] | undefined;
}

/**
 * What a vendor wants back with its tool calls: which call → what was signed. Both are opaque to
 * everybody but adapters.
 */
export type Signatures = ReadonlyMap<string, string>;

/** Something that the client gave by its address. */
export interface MediaReference {
  readonly url: string;
  readonly kind: 'image' | 'file' | 'video';
  /** As the client calls it. */
  readonly name: string | undefined;
}

export type HttpMethod = 'POST' | 'GET' | 'PUT' | 'DELETE';

/** What to send: `path` is appended to the channel's base URL. */
export interface VendorRequest {
  /** POST, unless said. Those of others are empty. */
  readonly method?: HttpMethod;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /**
   * Members of the client's request that are not sent to this vendor, by their paths in the
   * client's format (`metadata`, `messages[].name`). `x-tollgate-dropped` names them.
   */
  readonly dropped?: readonly string[] | undefined;
  /**
   * A member that the vendor itself is known to refuse. Other channels are asked first. Where none
   * takes the request, this vendor is asked, for its message.
   */
  readonly unsupported?: UnsupportedParam;
  /**
   * What follows the body: files that nobody holds in memory, bytes between and after them, parts
   * of the client's own body. Nothing of a request whose body is signed.
   */
  readonly rest?: readonly (Buffer | EnclosedFile)[];
}

/** The facts in an answer, beside its quantities, on which its price depends. */
export interface PricingFacts {
  /** The vendor's name of the tier or speed that served it. */
  readonly servedTier?: string | undefined;
  /** The vendor's name of the model that answered, where it may be another than the asked one. */
  readonly model?: string | undefined;
  /**
   * The calls of models that made the answer, where they are several. The answer's quantities are
   * their sum.
   */
  readonly parts?: readonly UsagePart[] | undefined;
}

/**
 * `model`: the vendor's name of it, where the answer has it. `painted`: pictures within a text
 * answer, with the `variant` of a price.
 */
export interface UsagePart {
  readonly quantities: Quantities;
  readonly model?: string | undefined;
  readonly isImageUsage?: true;
  readonly variant?: string | undefined;
}

/**
 * A member that a vendor does not take, by its path in the client's format, and the reason as a
 * sentence.
 */
export interface UnsupportedParam {
  readonly param: string;
  readonly why: string;
}

/**
 * A whole answer in the client's format. `quantities` is undefined when the vendor told no usage;
 * then `outputText` is what to count (it is empty otherwise).
 */
export interface VendorAnswer {
  readonly body: Buffer;
  /** The content type, where it is no JSON. */
  readonly type?: string;
  readonly quantities: Quantities | undefined;
  readonly pricingFacts?: PricingFacts | undefined;
  readonly upstreamId: string | undefined;
  readonly outputText: string;
  /** Of its tool calls: to be remembered, because most clients do not bring it back. */
  readonly signatures?: Signatures | undefined;
  /** The quantities are an estimate of ours. */
  readonly estimated?: boolean;
  /**
   * What it shows. Then `body` is the answer without them, and they are had and written in before
   * anything is charged.
   */
  readonly pictures?: readonly GeneratedImage[];
}

/** A picture that a vendor has made: at hand, or behind an address that no client ever sees. */
export interface GeneratedImage {
  readonly from:
    | { readonly base64: string }
    | {
        readonly url: string /** Which its host wants to see. */;
        readonly headers?: Readonly<Record<string, string>>;
      };
  /** What the vendor has made of the client's prompt. */
  readonly revisedPrompt?: string | undefined;
}

/**
 * The vendor has taken the request and is asked again for what became of it. What it has taken is
 * never sent to another.
 */
export interface PendingAnswer {
  /**
   * GET, mostly. `url` is where the vendor wants to be asked, and used if that is a host of its own
   * (`Vendor.domains`); otherwise it is `path`.
   */
  readonly ask: VendorRequest & { readonly url?: string };
  /** Before it is sent. Faults make it longer. */
  readonly afterMs: number;
  /**
   * A fault that `ended` is the vendor's own word that nothing will come. Any other (HTML, a state
   * that nobody wrote down) is asked again until the time is over.
   */
  readonly read: (
    reply: Buffer,
    contentType: string,
    call: VendorCall,
  ) => VendorAnswer | PendingAnswer | PendingFault;
  /** The adapter's, unless said. Here, too, only `ended` ends the wait. */
  readonly fault?: (...reply: Parameters<BaseAdapter['fault']>) => PendingFault;
  /** Stops the vendor's work, where it can be stopped: nobody waits for it any more. */
  readonly cancel?: VendorRequest;
}

/**
 * `gone`: the vendor knows nothing of what it took, which is believed of nobody at first
 * (`limits.later.goneAfterMs`).
 */
export type PendingFault = Fault & { readonly gone?: true };

/**
 * What a stream has told so far; the pipeline reads it after each push. A cut stream is charged by
 * this.
 */
export interface StreamMeter {
  /** The vendor's own count, as soon as it has told it. */
  quantities: Quantities | undefined;
  pricingFacts?: PricingFacts | undefined;
  /**
   * The vendor's count of the input, where it tells it before the answer: a cut stream is charged
   * by this and by what was delivered.
   */
  input?: Quantities | undefined;
  /**
   * Calls of tools that the vendor has run so far, by their results in the stream: a cut stream is
   * charged for them.
   */
  calls?: Quantities | undefined;
  /**
   * Bytes of text, reasoning and tool arguments delivered so far: the measure of progress, and of
   * the charge when there is no count.
   */
  outputBytes: number;
  /** The client was given its finish reason. */
  finished: boolean;
  /**
   * The vendor has said all that it will say (`[DONE]`, or its format's last event): settle now, do
   * not wait for the socket.
   */
  done: boolean;
  /** The vendor reported an error inside the stream. Nothing after it is forwarded. */
  fault: Fault | undefined;
  upstreamId: string | undefined;
  /** Of the tool calls of an answer that is whole. */
  signatures?: Signatures;
  /** The number of the client's next event, in formats that number them. */
  nextEvent?: number;
}

/**
 * One vendor stream on its way to one client. Synchronous and pure: bytes in, cut anywhere;
 * complete client events out, as `latin1` strings (one character a byte) so that untouched bytes
 * stay untouched. Never emits the final `data: [DONE]`: the pipeline does, after the charge is
 * committed.
 */
export interface StreamTranslator {
  readonly meter: StreamMeter;
  /** The content type of what the client gets, where that is no stream of events. */
  readonly type?: string;
  /** Returns the client's bytes for this piece, `''` when there are none yet. */
  push(piece: Buffer): string;
  /**
   * The vendor closed the stream (or `meter.done`). Returns what was held back: a missing usage
   * chunk, for instance. Sets `meter.fault` when the terminal event never came.
   */
  end(): string;
  /**
   * Money ended: the client's last events with finish reason `length`, usage included when it
   * asked.
   */
  cutShort(quantities: Quantities): string;
}

/** A vendor stream put together into a whole answer, for clients that did not ask for a stream. */
export interface StreamCollector {
  readonly meter: StreamMeter;
  push(piece: Buffer): void;
  /** The answer so far; `cut` gives it finish reason `length` and those quantities as its usage. */
  answer(cut?: Quantities): VendorAnswer;
}

/**
 * One capability in one wire format. Pure: no I/O, no clock, no ledger, no framework; writes to no
 * client and knows no price. `read` returns a Fault when a reply with a good status cannot be read
 * or is an error in disguise.
 */
export interface Adapter {
  ask(call: VendorCall): VendorRequest;
  read(reply: Buffer, contentType: string, call: VendorCall): VendorAnswer | Fault;
  stream(call: VendorCall): StreamTranslator;
  collect(call: VendorCall): StreamCollector;
  /**
   * Where the vendor takes less at a time than clients send: calls that make up this one, all of
   * them whole. Absent, or undefined: this call is one.
   */
  readonly split?: ((call: VendorCall) => SplitCall | undefined) | undefined;
  /**
   * Whether the bytes of a medium have to be in the request: this vendor does not read such an
   * address itself. Absent: it reads them all.
   */
  readonly needsBytes?: ((medium: MediaReference, call: VendorCall) => boolean) | undefined;
  /** The members of `Call.beside` that the adapter reads. */
  readonly readsMessagesOptions?: readonly (keyof MessagesOptions)[] | undefined;
  /**
   * The earlier tool calls of a request that came back without what was signed with them. Absent:
   * this vendor signs nothing.
   */
  readonly unsigned?: ((call: VendorCall) => readonly string[]) | undefined;
  fault(
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    reply: string,
  ): Fault;
}

/**
 * A question that costs nothing and is answered at once: how many tokens a request has. `body` is
 * the client's answer.
 */
export type BaseAdapter = Pick<Adapter, 'ask' | 'read' | 'fault'>;

/** A capability that is always answered as a whole. */
export interface WholeAdapter extends BaseAdapter {
  /**
   * Where the vendor takes less at a time than clients send: calls that make up this one, and how
   * their answers do. Undefined: this call is one.
   */
  readonly split?: ((call: VendorCall) => SplitCall | undefined) | undefined;
  /** For embeddings: the vendor reads text alone. Token ids are decoded before it is asked. */
  readonly textOnly?: boolean | undefined;
}

/** The same, where the answer may come later. */
export interface ImageAdapter extends Omit<WholeAdapter, 'read'> {
  read(reply: Buffer, contentType: string, call: VendorCall): VendorAnswer | PendingAnswer | Fault;
  /**
   * It is always answered later, and can be cancelled: a submission that nobody waits for any more
   * is seen through, and taken back.
   */
  readonly isAsync?: (call: VendorCall) => boolean;
  /**
   * Why this vendor's model does not make what is wished for: then it is not asked, and where
   * nobody makes it, this is the client's 400.
   */
  readonly misfit?: (call: VendorCall) => ImageMisfit | undefined;
}

/**
 * The same, where clients that want to see the picture come about can be shown. `outputBytes` of
 * the meter counts what they were shown.
 */
export interface StreamedImageAdapter extends WholeAdapter, Pick<ImageAdapter, 'misfit'> {
  stream(call: VendorCall, contentType: string): StreamTranslator;
}

/** `why` is a sentence that tells what is allowed. */
export interface ImageMisfit {
  readonly param: 'size' | 'image' | 'mask' | 'prompt';
  readonly why: string;
}

/**
 * Sound. A stream is only for clients that want one; `contentType` is that of the reply. What is
 * said in `outputBytes` is text, written down or read aloud.
 */
export interface AudioAdapter extends BaseAdapter {
  stream(call: VendorCall, contentType: string): StreamTranslator;
}

export interface SplitCall {
  readonly calls: readonly VendorCall[];
  readonly join: (answers: readonly VendorAnswer[]) => VendorAnswer;
  /**
   * Each is worth something by itself: when one fails, no more are asked, and the others are the
   * answer.
   */
  readonly independent?: true;
}

export function isFault(result: VendorAnswer | PendingAnswer | Fault): result is Fault {
  return 'kind' in result;
}

export function isPending(result: VendorAnswer | PendingAnswer | Fault): result is PendingAnswer {
  return 'afterMs' in result;
}

/** The wish of a call for pictures. */
export function imageRequestOf({ image }: VendorCall): ImageRequest {
  assert(image !== undefined, 'a call for pictures has a wish');
  return image;
}

export function transcriptionRequestOf({
  transcription: listen,
}: VendorCall): TranscriptionRequest {
  assert(listen !== undefined, 'a call for what was said has a recording');
  return listen;
}

export function speechRequestOf({ speech: speak }: VendorCall): SpeechRequest {
  assert(speak !== undefined, 'a call for a voice has a text');
  return speak;
}
