import type { IncomingHttpHeaders } from 'node:http';
import type { Principal } from '../accounts/principal.ts';
import type { SynchronousCapability } from '../base/capability.ts';
import type { Quantities } from '../base/quantities.ts';
import type { Refusal } from '../base/refusal.ts';
import type { ClientResponse } from '../http/client-response.ts';
import type { Pass } from '../limits/limiter.ts';
import type { MediaReference } from '../providers/adapter.ts';
import type {
  ImageRequest,
  TranscriptionRequest,
  SpeechRequest,
} from '../providers/media-request.ts';

/**
 * A medium that the client gave by its address, and how its format says the same with the bytes in
 * place.
 */
export interface MediaAddress extends MediaReference {
  /** The parameter that holds the address: what a refusal names. */
  readonly param: string;
  /** The parameter that is replaced when the bytes go along, and by what. */
  readonly place: string;
  written(type: string, base64: string): unknown;
}

/** The size of a request in the units that models of its kind are sold by. */
export interface KnownSize {
  /** The most that a vendor can count. */
  readonly most: Quantities;
  /**
   * Seconds or characters, measured here: what is charged where the price is by these and the
   * vendor does not tell.
   */
  readonly measured: Quantities;
  /**
   * What its input is taken for in tokens, where the price is by these and the vendor does not
   * tell.
   */
  readonly likely: Quantities;
  /** Of pictures: what one of them is. Tokens count only where the vendor does not tell. */
  readonly picture?: { readonly measured: Quantities; readonly likely: Quantities };
  /** What the price may distinguish, the most telling name first. */
  readonly variants?: readonly string[];
}

/** What the client asked, as its endpoint understood it (api/ parses, the pipeline trusts). */
export interface ApiRequest {
  readonly id: string;
  readonly principal: Principal;
  readonly capability: SynchronousCapability;
  readonly model: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly bytes: Buffer;
  /** The client's own, where its format has some that a vendor of the same format reads. */
  readonly headers?: IncomingHttpHeaders;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /**
   * How many answers are asked for: `n`. 0: nothing is written, the answer is vectors or scores.
   */
  readonly choices: number;
  readonly outputTokensAsked: number | undefined;
  /**
   * What the client's content consists of beside text: modality → the parameter where it first
   * occurs.
   */
  readonly media: ReadonlyMap<string, string>;
  /**
   * How many pieces of media there are, and how many of the body's bytes they take: they are not
   * text to be counted.
   */
  readonly mediaCount: number;
  readonly mediaBytes: number;
  /** Those of them that came as an address; undefined when none did. */
  readonly addresses?: readonly MediaAddress[] | undefined;
  /**
   * The most tokens that its text can be, where the body's length does not tell: it came as tokens,
   * or is read more than once.
   */
  readonly textTokensMax?: number;
  /**
   * The most units that it can be charged for, where the price is for one and it may be several.
   */
  readonly units?: number;
  readonly image?: ImageRequest;
  readonly listen?: TranscriptionRequest;
  readonly speak?: SpeechRequest;
  /**
   * What is known of its size beforehand. Then all that it can cost is reserved before it starts.
   */
  readonly sized?: KnownSize;
  /**
   * Everything in it that a model reads as text, for counting. Empty where it came as tokens, or is
   * too much to be counted: then it is estimated.
   */
  text(): string;
  /** Id of the answer, in the form of its endpoint. */
  readonly answerId: string;
  /**
   * Members whose values mean "not set". `body` and `bytes` are without them, and
   * `x-tollgate-dropped` names them.
   */
  readonly dropped?: readonly string[] | undefined;
  /**
   * Called once, when its money is set aside and before any vendor hears of it. What it throws ends
   * the request.
   */
  readonly begin?: () => Promise<void>;
  /**
   * Remembers the answer, of which this is the whole or the end, once it is paid for and before its
   * last byte leaves.
   */
  readonly keep?: (last: Buffer) => Promise<void>;
}

/**
 * What requests have in common whose answer is not written: vectors, scores, pictures, sound. They
 * bring no media, unless they say so.
 */
export const defaultsWithoutText = {
  includeUsage: true,
  choices: 0,
  outputTokensAsked: undefined,
  media: new Map<string, string>(),
  mediaCount: 0,
  mediaBytes: 0,
} as const satisfies Partial<ApiRequest>;

/**
 * How the client's format ends a stream, breaks one, keeps one open, and tells of limits. api/
 * knows the shapes, the pipeline only when.
 */
export interface ClientFormat {
  /** The end mark: sent once the charge is committed. */
  readonly done: string;
  /** Sent while the model is silent. Empty: there is nothing that could be. */
  readonly keepAlive: string;
  /**
   * `nextEvent`: its number, in formats that number their events. Undefined: the connection breaks,
   * since bytes of sound say nothing of errors.
   */
  readonly errorEvent:
    | ((error: Refusal, requestId: string, nextEvent: number) => string)
    | undefined;
  /**
   * A whole answer as the end of a stream, for vendors that do not stream what clients may want
   * streamed. Latin1.
   */
  readonly wholeAsEvents?: (answer: Buffer) => string;
  limitHeaders(pass: Pass, reply: ClientResponse): void;
  /**
   * For vendors that told no usage: our own count, in a whole answer and as an event (`created` in
   * Unix seconds) of a stream that was asked for it.
   */
  readonly counted?: {
    whole(answer: Buffer, quantities: Quantities): Buffer;
    event(request: ApiRequest, created: number, quantities: Quantities): string;
  };
}
