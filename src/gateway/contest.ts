import type { Nano } from '../base/money.ts';
import type { Quantities } from '../base/quantities.ts';
import type { Reply } from '../http/reply.ts';
import type { StreamTranslator } from '../providers/adapter.ts';
import type { Attempt, AttemptResult } from './attempt.ts';
import type { Exchange } from './exchange.ts';
import type { Purse } from './purse.ts';
import type { Running } from './receivers.ts';

/** How an attempt ends that another was faster than. */
export const outrun: AttemptResult = { kind: 'outrun' };

/**
 * Two attempts at one answer. The first that has a byte for the client has won, and the other is
 * broken off in that instant, so that the client never hears of two.
 */
export class Contest {
  readonly #exchange: Exchange;
  readonly #running = new Set<Attempt>();
  #over: AttemptResult | undefined;
  #callOff: (() => void) | undefined;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /** How it has ended for whoever has not begun; undefined while nothing is decided. */
  get over(): AttemptResult | undefined {
    return this.#over;
  }

  enter(attempt: Attempt): void {
    this.#running.add(attempt);
  }

  /** Resolves when nothing has come for so long; never, once something has. */
  silence(ms: number): Promise<'silence'> {
    return new Promise((resolve) => {
      this.#callOff = this.#exchange.parts.timers.after(ms, () => resolve('silence'));
    });
  }

  /** All end, but for whoever has won. */
  readonly finish = (result: AttemptResult, winner?: Attempt): void => {
    this.#callOff?.();
    this.#over ??= result;
    for (const attempt of this.#running) if (attempt !== winner) attempt.finish(result);
  };

  /** What one of them has of the exchange. */
  runningFor(attempt: Attempt, translator: StreamTranslator): Running {
    const exchange = this.#exchange;
    const won = (): void => {
      this.finish(outrun, attempt);
      exchange.meter = translator.meter;
      exchange.streamType = translator.type;
      exchange.dropped = attempt.dropped;
      exchange.firstByte();
    };
    return new Contender(exchange, won);
  }
}

/** The exchange as one of several attempts sees it. */
class Contender implements Running {
  readonly #exchange: Exchange;
  readonly firstByte: () => void;

  constructor(exchange: Exchange, firstByte: () => void) {
    this.#exchange = exchange;
    this.firstByte = firstByte;
  }

  get reply(): Reply {
    return this.#exchange.reply;
  }

  get purse(): Purse {
    return this.#exchange.purse;
  }

  get moneyWaitMs(): number {
    return this.#exchange.moneyWaitMs;
  }

  costOf(quantities: Quantities): Nano {
    return this.#exchange.costOf(quantities);
  }

  set wrote(wrote: boolean) {
    this.#exchange.wrote = wrote;
  }
}
