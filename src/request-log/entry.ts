import { dayMs } from '../base/calendar.ts';
import type { FaultKind } from '../base/fault.ts';
import { refusals } from '../base/refusal.ts';
import type { CallStage } from '../http/upstream.ts';

/** A call of a channel that failed. Holds nothing of the client's text or of the vendor's. */
export interface LoggedAttempt {
  readonly channel: string;
  /** The number of the channel's key, from 1, where the channel has several. */
  readonly key?: number | undefined;
  readonly fault: FaultKind;
  /** How far the attempt had come: `connecting`, `waiting` or `streaming`. */
  readonly stage: CallStage;
  /** The status of the vendor's response; undefined: none came. */
  readonly status?: number | undefined;
  /** The connection's error, in Tollgate's own words. */
  readonly why?: string | undefined;
  /** Milliseconds since the request began. */
  readonly beganMs: number;
  readonly endedMs: number;
  /** The fault allows another attempt. */
  readonly mayRetry: boolean;
}

/** A request of a known key that was refused, failed, or needed more than one attempt. */
export interface LoggedRequest {
  readonly id: string;
  /** Wall clock, ms. */
  readonly at: number;
  readonly account: string;
  readonly keyId: string;
  /** `POST /v1/chat/completions`, without its query; undefined for calls from the console. */
  readonly endpoint: string | undefined;
  /** As the client named it; undefined where the request names none. */
  readonly model: string | undefined;
  /** The channel of the last attempt. */
  readonly channel: string | undefined;
  /** The HTTP status that the client got; 499: the client left before. */
  readonly status: number;
  /** The name of the refusal, or how the request ended: `ok`, `left`, `fault:timeout`. */
  readonly outcome: string;
  /** The parameter that the refusal names. */
  readonly param: string | undefined;
  readonly durationMs: number;
  readonly attempts: readonly LoggedAttempt[];
}

/** Limits of the log. The caller that opens it can set each, tests above all. */
export interface RequestLogLimits {
  readonly keptForMs: number;
  /** Rows of one account; beyond them its oldest go. */
  readonly accountRowsMax: number;
  /** Rows of all accounts; beyond them the accounts with the most rows lose their oldest. */
  readonly rowsMax: number;
  /** Requests of one account that one process records in a minute. */
  readonly accountPerMinuteMax: number;
  /**
   * Requests that wait to be written while the database is slow; beyond them the account with the
   * most loses its latest.
   */
  readonly waitingMax: number;
  /** Requests written in one statement. */
  readonly batchMax: number;
  readonly writeEveryMs: number;
  /** Requests with a failed attempt that are still under way. */
  readonly openMax: number;
  /** The longest endpoint, model and parameter, in characters. */
  readonly textCharsMax: number;
}

export const requestLogLimits: RequestLogLimits = {
  keptForMs: 7 * dayMs,
  accountRowsMax: 20_000,
  rowsMax: 1_000_000,
  accountPerMinuteMax: 300,
  waitingMax: 5_000,
  batchMax: 200,
  writeEveryMs: 1_000,
  openMax: 10_000,
  textCharsMax: 200,
};

/** By name; an outcome may have none. */
const refusalsByName: ReadonlyMap<
  string,
  { readonly code: string | null; readonly message: string }
> = new Map(Object.entries(refusals));

/** The error code that clients got with this outcome; null: none. */
export const codeOf = (outcome: string): string | null => refusalsByName.get(outcome)?.code ?? null;

/**
 * The outcomes that a filter means: a refusal's name, an outcome, or a code of several refusals.
 */
export function outcomesNamed(text: string): readonly string[] {
  const named = [...refusalsByName].filter(([, { code }]) => code === text).map(([name]) => name);
  return named.includes(text) ? named : [...named, text];
}

/**
 * The refusal's message with the values that the log keeps (id, model, parameter), without a reason
 * at the end of a sentence, and with `…` for all others; undefined: there is none.
 */
export function refusalText({
  outcome,
  ...known
}: Pick<LoggedRequest, 'outcome' | 'id' | 'model' | 'param'>): string | undefined {
  const message = refusalsByName.get(outcome)?.message;
  // A message that is a vendor's own text alone says nothing without it.
  if (message === undefined || /^\{\w+\}$/.test(message)) return undefined;
  const values: Readonly<Record<string, string | undefined>> = known;
  return message
    .replace(/\{(id|model|param)\}/g, (place, name: string) => values[name] ?? place)
    .replace(/: \{\w+\}\.?(?= |$)/g, '.')
    .replace(/'?\{\w+\}'?/g, '…');
}
