import { pino } from 'pino';
import type { Clock } from '../base/clock.ts';

/** Structured lines on standard output. Never a prompt, an answer or a secret: callers pass names, numbers and ids only. */
export interface Log {
  line(event: string, fields: object): void;
  /** The same for a line whose members are JSON text already, without braces. */
  text(event: string, members: string): void;
  error(event: string, error: unknown, fields?: object): void;
  /** Writes what is still in memory. */
  flush(): void;
}

/** Lines gather to this many bytes, or until the next flush, before they are written: one system call for many. */
const gatherBytes = 8_192;
const flushEveryMs = 500;
/** Several processes that write to one pipe do not tear each other's lines: a write of up to 4,096 bytes is one (PIPE_BUF, pipe(7)). */
const sharing = { minLength: 3_072, maxWrite: 4_096 };

/** Where it went wrong. The words of a SyntaxError quote what could not be read, which may be anybody's: of it only the way is told. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { name, message, stack = `${name}: ${message}` } = error;
  if (!(error instanceof SyntaxError)) return stack;
  return `${name} (what it quotes is left out)${stack.split(message).at(-1)}`;
}

/** `level` as in pino: `info` writes a line a request, `warn` only what went wrong, `silent` nothing. `shared`: other processes write to the same place. */
export function openLog(level: string, clock: Clock, shared = false): Log {
  const destination = pino.destination({
    fd: 1,
    minLength: gatherBytes,
    sync: true,
    ...(shared && sharing),
  });
  const logger = pino(
    { level, base: null, timestamp: () => `,"time":${clock.now()}` },
    destination,
  );
  const told = logger.isLevelEnabled('info');
  const timer = setInterval(() => destination.flush(), flushEveryMs).unref();
  return {
    line: (event, fields) => logger.info(fields, event),
    text(event, members) {
      if (told)
        destination.write(`{"level":30,"time":${clock.now()},${members},"msg":"${event}"}\n`);
    },
    error: (event, error, fields = {}) =>
      logger.error({ ...fields, error: errorText(error) }, event),
    flush() {
      clearInterval(timer);
      destination.flushSync();
    },
  };
}
