import type { Nano } from '../base/money.ts';
import { type Networks, networksOf } from '../http/client-address.ts';
import type { Row, SqlValue } from '../storage/database.ts';
import { optionalNumber } from '../storage/sql.ts';

/**
 * The client of a request: what one API key stands for. Immutable; replaced whole when the key
 * changes.
 */
export interface Principal extends KeyConstraints {
  readonly keyId: string;
  /** The user's id, which is also the id of the user's ledger account. */
  readonly userId: string;
  readonly group: string;
  /** Total spend limit of the key; undefined = unlimited. */
  readonly limit: Nano | undefined;
  /** Spend limits of one day and one month by the operator's calendar; absent = unlimited. */
  readonly dailyLimit?: Nano | undefined;
  readonly monthlyLimit?: Nano | undefined;
  /** Wall clock, ms; undefined = never. */
  readonly expiresAt: number | undefined;
}

export interface Keyring {
  /**
   * From memory: the principal, `'unknown'` when the database lately did not know the secret, or
   * undefined: then call `lookUp`.
   */
  known(secret: string): Principal | 'unknown' | undefined;
  /** Asks the database. `'unavailable'` when it does not answer: a 503, never a 401. */
  lookUp(secret: string): Promise<Principal | 'unknown' | 'unavailable'>;
}

/**
 * Restrictions of a key, beside its group and its spend limits. An undefined one restricts nothing.
 */
export interface KeyTerms {
  /** The only models of its group that it may use, by id. */
  readonly models?: readonly string[] | undefined;
  /** Addresses and networks from which it may be used. */
  readonly addresses?: readonly string[] | undefined;
  /** Requests and tokens in a minute, and requests at once; the group's limits hold as well. */
  readonly rpm?: number | undefined;
  readonly tpm?: number | undefined;
  readonly concurrency?: number | undefined;
}

/** The same in a principal: parsed once, checked with each request. */
interface KeyConstraints {
  readonly models?: ReadonlySet<string>;
  readonly addresses?: Networks;
  readonly allowance?: {
    readonly rpm: number | undefined;
    readonly tpm: number | undefined;
    readonly concurrency: number | undefined;
  };
}

/** The most models or addresses of one key. */
export const namedMax = 100;

/** In the order of `termValues`. */
export const termColumns = ['models', 'addresses', 'rpm', 'tpm', 'concurrency'] as const;

export const termValues = ({
  models,
  addresses,
  rpm,
  tpm,
  concurrency,
}: KeyTerms): readonly SqlValue[] => [
  listText(models),
  listText(addresses),
  rpm ?? null,
  tpm ?? null,
  concurrency ?? null,
];

/** Reads a row with the columns `termColumns`. */
export function termsOf(row: Row): KeyTerms {
  return {
    models: listOf(row['models']),
    addresses: listOf(row['addresses']),
    rpm: optionalNumber(row, 'rpm'),
    tpm: optionalNumber(row, 'tpm'),
    concurrency: optionalNumber(row, 'concurrency'),
  };
}

export function constraintsOf({
  models,
  addresses,
  rpm,
  tpm,
  concurrency,
}: KeyTerms): KeyConstraints {
  return {
    ...(models !== undefined && { models: new Set(models) }),
    ...(addresses !== undefined && { addresses: networksOf(addresses) }),
    ...((rpm ?? tpm ?? concurrency) !== undefined && { allowance: { rpm, tpm, concurrency } }),
  };
}

/** An empty list would refuse every request, so it is stored as none. */
const listText = (list: readonly string[] | undefined): string | null =>
  list === undefined || list.length === 0 ? null : JSON.stringify(list);

function listOf(value: SqlValue | undefined): readonly string[] | undefined {
  if (typeof value !== 'string') return undefined;
  const list: unknown = JSON.parse(value);
  return Array.isArray(list) ? list.map(String) : undefined;
}
