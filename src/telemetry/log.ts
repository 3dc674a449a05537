import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';
import { pino } from 'pino';
import { blockThread, type Clock } from '../base/clock.ts';

/**
 * Structured lines on standard output. Never a prompt, an answer or a secret: callers pass names,
 * numbers and ids only.
 */
export interface Log {
  line(event: string, fields: object): void;
  /** An expected failure, not a bug. */
  warn(event: string, fields: object): void;
  /** The same for a line whose members are JSON text already, without braces. */
  text(event: string, members: string): void;
  error(event: string, error: unknown, fields?: object): void;
  /** Lines that were dropped because standard output is not read. */
  readonly dropped: number;
  /** Writes what is still in memory, and waits a while for a slow reader. */
  flush(): void;
}

/**
 * Lines are joined up to this many characters before they are written: one system call for many.
 */
const joined = 8_192;
/**
 * Several processes that write to one pipe do not tear each other's lines: a write of up to 4,096
 * bytes is one (PIPE_BUF, pipe(7)).
 */
const joinedShared = 4_096;

/**
 * Where the error happened. A SyntaxError's message quotes the text that could not be read, which
 * may be a user's: only its stack is reported.
 */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { name, message, stack = `${name}: ${message}` } = error;
  if (!(error instanceof SyntaxError)) return stack;
  return `${name} (what it quotes is left out)${stack.split(message).at(-1)}`;
}

/**
 * `level` as in pino: `info` writes a line per request, `warn` only failures, `silent` nothing.
 * `shared`: other processes write to the same place. Writing a line never waits for its reader.
 */
export function openLog(level: string, clock: Clock, shared = false): Log {
  const writer = new LineWriter({
    fd: 1,
    joinedCharsMax: shared ? joinedShared : joined,
    recovered: (dropped) =>
      `{"level":40,"time":${clock.now()},"dropped":${dropped},"msg":"log lines were dropped: standard output was not read"}\n`,
  });
  const options = { level, base: null, timestamp: () => `,"time":${clock.now()}` };
  const lines = pino(options, { write: (line: string) => writer.write(line) });
  const errors = pino(options, { write: (line: string) => writer.write(line, true) });
  const logsInfo = lines.isLevelEnabled('info');
  return {
    line: (event, fields) => lines.info(fields, event),
    warn: (event, fields) => lines.warn(fields, event),
    text(event, members) {
      if (logsInfo)
        writer.write(`{"level":30,"time":${clock.now()},${members},"msg":"${event}"}\n`);
    },
    error: (event, error, fields = {}) =>
      errors.error({ ...fields, error: errorText(error) }, event),
    get dropped() {
      return writer.dropped;
    },
    flush: () => writer.close(),
  };
}

/**
 * Lines that wait for the reader take at most this memory, and a quarter more with lines of errors.
 */
const waitingBytesMax = 1024 * 1024;
const waitingErrorBytesMax = waitingBytesMax + 256 * 1024;
/** The pause after a write that the reader did not take. It doubles each time, up to `max`. */
const retryMs = { first: 10, max: 500 };
/**
 * At the end of the process: a reader that takes nothing for this long loses the lines that are
 * left.
 */
const lastWaitMs = 2_000;
const lastPauseMs = 10;
/** How long a line waits for others at most, before they are written in one system call. */
const gatherMs = 500;

interface LineWriterOptions {
  readonly fd: number;
  /** Lines are joined up to this many characters: one system call writes many. */
  readonly joinedCharsMax: number;
  /** The line that is written when lines were dropped and the reader reads again. */
  readonly recovered: (dropped: number) => string;
}

/**
 * Writes lines to a descriptor and never waits for its reader. Lines that a full pipe, a stopped
 * terminal or a full disk does not take are kept, up to a limit, and written later; beyond the
 * limit, lines are dropped and counted. (sonic-boom, pino's own, sleeps on EAGAIN when it is
 * synchronous. When it is asynchronous, a thread of Node's pool blocks in `write`, and the process
 * cannot end before it.)
 */
class LineWriter {
  /** How many lines were dropped since the process began. */
  dropped = 0;
  readonly #options: LineWriterOptions;
  readonly #fd: number;
  readonly #timer: NodeJS.Timeout;
  #lines = '';
  /**
   * Joined lines that are still to be written. A part of the first buffer may be written already.
   */
  readonly #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #retry: NodeJS.Timeout | undefined;
  #retryMs = retryMs.first;
  #droppedReported = 0;
  #closed = false;

  constructor(options: LineWriterOptions) {
    this.#options = options;
    this.#fd = nonBlocking(options.fd);
    this.#timer = setInterval(() => this.#flush(), gatherMs).unref();
  }

  /** Writes one line, with its line end. `isError`: it may use the room that is kept for errors. */
  write(line: string, isError = false): void {
    if (this.#closed) return;
    if (this.#lines.length + line.length > this.#options.joinedCharsMax) this.#flush();
    const waiting = this.#waitingBytes + this.#lines.length + line.length;
    if (waiting > (isError ? waitingErrorBytesMax : waitingBytesMax)) this.dropped += 1;
    else this.#lines += line;
  }

  #flush(): void {
    this.#join();
    if (this.#retry === undefined) this.#writeOrRetry();
  }

  #join(): void {
    if (this.#lines === '') return;
    const bytes = Buffer.from(this.#lines);
    this.#lines = '';
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
  }

  readonly #writeOrRetry = (): void => {
    this.#retry = undefined;
    if (this.#writeWaiting()) this.#retryMs = retryMs.first;
    else {
      this.#retry = setTimeout(this.#writeOrRetry, this.#retryMs).unref();
      this.#retryMs = Math.min(retryMs.max, this.#retryMs * 2);
    }
  };

  /** Writes the waiting lines, as many as the reader takes. True: none is left. */
  #writeWaiting(): boolean {
    for (let bytes = this.#waiting[0]; bytes !== undefined; bytes = this.#waiting[0]) {
      const count = this.#writeSome(bytes);
      this.#waitingBytes -= count;
      if (count === bytes.length) this.#waiting.shift();
      else this.#waiting[0] = bytes.subarray(count);
      if (count === 0) return false;
    }
    if (this.dropped > this.#droppedReported) {
      this.#lines += this.#options.recovered(this.dropped - this.#droppedReported);
      this.#droppedReported = this.dropped;
    }
    return true;
  }

  /**
   * Returns how many bytes were taken: 0 after any error (EAGAIN, EPIPE, ENOSPC), since it may
   * pass.
   */
  #writeSome(bytes: Buffer): number {
    try {
      return writeSync(this.#fd, bytes);
    } catch {
      return 0;
    }
  }

  /**
   * Before the process ends: writes the lines that are left, and waits for a slow reader. Later
   * lines are lost.
   */
  close(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#retry);
    for (let waitedMs = 0; waitedMs < lastWaitMs; waitedMs += lastPauseMs) {
      const before = this.#waitingBytes;
      this.#join();
      if (this.#writeWaiting() && this.#lines === '') break;
      if (this.#waitingBytes < before) waitedMs = 0;
      if (this.#waitingBytes > 0) blockThread(lastPauseMs);
    }
    this.#closed = true;
    if (this.#fd !== this.#options.fd) closeSync(this.#fd);
  }
}

/**
 * Opens a pipe or terminal again, as a descriptor of our own whose writes never block. The given
 * one is shared with other processes, each of which may make it block again at any moment. A file
 * keeps its descriptor: its writes have no reader to wait for, and a new descriptor would have an
 * offset of its own.
 */
function nonBlocking(fd: number): number {
  if (fstatSync(fd).isFile()) return fd;
  try {
    return openSync(
      `/proc/self/fd/${fd}`,
      constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY,
    );
  } catch {
    // A socket, another user's pipe, or no Linux. Node makes the pipes and sockets of its own
    // streams non-blocking.
    void process.stdout;
    return fd;
  }
}
