import * as z from 'zod';
import { auditPage } from '../../accounts/audit.ts';
import type { Key } from '../../accounts/keys.ts';
import { type KeyTerms, namedMax } from '../../accounts/principal.ts';
import { nextDay, zoneDay, zoneDayAt, zoneDays } from '../../base/calendar.ts';
import type { Snapshot } from '../../catalog/snapshot.ts';
import { isNetwork } from '../../http/client-address.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { hourMs } from '../../usage/ranges.ts';
import { spending, spentByKey } from '../../usage/spending.ts';
import type { KeyDetail, KeyState, KeyView, KeyTermsView } from '../contract.ts';
import { instant, instantOrNull, yuan, yuanOrNull } from '../format.ts';
import { auditChanges } from '../operator/audit.ts';
import { throwProblem } from '../problem.ts';
import { topModels } from './overview.ts';
import { daily, seriesView } from './series.ts';

const countMax = 1_000_000_000;
const count = z
  .number()
  .int('not_a_number')
  .min(1, 'too_small')
  .max(countMax, 'too_large')
  .nullish();

/** The restrictions of a key as its owner enters them: null or an empty list restricts nothing. */
export const termsInput = {
  only_models: z.array(z.string()).max(namedMax, 'too_long').nullish(),
  addresses: z
    .array(z.string().trim())
    .max(namedMax, 'too_long')
    .refine((list) => list.every(isNetwork), 'not_an_address')
    .nullish(),
  rpm: count,
  tpm: count,
  concurrency: count,
};

type WrittenTerms = z.output<z.ZodObject<typeof termsInput>>;

/**
 * The entered restrictions, completed from `before`. Refuses a model that the group does not sell,
 * because the key would open nothing.
 */
export function termsIn(
  written: WrittenTerms,
  before: KeyTerms,
  group: string,
  catalog: Snapshot,
): KeyTerms {
  const models = listOf(written.only_models, before.models);
  const unsold = written.only_models?.some((model) => catalog.offer(group, model) === undefined);
  if (unsold === true) throwProblem('invalid', { fields: { only_models: 'unknown' } });
  return {
    models,
    addresses: listOf(written.addresses, before.addresses),
    rpm: countOf(written.rpm, before.rpm),
    tpm: countOf(written.tpm, before.tpm),
    concurrency: countOf(written.concurrency, before.concurrency),
  };
}

const termsView = ({ models, addresses, rpm, tpm, concurrency }: KeyTerms): KeyTermsView => ({
  only_models: models ?? null,
  addresses: addresses ?? null,
  rpm: rpm ?? null,
  tpm: tpm ?? null,
  concurrency: concurrency ?? null,
});

/** The same for the audit trail, which holds texts. */
const termFacts = ({ models, addresses, rpm, tpm, concurrency }: KeyTerms) => ({
  only_models: models?.join(', ') ?? null,
  addresses: addresses?.join(', ') ?? null,
  rpm: rpm?.toString() ?? null,
  tpm: tpm?.toString() ?? null,
  concurrency: concurrency?.toString() ?? null,
});

function listOf(
  written: readonly string[] | null | undefined,
  before: readonly string[] | undefined,
): readonly string[] | undefined {
  if (written === undefined) return before;
  return written === null || written.length === 0 ? undefined : [...new Set(written)];
}

const countOf = (
  written: number | null | undefined,
  before: number | undefined,
): number | undefined => (written === undefined ? before : (written ?? undefined));

const seriesDays = 30;
const historyMax = 20;

/** Keys of one user as their owner sees them. Run it in a snapshot. */
export function* keyViews(
  keys: readonly Key[],
  ownerId: string,
  zone: string,
  now: number,
): Transaction<readonly KeyView[]> {
  if (keys.length === 0) return [];
  const spent = yield* spentByKey(ownerId);
  const month = zoneDay(zone, `${zoneDayAt(zone, now).day.slice(0, 7)}-01`);
  const [only] = keys.length === 1 ? keys : [];
  const thisMonth = yield* spending(
    { account: ownerId, from: month.from, to: now + hourMs, filter: { keyId: only?.id } },
    ['key_id'],
  );
  const inMonth = new Map(thisMonth.map(({ of, cost }) => [of.key_id, cost]));
  return keys.map((key) => {
    const cost = spent.get(key.id)?.cost ?? 0n;
    return {
      id: key.id,
      name: key.name,
      group: key.group,
      prefix: key.prefix,
      last4: key.last4,
      state: stateOf(key, cost, now),
      spent: yuan(cost),
      limit: yuanOrNull(key.limit),
      daily_limit: yuanOrNull(key.dailyLimit),
      monthly_limit: yuanOrNull(key.monthlyLimit),
      spent_this_month: yuan(inMonth.get(key.id) ?? 0n),
      created_at: instant(key.createdAt),
      expires_at: instantOrNull(key.expiresAt),
      last_used_at: instantOrNull(key.lastUsedAt),
      version: key.version,
      ...termsView(key),
    };
  });
}

/** A key as the audit trail records it. */
export const keyFacts = ({
  name: called,
  status,
  limit,
  dailyLimit,
  monthlyLimit,
  expiresAt,
  ...terms
}: Key) => ({
  name: called,
  status,
  limit: yuanOrNull(limit),
  daily_limit: yuanOrNull(dailyLimit),
  monthly_limit: yuanOrNull(monthlyLimit),
  expires_at: instantOrNull(expiresAt),
  ...termFacts(terms),
});

/** A key's entries in the audit trail, for its owner. */
export async function keyHistory(
  database: Database,
  { id, userId }: Pick<Key, 'id' | 'userId'>,
): Promise<KeyDetail['history']> {
  const entries = await auditPage(database, { target: id, account: userId, limit: historyMax });
  return entries.map((entry) => ({
    at: instant(entry.at),
    action: entry.action,
    by: entry.actorKind,
    changes: auditChanges(entry),
  }));
}

function stateOf({ status, expiresAt, limit }: Key, spent: bigint, now: number): KeyState {
  if (status !== 'active') return 'disabled';
  if (expiresAt !== undefined && expiresAt <= now) return 'expired';
  return limit !== undefined && spent >= limit ? 'limit_reached' : 'active';
}

export function* keyDetail(
  database: Database,
  snapshot: Snapshot,
  key: Key,
  zone: string,
  now: number,
): Transaction<Omit<KeyDetail, 'history'> | undefined> {
  const [view] = yield* keyViews([key], key.userId, zone, now);
  if (view === undefined) return undefined;
  const today = zoneDayAt(zone, now);
  const days = zoneDays(zone, nextDay(today.day, 1 - seriesDays), today.day);
  const models = yield* daily({
    account: key.userId,
    days,
    by: 'model',
    filter: { keyId: key.id },
  });
  const lately = yield* spending(
    { account: key.userId, from: now - hourMs, to: now + hourMs, filter: { keyId: key.id } },
    [],
  );
  const span = { from: days[0]?.from ?? today.from, to: today.to };
  return {
    ...view,
    series: yield* seriesView(key.userId, zone, { days, by: 'model' }, models),
    top: yield* topModels(database, key.userId, span, models, key.id),
    models: snapshot
      .listing(key.group)
      .map(({ id }) => id)
      .filter((id) => key.models?.includes(id) ?? true),
    requests_last_hour: lately[0]?.requests ?? 0,
  };
}
