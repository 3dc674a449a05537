import type { Nano } from '../base/money.ts';
import type { Places, Span } from './cover.ts';

/** Which of an account's records. */
export interface Filter {
  readonly keyId?: string | undefined;
  readonly model?: string | undefined;
  readonly capability?: string | undefined;
  readonly status?: string | undefined;
  readonly estimated?: boolean | undefined;
  /** Those that cost at least so much. */
  readonly costMin?: Nano | undefined;
}

/** Whether it leaves anything out. */
export const narrow = (filter: Filter): boolean =>
  Object.values(filter).some((value) => value !== undefined);

function kinds(
  places: Places,
  table: string,
  { keyId, model, capability, status, estimated }: Filter,
): string {
  const equal = {
    key_id: keyId,
    model,
    capability,
    status,
    estimated: estimated === undefined ? undefined : Number(estimated),
  };
  return Object.entries(equal)
    .map(([column, value]) =>
      value === undefined ? '' : ` AND ${table}.${column}=${places.add(value)}`,
    )
    .join('');
}

/** Of records (table `r`). */
export function inRecords(places: Places, filter: Filter): string {
  return (
    kinds(places, 'r', filter) +
    (filter.costMin === undefined ? '' : ` AND r.cost>=${places.add(filter.costMin)}`)
  );
}

/** Of hours (table `h`) in which there are such records. */
export function inHours(places: Places, filter: Filter): string {
  return (
    kinds(places, 'h', filter) +
    (filter.costMin === undefined ? '' : ` AND h.dearest>=${places.add(filter.costMin)}`)
  );
}

/** The hours, or days, (table `h`) of an account within a span. */
export function kindsOf(
  places: Places,
  account: string,
  { from, to }: Span,
  unit: 'hour' | 'day' = 'hour',
): string {
  return `h.account=${places.add(account)} AND h.${unit}>=${places.add(from)} AND h.${unit}<${places.add(to)}`;
}
