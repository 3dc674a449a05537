import assert from 'node:assert/strict';
import type { Fault } from '../base/fault.ts';
import { type Bytes, type Documented, type JsonChange, type JsonObject } from '../base/json.ts';
import type { Skeleton } from '../base/long-strings.ts';
import type { Quantities } from '../base/quantities.ts';
import type { EnclosedFile } from '../http/spool.ts';
import type { ImageRequest, TranscriptionRequest, SpeechRequest } from './media-request.ts';

/**
 * One client request as an adapter sees it. Read-only: a retry on another channel reuses it. The
 * hub format is OpenAI's chat completion. `T`: the document of the client's body.
 */
export interface VendorCall<T = JsonObject> {
  /** The client's body, parsed and validated by api/. */
  readonly body: Documented<T>;
  /**
   * The client's body as it was sent. An adapter of the same format edits spans of these bytes and
   * never re-encodes them. Empty once the answer begins to stream, and no vendor is asked any more.
   */
  bytes: Buffer;
  /**
   * Set when the client's body has long strings. Where `bytes` are an edited copy of it, functions
   * that edit JSON ignore it.
   */
  skeleton?: Skeleton | undefined;
  /** The id that the client wrote in `model`, and that answers carry in `model`. */
  readonly publicModel: string;
  /** The vendor's id for it. */
  readonly upstreamModel: string;
  /** The client requested a stream. */
  readonly stream: boolean;
  /** The client set `stream_options.include_usage`. */
  readonly includeUsage: boolean;
  /** The vendor is to stream: always when `stream`, and for whole answers when money is short. */
  readonly streamUpstream: boolean;
  /**
   * Set only where the client asks for more than the model can write: then it is the model's limit.
   */
  readonly outputTokensMax: number | undefined;
  /** The client's headers, in formats where some of them belong to the request. */
  readonly clientHeaders?: Readonly<Record<string, string | string[] | undefined>> | undefined;
  /** The remembered signatures of the tool calls that `Adapter.unsigned` named. */
  readonly signatures?: Signatures;
  /**
   * The image request, read from the body and the attached files. `bytes` is empty when the client
   * did not send JSON.
   */
  readonly image?: ImageRequest | undefined;
  /** The request for a transcription, or for speech. */
  readonly transcription?: TranscriptionRequest | undefined;
  readonly speech?: SpeechRequest | undefined;
  /**
   * Changes of the client's body that keep the answer within the reserved amount: limits on tools
   * that the vendor runs, and the vendor's names of other models that the body names.
   */
  readonly bounds?: readonly JsonChange[] | undefined;
  /**
   * The client requested another tier or speed than the standard one. The adapter reads from the
   * answer which one served it.
   */
  readonly asksForTier?: boolean | undefined;
  /** Id of the answer: `chatcmpl-…`. */
  readonly answerId: string;
  /** Unix seconds, for answers whose vendor gives no time of its own. */
  readonly created: number;
  /**
   * Set by a bridge: the members of the client's request that chat cannot express, in the client's
   * names (`VendorRequest.dropped`).
   */
  readonly dropped?: readonly string[] | undefined;
  /**
   * Set by a bridge: values of the client's format that chat cannot express. An adapter lists those
   * that it reads (`Adapter.readsMessagesOptions`).
   */
  readonly messagesOptions?: MessagesOptions | undefined;
  /** Set by `Adapter.translate`: the same call in the format that the vendor reads. */
  readonly translated?: VendorCall | undefined;
}

/** Values of the client's format, Anthropic's or Google's, that OpenAI's chat has no word for. */
export interface MessagesOptions {
  /** `top_k`. */
  readonly topK?: number | undefined;
  /** `thinking.budget_tokens`, of which `reasoning_effort` is an approximation. */
  readonly budget?: number | undefined;
  /** Thinking of the type `adaptive` without an effort, of which `medium` is an approximation. */
  readonly adaptive?: boolean | undefined;
  /** The header `anthropic-beta`. */
  readonly betas?: readonly string[] | undefined;
}

/**
 * Signatures that a vendor requires back with its tool calls, by call. Only adapters interpret the
 * keys and values.
 */
export type Signatures = ReadonlyMap<string, string>;

/** A medium that the client gave by its address. */
export interface MediaReference {
  readonly url: string;
  readonly kind: 'image' | 'file' | 'video';
  /** The client's name for it. */
  readonly name: string | undefined;
}

export type HttpMethod = 'POST' | 'GET' | 'PUT' | 'DELETE';

/** The request to the vendor: `path` is appended to the channel's base URL. */
export interface VendorRequest {
  /** Absent: POST. With any other method the body is empty. */
  readonly method?: HttpMethod;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Bytes;
  /**
   * Members of the client's request that are not sent to this vendor, by their paths in the
   * client's format (`metadata`, `messages[].name`). `x-tollgate-dropped` names them.
   */
  readonly dropped?: readonly string[] | undefined;
  /**
   * A member that the vendor is known to refuse. Other channels get the request first. Where none
   * takes it, this vendor gets the request, for its error message.
   */
  readonly unsupported?: UnsupportedParam;
  /**
   * Content after `body`: files that are not held in memory, bytes between and after them, parts of
   * the client's own body. Not for a request whose body is signed.
   */
  readonly rest?: readonly (Buffer | EnclosedFile)[];
}

/** The facts in an answer, beside its quantities, on which its price depends. */
export interface PricingFacts {
  /** The vendor's name of the tier or speed that served it. */
  readonly servedTier?: string | undefined;
  /**
   * The vendor's name of the model that answered, where it may be another than the requested one.
   */
  readonly model?: string | undefined;
  /**
   * The usage by item, where models were called several times for the answer. The answer's
   * quantities are the sum of its items.
   */
  readonly items?: readonly UsageItem[] | undefined;
}

/**
 * `model`: the vendor's name of it, where the answer has it. `isImageUsage`: images within a text
 * answer, with the `variant` of a price.
 */
export interface UsageItem {
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
 * A whole answer in the client's format. `quantities` is undefined when the vendor reported no
 * usage; then the charge is counted from `outputText` (which is empty otherwise).
 */
export interface VendorAnswer {
  readonly body: Bytes;
  /** The content type, where it is no JSON. */
  readonly type?: string;
  readonly quantities: Quantities | undefined;
  readonly pricingFacts?: PricingFacts | undefined;
  readonly upstreamId: string | undefined;
  readonly outputText: string;
  /**
   * The signatures of its tool calls. The gateway remembers them, because most clients do not send
   * them back.
   */
  readonly signatures?: Signatures | undefined;
  /** The quantities are Tollgate's estimate. */
  readonly estimated?: boolean;
  /**
   * The generated images. Then `body` is the answer without them; they are fetched and added to it
   * before anything is charged.
   */
  readonly pictures?: readonly GeneratedImage[];
}

/** An image that a vendor has made: its bytes, or an address that no client ever sees. */
export interface GeneratedImage {
  readonly from:
    | { readonly base64: string }
    | {
        readonly url: string;
        /** Headers that the image's host requires. */
        readonly headers?: Readonly<Record<string, string>>;
      };
  /** The client's prompt as the vendor has rewritten it. */
  readonly revisedPrompt?: string | undefined;
}

/**
 * The vendor has accepted the request and is polled for its result. An accepted request is never
 * sent to another vendor.
 */
export interface PendingAnswer {
  /**
   * The next poll, usually a GET. `url` is the vendor's own address for it, used if its host
   * belongs to the vendor (`Vendor.domains`); otherwise `path` is used.
   */
  readonly poll: VendorRequest & { readonly url?: string };
  /** The delay before the poll. Faults make it longer. */
  readonly afterMs: number;
  /**
   * A fault with `ended` means that the vendor itself reports that there will be no result. After
   * any other fault (HTML, an undocumented state) the vendor is polled again until the time is
   * over.
   */
  readonly read: (
    reply: Buffer,
    contentType: string,
    call: VendorCall,
  ) => VendorAnswer | PendingAnswer | PendingFault;
  /** Absent: the adapter's `fault`. Here, too, only `ended` ends the wait. */
  readonly fault?: (...reply: Parameters<BaseAdapter['fault']>) => PendingFault;
  /**
   * Cancels the vendor's work when the client no longer waits for it. Absent where the vendor
   * cannot cancel.
   */
  readonly cancel?: VendorRequest;
}

/**
 * `gone`: the vendor does not know the request that it accepted. This is not believed at first
 * (`limits.asyncJobs.goneAfterMs`).
 */
export type PendingFault = Fault & { readonly gone?: true };

/**
 * The measurements of a stream so far; the pipeline reads them after each push. A cut stream is
 * charged by them.
 */
export interface StreamMeter {
  /** The vendor's own count, as soon as it reports it. */
  quantities: Quantities | undefined;
  pricingFacts?: PricingFacts | undefined;
  /**
   * The vendor's count of the input, where it reports it before the answer: a cut stream is charged
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
  /** The client has received its finish reason. */
  finished: boolean;
  /**
   * The vendor has sent its last event (`[DONE]`, or that of its format): settle now, do not wait
   * for the socket.
   */
  done: boolean;
  /** The vendor reported an error inside the stream. Nothing after it is forwarded. */
  fault: Fault | undefined;
  upstreamId: string | undefined;
  /** The signatures of the tool calls, once the answer is complete. */
  signatures?: Signatures;
  /** The number of the client's next event, in formats that number them. */
  nextEvent?: number;
}

export const newMeter = (): StreamMeter => ({
  quantities: undefined,
  outputBytes: 0,
  finished: false,
  done: false,
  fault: undefined,
  upstreamId: undefined,
});

/**
 * One vendor stream on its way to one client. Synchronous and pure: bytes in, cut anywhere;
 * complete client events out, as `latin1` strings (one character a byte) so that untouched bytes
 * stay untouched. Never emits the final `data: [DONE]`: the pipeline does, after the charge is
 * committed.
 */
export interface StreamTranslator {
  readonly meter: StreamMeter;
  /** The content type of the response, where it is no stream of events. */
  readonly type?: string;
  /** Returns the client's bytes for this piece, `''` when there are none yet. */
  push(piece: Buffer): string;
  /**
   * The vendor closed the stream (or `meter.done`). Returns the remaining client events, for
   * instance a missing usage chunk. Sets `meter.fault` when the terminal event never came.
   */
  end(): string;
  /**
   * The reserved funds are used up: returns the client's last events with finish reason `length`,
   * and with usage if the client requested it.
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
 * client and knows no price. `read` returns a Fault when a reply with a success status cannot be
 * read or contains an error.
 */
export interface Adapter {
  /**
   * The call with its translation to another format, so that the request and the answer of an
   * attempt share it. Applied last: a later change of the call does not change its translation.
   * Throws the Refusal of a member that the other format cannot express. Absent: the adapter does
   * not translate.
   */
  readonly translate?: ((call: VendorCall) => VendorCall) | undefined;
  ask(call: VendorCall): VendorRequest;
  read(reply: Buffer, contentType: string, call: VendorCall): VendorAnswer | Fault;
  stream(call: VendorCall): StreamTranslator;
  collect(call: VendorCall): StreamCollector;
  /**
   * Splits a call that is larger than the vendor takes at a time; none of the parts is streamed.
   * Absent, or undefined: the call is not split.
   */
  readonly split?: ((call: VendorCall) => SplitCall | undefined) | undefined;
  /**
   * Whether the request must contain the bytes of a medium, because this vendor does not fetch such
   * an address itself. Absent: it fetches them all.
   */
  readonly needsBytes?: ((medium: MediaReference, call: VendorCall) => boolean) | undefined;
  /** The members of `VendorCall.messagesOptions` that the adapter reads. */
  readonly readsMessagesOptions?: readonly (keyof MessagesOptions)[] | undefined;
  /**
   * Whether the adapter reads `is_error` of tool messages, an extension of chat. Absent: bridges
   * write it into the result's text.
   */
  readonly readsResultErrors?: ((call: VendorCall) => boolean) | undefined;
  /**
   * The earlier tool calls that the client sent back without their signatures. Absent: this vendor
   * signs nothing.
   */
  readonly unsigned?: ((call: VendorCall) => readonly string[]) | undefined;
  fault(
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    reply: string,
  ): Fault;
}

/**
 * The members common to all adapters. By itself: an adapter for a free query that is answered at
 * once, the number of tokens of a request. `body` is the client's answer.
 */
export type BaseAdapter = Pick<Adapter, 'ask' | 'read' | 'fault'>;

/** An adapter for a capability whose answers are whole. */
export interface WholeAdapter extends BaseAdapter {
  /**
   * Splits a call that is larger than the vendor takes at a time, and joins the answers. Undefined:
   * the call is not split.
   */
  readonly split?: ((call: VendorCall) => SplitCall | undefined) | undefined;
  /** For embeddings: the vendor reads text alone. Token ids are decoded before the request. */
  readonly textOnly?: boolean | undefined;
}

/** A whole adapter whose vendor may answer later, to a poll. */
export interface ImageAdapter extends Omit<WholeAdapter, 'read'> {
  read(reply: Buffer, contentType: string, call: VendorCall): VendorAnswer | PendingAnswer | Fault;
  /**
   * The vendor always answers later, and can cancel. When the client leaves during the submission,
   * the submission is completed and then cancelled.
   */
  readonly isAsync?: (call: VendorCall) => boolean;
  /**
   * The reason why this vendor's model cannot make the requested image. Then the channel gets no
   * request; where no channel can make it, the reason is the client's 400.
   */
  readonly misfit?: (call: VendorCall) => ImageMisfit | undefined;
}

/**
 * An image adapter that can stream partial images. `outputBytes` of the meter counts the images
 * that were sent.
 */
export interface StreamedImageAdapter extends WholeAdapter, Pick<ImageAdapter, 'misfit'> {
  stream(call: VendorCall, contentType: string): StreamTranslator;
}

/** `why` is a sentence that says what is allowed. */
export interface ImageMisfit {
  readonly param: 'size' | 'image' | 'mask' | 'prompt';
  readonly why: string;
}

/**
 * An adapter for transcription or speech. `stream` is called only for clients that want one;
 * `contentType` is that of the vendor's reply. `outputBytes` of the meter counts text, transcribed
 * or spoken.
 */
export interface AudioAdapter extends BaseAdapter {
  stream(call: VendorCall, contentType: string): StreamTranslator;
}

export interface SplitCall {
  readonly calls: readonly VendorCall[];
  readonly join: (answers: readonly VendorAnswer[]) => VendorAnswer;
  /**
   * Each call is useful by itself: when one fails, no further call is sent, and the other answers
   * are joined.
   */
  readonly independent?: true;
}

export function isPending(result: VendorAnswer | PendingAnswer | Fault): result is PendingAnswer {
  return 'afterMs' in result;
}

/** The call as this adapter translates it; the call itself if the adapter does not translate. */
export const translatedCall = ({ translate }: Adapter, call: VendorCall): VendorCall =>
  translate === undefined ? call : translate(call);

/** The image request of a call for images. */
export function imageRequestOf({ image }: VendorCall): ImageRequest {
  assert(image !== undefined, 'a call for images has an image request');
  return image;
}

export function transcriptionRequestOf({ transcription }: VendorCall): TranscriptionRequest {
  assert(transcription !== undefined, 'a call for a transcription has a recording');
  return transcription;
}

export function speechRequestOf({ speech }: VendorCall): SpeechRequest {
  assert(speech !== undefined, 'a call for speech has a text');
  return speech;
}
