import type { Fault } from '../base/fault.ts';
import {
  type Answer,
  type Ask,
  type Call,
  type Inquiry,
  isLater,
  type Later,
  type LaterFault,
  type PictureAdapter,
} from '../providers/adapter.ts';
import { Attempt, type AttemptResult } from './attempt.ts';
import type { Lane } from './lanes.ts';
import type { GatewayLimits, Parts } from './parts.ts';

const nothingYet: Answer = {
  body: Buffer.alloc(0),
  quantities: undefined,
  upstreamId: undefined,
  outputText: '',
};
const noStream = (): never => {
  throw new Error('a whole answer is no stream');
};

/**
 * One call to one channel, until its answer is there: a vendor that has taken the request and
 * answers later is asked again, ever less often while it fails, until it says how the work ended or
 * the time is over. Once taken, nothing makes this a call that another channel may be asked.
 */
export class PatientAttempt {
  readonly #adapter: PictureAdapter;
  readonly #call: Call;
  readonly #parts: Pick<Parts, 'clock' | 'limits'>;
  readonly #lane: Lane;
  readonly #answersLater: boolean;
  #running: Pick<Attempt, 'finish'> | undefined;
  #ended: AttemptResult | undefined;
  #later: Later | undefined;
  #submitting = true;
  #leave: (result: AttemptResult) => void = () => {};

  constructor(
    adapter: PictureAdapter,
    call: Call,
    parts: Pick<Parts, 'clock' | 'limits'>,
    lane: Lane,
  ) {
    this.#adapter = adapter;
    this.#call = call;
    this.#parts = parts;
    this.#lane = lane;
    this.#answersLater = adapter.answersLater?.(call) ?? false;
  }

  async run(): Promise<AttemptResult> {
    const asked = this.#ask(this.#lane, this.#adapter, this.#parts.limits);
    const first = await (this.#answersLater ? Promise.race([asked, this.#left(asked)]) : asked);
    this.#submitting = false;
    if (this.#later === undefined) return first;
    const result = this.#ended ?? (await this.#wait(this.#later));
    if (result.kind !== 'answer' && !(result.kind === 'fault' && result.fault.ended))
      this.#cancel();
    return result;
  }

  /** Ends it with this result, unless it has ended; the vendor stops where it can be stopped. */
  finish(result: AttemptResult): void {
    this.#ended ??= result;
    if (this.#submitting && this.#answersLater) this.#leave(result);
    else this.#running?.finish(result);
  }

  /**
   * Nobody waits for a submission that is on its way, but it goes on: only what has a name can be
   * cancelled.
   */
  #left(asked: Promise<unknown>): Promise<AttemptResult> {
    return new Promise((resolve) => {
      this.#leave = (result) => {
        resolve(result);
        void asked.then(() => this.#cancel());
      };
    });
  }

  async #wait(later: Later): Promise<AttemptResult> {
    const { clock, limits } = this.#parts;
    const { totalMs, goneAfterMs, everyMsMin, everyMsMax } = limits.later;
    const since = clock.monotonicMs();
    const until = since + totalMs;
    let last: Fault | undefined;
    for (let faults = 0; ; ) {
      const everyMs = Math.max(everyMsMin, later.afterMs) * 2 ** faults;
      const pauseMs = Math.max(Math.min(everyMs, everyMsMax), last?.retryAfterMs ?? 0);
      const leftMs = until - clock.monotonicMs();
      if (leftMs <= 0) return accepted({ kind: 'timeout', message: overdue(totalMs, last) });
      // Whoever wants to be left alone for longer than that is asked once more at the end.
      await this.#pause(Math.min(pauseMs, leftMs));
      if (this.#ended !== undefined) return this.#ended;
      this.#later = undefined;
      const result = await this.#again(later);
      const next: Later | undefined = this.#later;
      this.#later = next ?? later;
      if (this.#ended !== undefined) return this.#ended;
      last = undefined;
      if (next !== undefined) [later, faults] = [next, 0];
      else if (result.kind !== 'fault') return result;
      else if (hasEnded(result.fault, clock.monotonicMs() - since >= goneAfterMs))
        return accepted(result.fault);
      else [last, faults] = [result.fault, faults + 1];
    }
  }

  #again({ ask, read, fault }: Later): Promise<AttemptResult> {
    const { limits } = this.#parts;
    const patient = { ...limits, whole: limits.later.reply };
    const inquiry = { read, fault: fault ?? this.#adapter.fault };
    const elsewhere = ask.url === undefined ? undefined : siblingOf(this.#lane, ask.url);
    if (elsewhere === undefined)
      return this.#ask(this.#lane, { ...inquiry, ask: () => ask }, patient);
    return this.#ask(
      elsewhere.lane,
      { ...inquiry, ask: () => ({ ...ask, path: elsewhere.path }) },
      patient,
    );
  }

  async #ask(
    lane: Lane,
    adapter: Pick<PictureAdapter, 'ask' | 'read' | 'fault'>,
    limits: GatewayLimits,
  ): Promise<AttemptResult> {
    const read: Inquiry['read'] = (reply, contentType, call) => {
      const said = adapter.read(reply, contentType, call);
      if (!isLater(said)) return said;
      this.#later = said;
      return nothingYet;
    };
    const attempt = new Attempt(
      { ask: adapter.ask, read, fault: adapter.fault },
      this.#call,
      limits,
      noStream,
    );
    this.#running = attempt;
    attempt.start(lane);
    const result = await attempt.result;
    this.#running = undefined;
    return result;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      const finish = (): void => {
        clearTimeout(timer);
        resolve();
      };
      this.#running = { finish };
    });
  }

  /** Nobody waits for what the vendor says to it. */
  #cancel(): void {
    const ask: Ask | undefined = this.#later?.cancel;
    if (ask === undefined) return;
    const { limits } = this.#parts;
    const inquiry: Inquiry = { ask: () => ask, read: () => nothingYet, fault: this.#adapter.fault };
    new Attempt(inquiry, this.#call, { ...limits, whole: limits.later.reply }, noStream).start(
      this.#lane,
    );
  }
}

/** The vendor has taken it, and may be paid for it. */
const accepted = (fault: Fault): AttemptResult => ({ kind: 'fault', stage: 'streaming', fault });

const hasEnded = (fault: LaterFault, late: boolean): boolean =>
  fault.ended === true || (late && fault.gone === true);

const overdue = (totalMs: number, last: Fault | undefined): string =>
  `no answer within ${totalMs / 1_000} seconds${last === undefined ? '' : `; the last reply: ${last.message}`}`;

function siblingOf(
  lane: Lane,
  address: string,
): { readonly lane: Lane; readonly path: string } | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  const upstream = lane.sibling(url);
  if (upstream === undefined) return undefined;
  return { lane: { ...lane, upstream, place: (path) => path }, path: url.pathname + url.search };
}
