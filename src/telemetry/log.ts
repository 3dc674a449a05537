import { pino } from 'pino';
import type { Clock } from '../base/clock.ts';
import { LineWriter } from './line-writer.ts';

/**
 * Structured lines on standard output. Never a prompt, an answer or a secret: callers pass names,
 * numbers and ids only.
 */
export interface Log {
  line(event: string, fields: object): void;
  /** What went wrong and was no bug. */
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
 * Where it went wrong. The words of a SyntaxError quote what could not be read, which may be
 * anybody's: of it only the way is told.
 */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { name, message, stack = `${name}: ${message}` } = error;
  if (!(error instanceof SyntaxError)) return stack;
  return `${name} (what it quotes is left out)${stack.split(message).at(-1)}`;
}

/**
 * `level` as in pino: `info` writes a line a request, `warn` only what went wrong, `silent`
 * nothing. `shared`: other processes write to the same place. Writing a line never waits for its
 * reader.
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
  const told = lines.isLevelEnabled('info');
  return {
    line: (event, fields) => lines.info(fields, event),
    warn: (event, fields) => lines.warn(fields, event),
    text(event, members) {
      if (told) writer.write(`{"level":30,"time":${clock.now()},${members},"msg":"${event}"}\n`);
    },
    error: (event, error, fields = {}) =>
      errors.error({ ...fields, error: errorText(error) }, event),
    get dropped() {
      return writer.dropped;
    },
    flush: () => writer.close(),
  };
}
