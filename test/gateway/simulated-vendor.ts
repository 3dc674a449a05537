import type { Random } from '../../src/base/random.ts';
import { UpstreamTimeout, ResponseHeaders } from '../../src/http/connection.ts';
import type { UpstreamRequest, UpstreamCall, UpstreamTimes } from '../../src/http/upstream.ts';
import type { SimulatedProcess } from '../ledger/simulated-process.ts';
import type { VirtualTime } from '../ledger/virtual-time.ts';
import { type Answered, answerTo, type Script } from './vendor-answers.ts';

/** One call as its vendor saw it. */
export interface Asked {
  readonly call: number;
  readonly request: string;
  readonly channel: string;
  readonly process: SimulatedProcess;
  readonly status: number;
  /** What it would say, all of it. */
  readonly script: Script;
  readonly upstream: UpstreamCall;
  /** It has given some of its answer. */
  given: boolean;
}

/** The request that is asked for here: its prompt says so. */
const about = /secret words of (req_\w+)/;

/** All vendors of a world. They know no gateway, only calls. */
export class SimulatedVendors {
  /** From now on they answer. */
  calm = false;
  readonly asked: Asked[] = [];
  readonly #time: VirtualTime;
  readonly #random: Random;

  constructor(time: VirtualTime, random: Random) {
    this.#time = time;
    this.#random = random;
  }

  /** Some node waits for what a vendor has still to say. */
  get busy(): boolean {
    return this.asked.some(({ process, upstream }) => process.isAlive && !upstream.over);
  }

  /** Requests for which two of them are at work, on behalf of `process`. */
  hedgesOf(process: SimulatedProcess): number {
    const running = this.asked
      .filter((call) => call.process === process && !call.upstream.over)
      .map(({ request }) => request);
    return running.length - new Set(running).size;
  }

  /** A call from `process` arrives on a channel, and goes as chance will have it. */
  take(
    channel: string,
    process: SimulatedProcess,
    ask: UpstreamRequest,
    times: UpstreamTimes,
    call: UpstreamCall,
  ): void {
    const random = this.#random;
    const body = ask.body.toString();
    const request = about.exec(body)?.[1] ?? '';
    if (!this.calm && channel !== 'spare' && random() < 0.06) {
      this.#later(process, random() * 5_000, call, () =>
        call.failed(new Error('nobody answers there')),
      );
      return;
    }
    const number = this.asked.length;
    const answer = answerTo(body, ask.path, number, this.calm, channel === 'spare', random);
    const asked = {
      call: number,
      request,
      channel,
      process,
      status: answer.status,
      script: answer.script,
      upstream: call,
      given: false,
    };
    this.asked.push(asked);
    new Playing(this.#time, process, answer, times, call, random, asked).begin();
  }

  #later(process: SimulatedProcess, ms: number, call: UpstreamCall, run: () => void): void {
    this.#time.after(ms, () => process.deliver(() => call.over || run()));
  }
}

/** One answer on its way. */
class Playing {
  readonly #time: VirtualTime;
  readonly #process: SimulatedProcess;
  readonly #answer: Answered;
  readonly #times: UpstreamTimes;
  readonly #call: UpstreamCall;
  readonly #random: Random;
  readonly #asked: Asked;
  #at = 0;
  #paused = false;
  #waiting = false;

  constructor(
    time: VirtualTime,
    process: SimulatedProcess,
    answer: Answered,
    times: UpstreamTimes,
    call: UpstreamCall,
    random: Random,
    asked: Asked,
  ) {
    this.#time = time;
    this.#process = process;
    this.#answer = answer;
    this.#times = times;
    this.#call = call;
    this.#random = random;
    this.#asked = asked;
  }

  begin(): void {
    const { silent, status, headers } = this.#answer;
    const connection = { resume: () => this.#resume(), leave: () => {}, close: () => {} };
    this.#call.sent(connection);
    if (silent)
      return this.#later(this.#times.firstByteTimeoutMs, () =>
        this.#call.failed(new UpstreamTimeout('the vendor did not answer in time')),
      );
    this.#later(2 * 1_500 ** this.#random(), () => {
      const text = Object.entries(headers).map(([name, value]) => `\r\n${name}: ${value}`);
      this.#call.head(headOf(status, text.join('')));
      this.#next();
    });
  }

  #later(ms: number, run: () => void): void {
    this.#time.after(ms, () => this.#process.deliver(() => this.#call.over || run()));
  }

  /** The next piece is on its way, unless one is, or nobody takes it. */
  #next(): void {
    if (this.#paused || this.#waiting) return;
    this.#waiting = true;
    const { pieces, cut, pace } = this.#answer;
    const piece = pieces[this.#at];
    this.#later(pace * this.#random(), () => {
      this.#waiting = false;
      if (this.#at === cut)
        return this.#call.failed(new Error('the vendor closed inside its reply'));
      if (piece === undefined) return this.#call.end();
      this.#at += 1;
      this.#asked.given = true;
      if (!this.#call.data(piece)) this.#paused = true;
      this.#next();
    });
  }

  #resume(): void {
    this.#paused = false;
    this.#next();
  }
}

const headOf = (status: number, text: string) => ({
  status,
  headers: new ResponseHeaders(text),
  body: 'connection' as const,
  keeps: false,
  keptMs: undefined,
});
