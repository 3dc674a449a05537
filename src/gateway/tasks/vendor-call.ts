import type { Timers } from '../../base/clock.ts';
import { bufferOf } from '../../base/json.ts';
import type { Fault } from '../../base/fault.ts';
import { decodeResponseBody } from '../../http/content-encoding.ts';
import type { ResponseHeaders } from '../../http/connection.ts';
import {
  type CallStage,
  UpstreamCall,
  type UpstreamListener,
  type UpstreamTimes,
} from '../../http/upstream.ts';
import type { VendorRequest } from '../../providers/adapter.ts';
import { protocolFault } from '../../providers/formats/fault.ts';
import type { TaskAdapter, TaskFault } from '../../providers/task-adapter.ts';
import type { AuthResult } from '../../providers/vendor.ts';
import { transportFault } from '../attempt.ts';
import type { OpenChannel } from '../channels/open-channels.ts';
import { replyMsMax } from './parts.ts';

/**
 * How far a call came before it failed. `connecting`: nothing reached the vendor. `refused`: the
 * vendor refused. `waiting`: unknown.
 */
export interface TaskCallFailure {
  readonly fault: TaskFault;
  readonly stage: 'connecting' | 'refused' | 'waiting';
}

export type TaskCallResult = { readonly reply: Buffer } | TaskCallFailure;

export interface TaskCallLimits {
  /** The size of a response: it may hold an inline video. */
  readonly replyBytesMax: number;
  readonly times: UpstreamTimes;
}

/** One call to a vendor and its whole response, within `limits` and until `stop`. Never throws. */
export async function callVendor(
  timers: Timers,
  openChannel: OpenChannel,
  adapter: Pick<TaskAdapter, 'fault'>,
  request: VendorRequest,
  upstreamModel: string,
  { replyBytesMax, times }: TaskCallLimits,
  stop: AbortSignal,
): Promise<TaskCallResult> {
  const { upstream, authorize } = openChannel;
  const method = request.method ?? 'POST';
  const path = openChannel.place(request.path, upstreamModel);
  let headers = { ...openChannel.sign, ...request.headers };
  if (authorize !== undefined) {
    const proof = await proofOrFault(async () =>
      authorize({ method, url: upstream.urlOf(path), headers, body: bufferOf(request.body) }),
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
      whole.release();
      resolve({ fault, stage });
    };
    const leaving = leave(stopped);
    // Silence has its own limits; this one keeps a trickling response from outliving its task's
    // lease.
    const cancelTimeout = timers.after(
      replyMsMax(times),
      leave({ kind: 'timeout', message: 'the reply took too long' }),
    );
    whole.release = () => {
      cancelTimeout();
      stop.removeEventListener('abort', leaving);
    };
    stop.addEventListener('abort', leaving, { once: true });
    upstream.send({ method, path, headers, body: request.body }, times, call);
  });
}

const stopped: Fault = { kind: 'timeout', message: 'this process is shutting down' };

async function proofOrFault(authorize: () => Promise<AuthResult>): Promise<AuthResult> {
  try {
    return await authorize();
  } catch (error) {
    return transportFault(error);
  }
}

class WholeReply implements UpstreamListener {
  stop: () => void = () => {};
  /** Lets go of what waits for the reply. */
  release: () => void = () => {};
  readonly #bytesMax: number;
  readonly #adapter: Pick<TaskAdapter, 'fault'>;
  readonly #resolve: (called: TaskCallResult) => void;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #status = 0;
  #headers: ResponseHeaders | undefined;

  constructor(
    bytesMax: number,
    adapter: Pick<TaskAdapter, 'fault'>,
    resolve: (called: TaskCallResult) => void,
  ) {
    this.#bytesMax = bytesMax;
    this.#adapter = adapter;
    this.#resolve = resolve;
  }

  head(status: number, headers: ResponseHeaders): void {
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

  #read(): TaskCallResult {
    const good = this.#status >= 200 && this.#status < 300;
    let reply: Buffer;
    try {
      reply = decodeResponseBody(
        Buffer.concat(this.#pieces),
        this.#headers?.get('content-encoding'),
        this.#bytesMax,
      );
    } catch (error) {
      if (good) return { fault: protocolFault(String(error)), stage: 'waiting' };
      reply = Buffer.alloc(0); // Only the status remains to go by.
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

  #end(called: TaskCallResult): void {
    this.release();
    this.#resolve(called);
  }
}
