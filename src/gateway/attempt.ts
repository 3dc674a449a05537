import { bufferOf } from '../base/json.ts';
import type { Fault } from '../base/fault.ts';
import { Refusal, refusal } from '../base/refusal.ts';
import { asError, errorCodeOf } from '../base/thrown.ts';
import type { Candidate } from '../catalog/snapshot.ts';
import { decodeResponseBody } from '../http/content-encoding.ts';
import type { ResponseHeaders } from '../http/connection.ts';
import {
  type CallStage,
  type Upstream,
  type UpstreamRequest,
  UpstreamCall,
  type UpstreamListener,
  type UpstreamTimes,
} from '../http/upstream.ts';
import type {
  VendorAnswer,
  VendorCall,
  BaseAdapter,
  HttpMethod,
  UnsupportedParam,
  StreamMeter,
} from '../providers/adapter.ts';
import { isFault, protocolFault } from '../providers/formats/fault.ts';
import type { Authorizer, AuthResult } from '../providers/vendor.ts';
import type { ApiRequest } from './api-request.ts';
import type { OpenChannel } from './channels/open-channels.ts';
import { outputLimit } from './models/offers.ts';
import type { GatewayLimits } from './parts.ts';
import type { QuoteResult } from './pricing/quote.ts';

/** How one attempt on one channel ended. */
export type AttemptResult =
  /** A whole answer; the client has nothing of it yet. */
  | { readonly kind: 'answer'; readonly answer: VendorAnswer }
  /** The vendor's stream ended and the client has all of it, except `tail` and the end mark. */
  | { readonly kind: 'streamed'; readonly meter: StreamMeter; readonly tail: string }
  /**
   * The account's money ended before the answer did. `past`: the answer is longer than the request
   * allows.
   */
  | { readonly kind: 'money_ended'; readonly meter: StreamMeter; readonly past?: true }
  /** The client went away. `sent`: the vendor had the request by then, and may have read it. */
  | { readonly kind: 'left'; readonly sent?: true }
  /**
   * Another attempt at the same answer was faster; this one was broken off before its first byte.
   */
  | { readonly kind: 'lost_race' }
  /**
   * Tollgate itself refuses, and the vendor does not: the request cannot be made for this vendor,
   * or its pictures cannot be stored.
   */
  | { readonly kind: 'own_refusal'; readonly why: Refusal }
  /** `status`: of the vendor's response, where there was one. */
  | {
      readonly kind: 'fault';
      readonly fault: Fault;
      readonly stage: CallStage;
      readonly status?: number | undefined;
    };

/** Whether the vendor gave an answer, or as much of it as the money pays for. */
export const wasAnswered = ({ kind }: AttemptResult): boolean =>
  kind === 'answer' || kind === 'streamed' || kind === 'money_ended';

/** Why no call is made: the result of an attempt that ends while its request is prepared. */
export type NotSent = Extract<AttemptResult, { kind: 'own_refusal' | 'left' }>;

/** Takes the body of a vendor's response after its head. */
export interface Receiver {
  /** How far the client's response has come; absent: the client has nothing yet. */
  readonly stage?: CallStage;
  /** Returns false to pause the vendor. */
  data(piece: Buffer): boolean;
  /**
   * The vendor closed in good order. Returns undefined when the receiver ends the attempt later
   * itself.
   */
  end(): AttemptResult | undefined;
  /**
   * The connection broke. Returns a result where the receiver knows better than a network fault.
   */
  broken(): AttemptResult | undefined;
}

/** What becomes of a request with a member that its vendor is known to refuse. */
export type UnsupportedRequest = 'refuse_unsupported' | 'send_unsupported';

/** The refusal of a request that the vendor itself would refuse. The vendor has not been called. */
export class VendorRefusal extends Refusal {}

function vendorRefusal(model: string, { param, why }: UnsupportedParam): VendorRefusal {
  const { refusal: name, message } = refusal('unsupported_parameter', { model, param, why });
  return new VendorRefusal(name, message, param, undefined);
}

/** `contentType`: of the vendor's response. */
type MakeReceiver = (attempt: ChannelAttempt, contentType: string) => Receiver;

/**
 * One call to one channel. `result` resolves once, whether the vendor, the client or the lack of
 * money ends the call.
 */
export class ChannelAttempt implements UpstreamListener {
  readonly result: Promise<AttemptResult>;
  readonly upstreamCall: UpstreamCall;
  readonly adapter: BaseAdapter;
  readonly call: VendorCall;
  readonly limits: GatewayLimits;
  /** The client's members that the vendor's request leaves out; undefined: none. */
  dropped: readonly string[] | undefined;
  readonly #receive: MakeReceiver;
  /** The attempt has ended: nothing more of it may reach the client. */
  over = false;
  #receiver: Receiver | undefined;
  /** The status of the vendor's response, once its head is there. */
  #status: number | undefined;
  #resolve: (result: AttemptResult) => void = () => {};

  /** `receive` makes the receiver of a streamed response, when there is one. */
  constructor(
    adapter: BaseAdapter,
    call: VendorCall,
    limits: GatewayLimits,
    receive: MakeReceiver,
  ) {
    this.adapter = adapter;
    this.call = call;
    this.limits = limits;
    this.#receive = receive;
    this.result = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.upstreamCall = new UpstreamCall(this);
  }

  /**
   * Throws a Refusal when this vendor does not take the request. `unsupported`: whether a request
   * with a member that the vendor is known to refuse is refused here, or sent all the same.
   */
  start(openChannel: OpenChannel, unsupported: UnsupportedRequest): void {
    const request = this.adapter.ask(this.call);
    if (request.unsupported !== undefined && unsupported === 'refuse_unsupported')
      throw vendorRefusal(this.call.publicModel, request.unsupported);
    this.dropped = request.dropped;
    const times = this.call.streamUpstream ? this.limits.stream : this.limits.whole;
    const path = openChannel.place(request.path, this.call.upstreamModel);
    const method = request.method ?? 'POST';
    if (openChannel.authorize === undefined)
      openChannel.upstream.send(
        {
          method,
          path,
          sign: openChannel.sign,
          headers: request.headers,
          body: request.body,
          rest: request.rest,
        },
        times,
        this.upstreamCall,
      );
    else {
      const headers = Object.assign({}, openChannel.sign, request.headers);
      this.#prove(
        openChannel.upstream,
        openChannel.authorize,
        { method, path, headers, body: request.body, rest: request.rest },
        times,
      );
    }
  }

  /**
   * Sends a request once it carries its proof. Before that nothing has reached the vendor, so a
   * failure counts as one of connecting.
   */
  #prove(
    upstream: Upstream,
    authorize: Authorizer,
    request: UpstreamRequest & { readonly method: HttpMethod },
    times: UpstreamTimes,
  ): void {
    const send = (proof: AuthResult): void => {
      if (this.upstreamCall.over) return;
      if ('kind' in proof) this.#resolveWith({ kind: 'fault', stage: 'connecting', fault: proof });
      else
        upstream.send(
          { ...request, headers: Object.assign({}, request.headers, proof.headers) },
          times,
          this.upstreamCall,
        );
    };
    const proof = authorize({
      method: request.method,
      url: upstream.urlOf(request.path),
      headers: request.headers,
      body: bufferOf(request.body),
    });
    if (!(proof instanceof Promise)) send(proof);
    else
      proof.then(send, (error: unknown) =>
        this.#resolveWith({ kind: 'fault', stage: 'connecting', fault: transportFault(error) }),
      );
  }

  /** The vendor's answer is complete: ends the attempt with this result, unless it has ended. */
  endInGoodOrder(result: AttemptResult): void {
    this.upstreamCall.finish();
    this.#resolveWith(result);
  }

  /** Stops the vendor and ends the attempt with this result, unless it has ended. */
  abort(result: AttemptResult): void {
    const sent = result.kind === 'left' && this.upstreamCall.stage !== 'connecting';
    this.upstreamCall.abort();
    this.#resolveWith(sent ? leftAfterSending : result);
  }

  #resolveWith(result: AttemptResult): void {
    this.over = true;
    this.#resolve(result.kind === 'fault' ? { ...result, status: this.#status } : result);
  }

  head(status: number, headers: ResponseHeaders): void {
    this.#status = status;
    const contentType = headers.get('content-type') ?? '';
    const coding = headers.get('content-encoding');
    if (status < 200 || status > 299)
      this.#receiver = new ErrorReceiver(this, status, headers, coding);
    else if (this.#readsAsStream(contentType, coding))
      this.#receiver = this.#receive(this, contentType);
    else this.#receiver = new WholeReceiver(this, contentType, coding);
  }

  /**
   * A whole answer to a client that wants a stream also goes to the stream's translator, which
   * knows how to translate it.
   */
  #readsAsStream(contentType: string, coding: string | undefined): boolean {
    if (!this.call.streamUpstream || contentType.startsWith('text/html')) return false;
    return (
      !contentType.startsWith('application/json') || (this.call.stream && coding === undefined)
    );
  }

  data(piece: Buffer): boolean {
    return this.#receiver?.data(piece) ?? true;
  }

  end(): void {
    this.#resolveFromReceiver(() => this.#receiver?.end());
  }

  failed(stage: CallStage, error: Error): void {
    this.#resolveFromReceiver(
      () => this.#receiver?.broken() ?? { kind: 'fault', stage, fault: transportFault(error) },
    );
  }

  /**
   * Nothing more comes from the vendor: an error that an adapter throws over the last bytes must
   * not leave the client waiting.
   */
  #resolveFromReceiver(read: () => AttemptResult | undefined): void {
    try {
      const result = read();
      if (result !== undefined) this.#resolveWith(result);
    } catch (error) {
      this.#resolveWith({
        kind: 'fault',
        stage: this.#receiver?.stage ?? 'waiting',
        fault: protocolFault(String(error)),
      });
    }
  }
}

/** How an attempt ends when the client left while the vendor was at work. */
export const leftAfterSending: AttemptResult = { kind: 'left', sent: true };

export function transportFault(thrown: unknown): Fault {
  const error = asError(thrown);
  const code = errorCodeOf(error) ?? '';
  return {
    kind: code === 'ETIMEDOUT' ? 'timeout' : 'network',
    message: `${code} ${error.message}`.trim(),
    ofConnection: true,
  };
}

/** Reads a response once all of it has arrived. */
class WholeReceiver implements Receiver {
  readonly #attempt: ChannelAttempt;
  readonly #contentType: string;
  readonly #coding: string | undefined;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(attempt: ChannelAttempt, contentType: string, coding: string | undefined) {
    this.#attempt = attempt;
    this.#contentType = contentType;
    this.#coding = coding;
  }

  data(piece: Buffer): boolean {
    const { answerBytesMax } = this.#attempt.limits;
    this.#bytes += piece.length;
    if (this.#bytes <= answerBytesMax) this.#pieces.push(piece);
    else this.#attempt.abort(answerTooLarge(answerBytesMax));
    return true;
  }

  end(): AttemptResult {
    const { adapter, call, limits } = this.#attempt;
    const first = this.#pieces[0];
    const joined =
      this.#pieces.length === 1 && first !== undefined ? first : Buffer.concat(this.#pieces);
    const body =
      this.#coding === undefined
        ? joined
        : decodeResponseBody(joined, this.#coding, limits.answerBytesMax);
    const read = adapter.read(body, this.#contentType, call);
    if (isFault(read)) return { kind: 'fault', stage: 'waiting', fault: read };
    if (call.stream)
      return {
        kind: 'fault',
        stage: 'waiting',
        fault: protocolFault('a whole answer where a stream was asked for'),
      };
    return { kind: 'answer', answer: read };
  }

  broken(): AttemptResult {
    // Nothing of a whole answer has reached the client, so its loss is like silence: another
    // channel may get the request.
    return {
      kind: 'fault',
      stage: 'waiting',
      fault: { kind: 'network', message: 'the connection broke inside the answer' },
    };
  }
}

/** How an attempt ends whose answer is too large to be held. */
export const answerTooLarge = (bytesMax: number): AttemptResult => ({
  kind: 'fault',
  stage: 'waiting',
  fault: protocolFault(`the answer is larger than ${bytesMax} bytes`),
});

/** A response with an error status. Read up to a limit; the rest cannot change what it means. */
class ErrorReceiver implements Receiver {
  readonly #attempt: ChannelAttempt;
  readonly #status: number;
  readonly #headers: ResponseHeaders;
  readonly #coding: string | undefined;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(
    attempt: ChannelAttempt,
    status: number,
    headers: ResponseHeaders,
    coding: string | undefined,
  ) {
    this.#attempt = attempt;
    this.#status = status;
    this.#headers = headers;
    this.#coding = coding;
  }

  data(piece: Buffer): boolean {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes >= this.#attempt.limits.faultBytesMax) this.#attempt.abort(this.end());
    return true;
  }

  end(): AttemptResult {
    const { adapter, limits } = this.#attempt;
    const body = Buffer.concat(this.#pieces);
    let text: string;
    try {
      text = decodeResponseBody(body, this.#coding, limits.faultBytesMax).toString('utf8');
    } catch {
      text = ''; // Only the status remains to go by.
    }
    return {
      kind: 'fault',
      stage: 'waiting',
      fault: adapter.fault(this.#status, this.#headers.toObject(), text),
    };
  }

  broken(): AttemptResult {
    return this.end();
  }
}

/** The members of a funded request that go into its calls. */
interface CallBasis {
  readonly request: ApiRequest;
  readonly admitted: Pick<QuoteResult, 'offer' | 'quote'>;
  readonly reservedAt: number;
}

/** The call for one channel. */
export function vendorCallFor(
  { request, admitted: { offer, quote }, reservedAt }: CallBasis,
  candidate: Candidate,
  streamUpstream: boolean,
): VendorCall {
  const limit = outputLimit(request, offer.model);
  return {
    body: request.body,
    bytes: request.bytes,
    skeleton: request.skeleton,
    publicModel: request.model,
    upstreamModel: candidate.upstreamModel,
    stream: request.stream,
    includeUsage: request.includeUsage,
    streamUpstream,
    outputTokensMax: limit === request.outputTokensRequested ? undefined : limit,
    clientHeaders: request.headers,
    image: request.image,
    transcription: request.transcription,
    speech: request.speech,
    bounds: quote?.boundsFor(candidate),
    asksForTier: quote?.requestsMode,
    answerId: request.answerId,
    created: Math.floor(reservedAt / 1_000),
    dropped: undefined,
    messagesOptions: undefined,
    translated: undefined,
  };
}
