import type { Fault } from '../../base/fault.ts';
import { decoded } from '../../http/content-coding.ts';
import type { ReplyHeaders } from '../../http/reply-head.ts';
import {
  type CallStage,
  UpstreamCall,
  type UpstreamListener,
  type UpstreamTimes,
} from '../../http/upstream.ts';
import type { Ask, Proof } from '../../providers/adapter.ts';
import type { TaskAdapter, TaskFault } from '../../providers/task-adapter.ts';
import { protocolFault, transportFault } from '../attempt.ts';
import type { Lane } from '../lanes.ts';
import { longestMs } from './limits.ts';

/**
 * How far a contact came before it failed. `connecting`: the vendor has heard nothing. `refused`:
 * it has said no. `waiting`: nobody knows.
 */
export interface Failed {
  readonly fault: TaskFault;
  readonly stage: 'connecting' | 'refused' | 'waiting';
}

export type Contacted = { readonly reply: Buffer } | Failed;

export interface ContactLimits {
  /** Of a reply: an inline video is as long as one. */
  readonly replyBytesMax: number;
  readonly times: UpstreamTimes;
}

/** One question to a vendor and its whole reply, within `limits` and until `stop`. Never throws. */
export async function contact(
  lane: Lane,
  adapter: Pick<TaskAdapter, 'fault'>,
  ask: Ask,
  upstreamModel: string,
  { replyBytesMax, times }: ContactLimits,
  stop: AbortSignal,
): Promise<Contacted> {
  const { upstream, authorize } = lane;
  const method = ask.method ?? 'POST';
  const path = lane.place(ask.path, upstreamModel);
  let headers = { ...lane.sign, ...ask.headers };
  if (authorize !== undefined) {
    const proof = await proven(async () =>
      authorize({ method, url: upstream.urlOf(path), headers, body: ask.body }),
    );
    if ('kind' in proof) return { fault: proof, stage: 'connecting' };
    headers = { ...headers, ...proof.headers };
  }
  if (stop.aborted) return { fault: stopped, stage: 'connecting' };
  return new Promise((resolve) => {
    const whole = new WholeReply(replyBytesMax, adapter, resolve);
    const call = new UpstreamCall(whole);
    whole.stop = () => call.abort();
    const leave = (fault: Fault) => (): void => {
      const stage = call.stage === 'connecting' ? 'connecting' : 'waiting';
      call.abort();
      whole.over();
      resolve({ fault, stage });
    };
    const leaving = leave(stopped);
    // Silence has its own limits; a reply that trickles must not outlive its task's lease either.
    const late = setTimeout(
      leave({ kind: 'timeout', message: 'the reply took too long' }),
      longestMs(times),
    ).unref();
    whole.over = () => {
      clearTimeout(late);
      stop.removeEventListener('abort', leaving);
    };
    stop.addEventListener('abort', leaving, { once: true });
    upstream.post({ method, path, headers, body: ask.body }, times, call);
  });
}

const stopped: Fault = { kind: 'timeout', message: 'this process is shutting down' };

async function proven(authorize: () => Promise<Proof>): Promise<Proof> {
  try {
    return await authorize();
  } catch (error) {
    return transportFault(asError(error));
  }
}

const asError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(String(thrown));

class WholeReply implements UpstreamListener {
  stop: () => void = () => {};
  over: () => void = () => {};
  readonly #bytesMax: number;
  readonly #adapter: Pick<TaskAdapter, 'fault'>;
  readonly #resolve: (contacted: Contacted) => void;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #status = 0;
  #headers: ReplyHeaders | undefined;

  constructor(
    bytesMax: number,
    adapter: Pick<TaskAdapter, 'fault'>,
    resolve: (contacted: Contacted) => void,
  ) {
    this.#bytesMax = bytesMax;
    this.#adapter = adapter;
    this.#resolve = resolve;
  }

  head(status: number, headers: ReplyHeaders): void {
    this.#status = status;
    this.#headers = headers;
  }

  data(piece: Buffer): boolean {
    this.#bytes += piece.length;
    if (this.#bytes <= this.#bytesMax) this.#pieces.push(piece);
    else {
      this.stop();
      this.#end({
        fault: protocolFault(`the reply is larger than ${this.#bytesMax} bytes`),
        stage: 'waiting',
      });
    }
    return true;
  }

  end(): void {
    this.#end(this.#read());
  }

  #read(): Contacted {
    const good = this.#status >= 200 && this.#status < 300;
    let reply: Buffer;
    try {
      reply = decoded(
        Buffer.concat(this.#pieces),
        this.#headers?.get('content-encoding'),
        this.#bytesMax,
      );
    } catch (error) {
      if (good) return { fault: protocolFault(String(error)), stage: 'waiting' };
      reply = Buffer.alloc(0); // The status alone has to say it.
    }
    if (good) return { reply };
    return {
      fault: this.#adapter.fault(
        this.#status,
        this.#headers?.toObject() ?? {},
        reply.toString('utf8'),
      ),
      stage: 'refused',
    };
  }

  failed(stage: CallStage, error: Error): void {
    this.#end({
      fault: transportFault(error),
      stage: stage === 'connecting' ? 'connecting' : 'waiting',
    });
  }

  #end(contacted: Contacted): void {
    this.over();
    this.#resolve(contacted);
  }
}
