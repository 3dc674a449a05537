import { pino } from 'pino';

/** Structured lines on standard output. Never a prompt, an answer or a secret: callers pass names, numbers and ids only. */
export interface Log {
  line(event: string, fields: object): void;
  error(event: string, error: unknown, fields?: object): void;
  /** Writes what is still in memory. */
  flush(): void;
}

/** Lines gather to this many bytes, or until the next flush, before they are written: one system call for many. */
const gatherBytes = 8_192;
const flushEveryMs = 500;

/** `level` as in pino: `info` writes a line a request, `warn` only what went wrong, `silent` nothing. */
export function openLog(level: string): Log {
  const destination = pino.destination({ fd: 1, minLength: gatherBytes, sync: true });
  const logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  const timer = setInterval(() => destination.flush(), flushEveryMs).unref();
  return {
    line: (event, fields) => logger.info(fields, event),
    error: (event, error, fields = {}) =>
      logger.error({ ...fields, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }, event),
    flush() {
      clearInterval(timer);
      destination.flushSync();
    },
  };
}
