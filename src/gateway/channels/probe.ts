import assert from 'node:assert/strict';
import { lookup } from 'node:dns/promises';
import type { Clock } from '../../base/clock.ts';
import { bufferOf } from '../../base/json.ts';
import type { Quantities } from '../../base/quantities.ts';
import { messageOf } from '../../base/thrown.ts';
import type { Channel } from '../../catalog/snapshot.ts';
import type { Connection, ResponseHeaders } from '../../http/connection.ts';
import { decodeResponseBody } from '../../http/content-encoding.ts';
import { postControl } from '../../http/control-call.ts';
import { UpstreamCall, type UpstreamListener, type UpstreamTimes } from '../../http/upstream.ts';
import {
  type VendorAnswer,
  type VendorCall,
  type ImageAdapter,
  isPending,
} from '../../providers/adapter.ts';
import { isFault } from '../../providers/formats/fault.ts';
import type { AuthResult, Vendor } from '../../providers/vendor.ts';
import { withoutSecret } from '../error-mapping.ts';
import { OpenChannels, type OpenChannel } from './open-channels.ts';

/** Capabilities that cost only a few tokens, for checking whether a channel answers. */
export const probeCapabilities = ['chat', 'embeddings', 'moderations', 'rerank'] as const;
export type ProbeCapability = (typeof probeCapabilities)[number];

export type ProbeStage = 'resolve' | 'connect' | 'first_byte' | 'done';

export interface Probe {
  readonly channel: Channel;
  readonly capability: ProbeCapability;
  readonly model: string;
  readonly prompt: string;
}

/** How a vendor answered, in its own text: for operators, never for clients. */
export interface ProbeResult {
  readonly ok: boolean;
  readonly status: number | undefined;
  readonly quantities: Quantities | undefined;
  /** The vendor's error, or why there was no answer. */
  readonly error: string | undefined;
  readonly answer: string | undefined;
}

const times: UpstreamTimes = { firstByteTimeoutMs: 60_000, idleTimeoutMs: 30_000 };
const replyBytesMax = 4 * 1024 * 1024;
const errorCharsMax = 4_000;

/**
 * Sends a vendor a small request over its own connection, through the adapter that client requests
 * use. Charges no user and changes no breaker. Calls `onStage` at the end of each stage, with the
 * milliseconds since the beginning.
 */
export async function probe(
  vendors: ReadonlyMap<string, Vendor>,
  clock: Clock,
  order: Probe,
  onStage: (stage: ProbeStage, ms: number) => void,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const begun = clock.monotonicMs();
  const stage = (name: ProbeStage): void => onStage(name, Math.round(clock.monotonicMs() - begun));
  const openChannels = new OpenChannels(vendors, { now: () => clock.now(), post: postControl });
  try {
    const openChannel = openChannels.of(order.channel);
    const adapter = openChannel.adapter(order.capability);
    if (adapter === undefined)
      return failed(`${order.channel.vendor} is not asked for ${order.capability}`);
    const { hostname } = new URL(openChannel.upstream.urlOf('/'));
    await lookup(hostname.replace(/^\[|\]$/g, ''));
    stage('resolve');
    const result = await callOnce(openChannel, adapter, probeCallFor(order, clock), stage, signal);
    stage('done');
    return {
      ...result,
      error: result.error && errorTextWithout(order.channel.secret, result.error),
    };
  } catch (error) {
    return failed(errorTextWithout(order.channel.secret, messageOf(error)));
  } finally {
    void openChannels.close();
  }
}

/** Vendors repeat part of a key that they refuse, and some repeat all of it. */
const errorTextWithout = (secret: string | undefined, error: string): string =>
  withoutSecret(secret, error).slice(0, errorCharsMax);

const failed = (error: string): ProbeResult => ({
  ok: false,
  status: undefined,
  quantities: undefined,
  error,
  answer: undefined,
});

const bodies: Readonly<
  Record<ProbeCapability, (model: string, prompt: string) => Readonly<Record<string, unknown>>>
> = {
  chat: (model, prompt) => ({ model, messages: [{ role: 'user', content: prompt }] }),
  embeddings: (model, prompt) => ({ model, input: prompt }),
  moderations: (model, prompt) => ({ model, input: prompt }),
  rerank: (model, prompt) => ({ model, query: prompt, documents: [prompt, 'something else'] }),
};

function probeCallFor({ channel, capability, model, prompt }: Probe, clock: Clock): VendorCall {
  const body = bodies[capability](model, prompt);
  return {
    body,
    bytes: Buffer.from(JSON.stringify(body)),
    publicModel: model,
    upstreamModel: channel.models.get(model) ?? model,
    stream: false,
    includeUsage: false,
    streamUpstream: false,
    outputTokensMax: undefined,
    answerId: 'chatcmpl-test',
    created: Math.floor(clock.now() / 1_000),
  };
}

async function callOnce(
  openChannel: OpenChannel,
  adapter: ProbeAdapter,
  call: VendorCall,
  stage: (name: ProbeStage) => void,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const { path, headers, body, method = 'POST', rest } = adapter.ask(call);
  const at = openChannel.place(path, call.upstreamModel);
  const whole = { ...openChannel.sign, ...headers };
  const proof: AuthResult = (await openChannel.authorize?.({
    method,
    url: openChannel.upstream.urlOf(at),
    headers: whole,
    body: bufferOf(body),
  })) ?? { headers: {} };
  if ('kind' in proof) return failed(proof.message);
  const reply = await new Promise<Reply>((resolve, reject) => {
    const listener = new ReplyListener(stage, resolve, reject);
    const upstreamCall = new ProbeCall(listener, stage);
    signal.addEventListener('abort', () => upstreamCall.abort(), { once: true });
    signal.addEventListener('abort', () => reject(new Error('the browser left')), { once: true });
    openChannel.upstream.send(
      { method, path: at, headers: { ...whole, ...proof.headers }, body, rest },
      times,
      upstreamCall,
    );
  });
  return read(reply, adapter, call);
}

/** An adapter of any capability. Those of probes answer at once. */
type ProbeAdapter = Pick<ImageAdapter, 'ask' | 'read' | 'fault'>;

interface Reply {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: Buffer;
}

function read(
  { status, headers, body }: Reply,
  adapter: ProbeAdapter,
  call: VendorCall,
): ProbeResult {
  const plain = decodeResponseBody(body, headers.get('content-encoding'), replyBytesMax);
  if (status < 200 || status > 299) {
    const { message } = adapter.fault(status, headers.toObject(), plain.toString('utf8'));
    return { ...failed(plain.length === 0 ? message : plain.toString('utf8')), status };
  }
  const answer = adapter.read(plain, headers.get('content-type') ?? '', call);
  if (isFault(answer)) return { ...failed(answer.message), status };
  assert(!isPending(answer), 'a probe is answered at once');
  const { quantities } = answer;
  return { ok: true, status, quantities, error: undefined, answer: answerTextOf(answer) };
}

/** The part of an answer that a person would read. */
function answerTextOf({ body }: VendorAnswer): string {
  const text = body.toString('utf8');
  const content = /"content"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(text)?.[1];
  return (content === undefined ? text : String(JSON.parse(content))).slice(0, errorCharsMax);
}

class ProbeCall extends UpstreamCall {
  readonly #connected: () => void;

  constructor(listener: UpstreamListener, stage: (name: ProbeStage) => void) {
    super(listener);
    this.#connected = () => stage('connect');
  }

  override sent(connection: Connection): void {
    this.#connected();
    super.sent(connection);
  }
}

class ReplyListener implements UpstreamListener {
  readonly #stage: (name: ProbeStage) => void;
  readonly #resolve: (reply: Reply) => void;
  readonly #reject: (error: Error) => void;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #head: Omit<Reply, 'body'> | undefined;

  constructor(
    stage: (name: ProbeStage) => void,
    resolve: (reply: Reply) => void,
    reject: (error: Error) => void,
  ) {
    this.#stage = stage;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  head(status: number, headers: ResponseHeaders): void {
    this.#stage('first_byte');
    this.#head = { status, headers };
  }

  data(piece: Buffer): boolean {
    this.#bytes += piece.length;
    if (this.#bytes <= replyBytesMax) this.#pieces.push(piece);
    return true;
  }

  end(): void {
    if (this.#head !== undefined)
      this.#resolve({ ...this.#head, body: Buffer.concat(this.#pieces) });
    else this.#reject(new Error('the vendor closed the connection without an answer'));
  }

  failed(_stage: unknown, error: Error): void {
    this.#reject(error);
  }
}
