import { existsSync, readFileSync, statSync } from 'node:fs';
import { systemClock } from '../base/clock.ts';
import { isDay } from '../base/calendar.ts';
import { type Nano, parseYuan } from '../base/money.ts';
import { errorCodeOf } from '../base/thrown.ts';
import { DatabaseError } from '../storage/database.ts';
import { MasterKeyError } from '../storage/seal.ts';
import { forStream } from './terminal.ts';

/** An expected end of a command: the message is for the person at the keyboard, without a stack. */
export class Failure extends Error {}

/**
 * The text on standard error when a command ends early. A system error (a port in use, a folder
 * that is not writable, a database that does not answer) keeps its own message; only a bug gets a
 * stack.
 */
export function faultText(fault: unknown): string {
  if (!(fault instanceof Error)) return String(fault);
  if (fault instanceof DatabaseError)
    return isUnreached(fault.cause)
      ? `the database of DATABASE_URL cannot be reached: ${fault.message}`
      : fault.message;
  if (fault instanceof Failure || fault instanceof MasterKeyError) return fault.message;
  if (!('syscall' in fault)) return fault.stack ?? fault.message;
  const code = errorCodeOf(fault);
  if (fault.syscall === 'getaddrinfo' || code === 'EADDRNOTAVAIL')
    return `${fault.message}; HOST and --host name an address of this machine`;
  if (code !== 'EADDRINUSE') return fault.message;
  const port = 'port' in fault && typeof fault.port === 'number' ? fault.port : 0;
  const other = port > 0 && port < 65_535 ? port + 1 : 0;
  // npm takes options for itself unless they stand behind two dashes.
  const dashes = process.env['npm_lifecycle_event'] === 'start' ? '-- ' : '';
  return `${fault.message}; name another with --port or PORT, such as ${dashes}--port ${other}`;
}

/** Whether a connection could not be opened. */
const isUnreached = (cause: unknown): boolean =>
  cause instanceof Error &&
  'syscall' in cause &&
  (cause.syscall === 'connect' || cause.syscall === 'getaddrinfo');

/** Options of every command. */
export interface SharedOptions {
  readonly data?: string;
  readonly json?: true;
}

/** Prints the result: one JSON value with `--json`, else the lines for people. */
export function print(
  { json }: Pick<SharedOptions, 'json'>,
  value: unknown,
  lines: readonly string[],
): void {
  console.log(json === true ? JSON.stringify(value) : forStream(lines.join('\n'), process.stdout));
}

/**
 * `12,345`, as `toLocaleString` writes it, which loads all of ICU: 13 ms and 7 MB at the start of a
 * gateway.
 */
export const grouped = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',');

/** `1 model`, `2 models`. */
export const countPhrase = (count: number, noun: string): string =>
  `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;

/** An option's sum in yuan. */
export function yuanOption(option: string, text: string): Nano {
  const sum = parseYuan(text);
  if (sum !== undefined) return sum;
  throw new Failure(
    /^\d{10,}(?:\.\d{1,9})?$/.test(text)
      ? `${option} is a sum below 1,000,000,000 yuan, not '${text}'`
      : `${option} is a sum in yuan such as 10.00, not '${text}'`,
  );
}

const spanMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Wall clock, ms, of an option: `30m`, `24h`, `7d` before now, or a time such as 2027-01-31. */
export function timeOption(option: string, text: string, now = systemClock.now()): number {
  const [, count, unit] = /^(\d{1,5})(m|h|d)$/.exec(text) ?? [];
  if (count !== undefined)
    return now - Number(count) * spanMs[unit === 'm' || unit === 'h' ? unit : 'd'];
  const at = timeIn(text);
  if (at !== undefined) return at;
  throw new Failure(`${option} is 30m, 24h, 7d or a time such as 2027-01-31, not '${text}'`);
}

const timeForm =
  /^(\d{4}-\d{2}-\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;

/**
 * Wall clock, ms, of `2027-01-31` or `2027-01-31T12:00:00Z`; undefined for anything else. JavaScript
 * alone reads `Ada 2099` as a time, and 30 February as 2 March.
 */
export function timeIn(text: string): number | undefined {
  const [, day] = timeForm.exec(text) ?? [];
  const at = day === undefined || !isDay(day) ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

/** An instant without its fraction of a second: `2027-01-31T12:00:00Z`. */
export const toSecond = (instant: string): string => instant.replace(/\.\d+Z$/, 'Z');

const pageSize = 1_000;

/** Reads all pages of a list that is paged by id. */
export async function everyPage<T extends { readonly id: string }>(
  read: (page: { readonly after: string; readonly limit: number }) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const all: T[] = [];
  for (;;) {
    const page = await read({ after: all.at(-1)?.id ?? '', limit: pageSize });
    all.push(...page);
    if (page.length < pageSize) return all;
  }
}

/** Reads a file that the command names. */
export function readText(file: string): string {
  if (!existsSync(file)) throw new Failure(`there is no file ${file}`);
  if (statSync(file).isDirectory()) throw new Failure(`${file} is a folder, and no file`);
  return readFileSync(file, 'utf8');
}
