import { grouped } from './command-io.ts';
import type { Clock } from '../base/clock.ts';
import { systemClock } from '../base/clock.ts';
import type { OutputStream } from './terminal.ts';

/** Work shorter than this needs no progress. */
const silentMs = 1_000;
const drawEveryMs = 200;
const pipeEveryMs = 10_000;
const clearedLine = '\r\u001b[2K';

/**
 * One line on standard error about work that takes long: rewritten in a terminal, and every ten
 * seconds a new one elsewhere. It stays silent for the first second.
 */
export class ProgressLine {
  readonly #work: string;
  readonly #stream: OutputStream;
  readonly #clock: Clock;
  readonly #begunMs: number;
  #detail = '';
  #writtenMs: number;
  #shown = false;

  constructor(work: string, stream: OutputStream, clock: Clock) {
    this.#work = work;
    this.#stream = stream;
    this.#clock = clock;
    this.#begunMs = clock.monotonicMs();
    // Elsewhere than in a terminal the first line comes after ten seconds as well.
    this.#writtenMs = stream.isTTY === true ? Number.NEGATIVE_INFINITY : this.#begunMs;
  }

  /** How far the work has come: `3 of 21 rules`. */
  tell(detail: string): void {
    this.#detail = detail;
    this.draw();
  }

  /** Writes the line, unless it is too early. */
  draw(): void {
    const now = this.#clock.monotonicMs();
    const terminal = this.#stream.isTTY === true;
    const wait = terminal ? drawEveryMs : pipeEveryMs;
    if (now - this.#begunMs < silentMs || now - this.#writtenMs < wait) return;
    this.#writtenMs = now;
    this.#shown = true;
    const seconds = Math.floor((now - this.#begunMs) / 1_000);
    const text = [`${this.#work}: ${seconds} s`, this.#detail].filter((part) => part !== '');
    this.#stream.write(terminal ? clearedLine + text.join(', ') : `${text.join(', ')}\n`);
  }

  /** Removes the line from a terminal. */
  end(): void {
    if (this.#shown && this.#stream.isTTY === true) this.#stream.write(clearedLine);
  }
}

/** Shows progress while `body` runs. `look` is called before each line: a file's size, perhaps. */
export async function withProgress<T>(
  work: string,
  body: (tell: (detail: string) => void) => Promise<T>,
  look?: () => string,
): Promise<T> {
  const line = new ProgressLine(work, process.stderr, systemClock);
  const timer = setInterval(
    () => (look === undefined ? line.draw() : line.tell(look())),
    drawEveryMs,
  );
  try {
    return await body((detail) => line.tell(detail));
  } finally {
    clearInterval(timer);
    line.end();
  }
}

/** `1,200 of 4,000 users`. */
export const doneOf = (done: number, total: number, things: string): string =>
  `${grouped(done)} of ${grouped(total)} ${things}`;
