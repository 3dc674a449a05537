import type { IncomingHttpHeaders } from 'node:http';
import type { Principal } from '../accounts/principal.ts';
import type { SynchronousCapability } from '../base/capability.ts';
import type { Skeleton } from '../base/long-strings.ts';
import type { Nano } from '../base/money.ts';
import type { Quantities } from '../base/quantities.ts';
import type { Refusal } from '../base/refusal.ts';
import type { MediaReference } from '../providers/adapter.ts';
import type {
  ImageRequest,
  TranscriptionRequest,
  SpeechRequest,
} from '../providers/media-request.ts';

/**
 * A piece of media that the client sent as a URL, and how the client's format writes the same piece
 * with the bytes inline.
 */
export interface MediaAddress extends MediaReference {
  /** The parameter that holds the URL; a refusal names it. */
  readonly param: string;
  /** The parameter that the inline bytes replace. */
  readonly place: string;
  written(type: string, base64: string): unknown;
}

/** The size of a request in the units in which models of its kind are sold. */
export interface KnownSize {
  /** The most that a vendor can count. */
  readonly most: Quantities;
  /**
   * Seconds or characters, measured here. They are charged where the price is per second or
   * character and the vendor reports none.
   */
  readonly measured: Quantities;
  /**
   * The input estimated in tokens. It is charged where the price is per token and the vendor
   * reports none.
   */
  readonly likely: Quantities;
  /** For images: the size of one image. Tokens count only where the vendor reports none. */
  readonly image?: { readonly measured: Quantities; readonly likely: Quantities };
  /** The variants that the price may distinguish, the most specific name first. */
  readonly variants?: readonly string[];
}

/** The client's request as its endpoint parsed it: `api/` validates, the pipeline trusts. */
export interface ApiRequest {
  readonly id: string;
  readonly principal: Principal;
  readonly capability: SynchronousCapability;
  readonly model: string;
  /**
   * The models that may answer in place of `model`, in the order in which they are asked. Empty: no
   * other model may. Absent: the group's list holds.
   */
  readonly fallbacks?: readonly string[] | undefined;
  readonly body: Readonly<Record<string, unknown>>;
  /** The body as the client sent it. Empty once the answer begins to stream (`beginStream`). */
  bytes: Buffer;
  /** Set when `bytes` have long strings. */
  skeleton?: Skeleton | undefined;
  /** The client's headers, in formats where a vendor of the same format reads some of them. */
  readonly headers?: IncomingHttpHeaders;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** The client wants to read in the answer what it costs. */
  readonly tellsCost?: boolean;
  /**
   * How many answers the client requests: `n`. 0: the model writes no text; the answer is vectors
   * or scores.
   */
  readonly choices: number;
  readonly outputTokensRequested: number | undefined;
  /** The kinds of content beside text: modality → the parameter where it first occurs. */
  readonly media: ReadonlyMap<string, string>;
  /** The kinds of content that the answer is to have, where the client says so, and its member. */
  readonly answersIn?: { readonly kinds: readonly string[]; readonly param: string } | undefined;
  /** How many pieces of media the request has. */
  readonly mediaCount: number;
  /** How many of the body's bytes are text, and not media. */
  readonly textBytes: number;
  /** The media that came as a URL; undefined when none did. */
  readonly addresses?: readonly MediaAddress[] | undefined;
  /**
   * The most tokens that the text can be, where the body's length does not bound them: the text
   * came as tokens, or the model reads it more than once.
   */
  readonly textTokensMax?: number;
  /** The most units that the request can be charged for, where the price is per unit. */
  readonly units?: number;
  readonly image?: ImageRequest;
  readonly transcription?: TranscriptionRequest;
  readonly speech?: SpeechRequest;
  /**
   * The size known beforehand. Where it is set, the whole possible cost is reserved before the
   * start.
   */
  readonly sized?: KnownSize;
  /**
   * Everything in the request that a model reads as text, for counting. Empty where the text came
   * as tokens or is too long to count: then it is estimated.
   */
  text(): string;
  /** Id of the answer, in the format of the endpoint. */
  readonly answerId: string;
  /**
   * Members whose values mean "not set". `body` and `bytes` do not contain them, and the header
   * `x-tollgate-dropped` names them.
   */
  readonly dropped?: readonly string[] | undefined;
  /**
   * As `ClientResponse.beforeAttempts`, for an endpoint whose response has none of its own: a
   * response in the background is stored and told to its client here.
   */
  readonly beforeAttempts?: () => Promise<void>;
  /**
   * Remembers the answer once it is paid for and before its last byte leaves. `last` is the whole
   * answer or its end.
   */
  readonly keep?: (last: Buffer) => Promise<void>;
}

/**
 * Defaults of requests whose answer is not text: vectors, scores, images, audio. They bring no
 * media unless they set it.
 */
export const defaultsWithoutText = {
  includeUsage: true,
  choices: 0,
  outputTokensRequested: undefined,
  media: new Map<string, string>(),
  mediaCount: 0,
} as const satisfies Partial<ApiRequest>;

/**
 * How the client's format ends a stream, breaks it off, keeps it open, and tells usage and cost.
 * `api/` knows the shapes; the pipeline only decides when.
 */
export interface ClientFormat {
  /** The end mark: sent once the charge is committed. */
  readonly done: string;
  /** Sent while the model is silent. Empty: the format has nothing to send. */
  readonly keepAlive: string;
  /**
   * `nextEvent`: the event's number, in formats that number their events. Undefined: the connection
   * breaks, since a stream of audio bytes cannot carry an error.
   */
  readonly errorEvent:
    | ((error: Refusal, requestId: string, nextEvent: number) => string)
    | undefined;
  /**
   * The connection breaks after an error event: clients of this format take a stream that ends for
   * whole.
   */
  readonly breaksAfterError?: true;
  /**
   * Writes a whole answer as the end of a stream, for vendors that do not stream what clients may
   * want streamed: with what is charged, and the client's members that the vendor did not get.
   * Latin1.
   */
  readonly wholeAsEvents?: (
    answer: Buffer,
    quantities: Quantities,
    dropped: readonly string[] | undefined,
  ) => string;
  /**
   * For vendors that report no usage: writes our own count into a whole answer, or as an event
   * (`created` in Unix seconds) of a stream for which the client requested usage.
   */
  readonly counted?: {
    whole(answer: Buffer, quantities: Quantities): Buffer;
    event(request: ApiRequest, created: number, quantities: Quantities): string;
  };
  /**
   * Writes what was charged into a whole answer, or into the last events of a stream (latin1),
   * where `ApiRequest.tellsCost` is set.
   */
  readonly priced?: {
    whole(answer: Buffer, cost: Nano): Buffer;
    events(last: string, cost: Nano): string;
  };
}
