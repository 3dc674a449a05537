import { auditPage } from '../accounts/audit.ts';
import type { Key } from '../accounts/keys.ts';
import { nextDay, zoneDay, zoneDayAt, zoneDays } from '../base/zone.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import type { Database, Script } from '../storage/database.ts';
import { spending, spentByKey } from '../usage/spending.ts';
import { hourMs } from '../usage/cover.ts';
import type { KeyDetail, KeyState, KeyView } from './contract.ts';
import { termFacts, termsView } from './key-terms.ts';
import { changesOf } from './operator-audit.ts';
import { topModels } from './overview-rows.ts';
import { daily, seriesView } from './series.ts';
import { instant, instantOrNull, yuan, yuanOrNull } from './written.ts';

const seriesDays = 30;
const historyMax = 20;

/** Keys of one user as their owner sees them. To be run in a snapshot. */
export function* keyViews(
  keys: readonly Key[],
  userId: string,
  zone: string,
  now: number,
): Script<readonly KeyView[]> {
  if (keys.length === 0) return [];
  const spent = yield* spentByKey(userId);
  const month = zoneDay(zone, `${zoneDayAt(zone, now).day.slice(0, 7)}-01`);
  const [only] = keys.length === 1 ? keys : [];
  const thisMonth = yield* spending(
    { account: userId, from: month.from, to: now + hourMs, filter: { keyId: only?.id } },
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

/** A key as the trail of what was done tells it. */
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

/** What was done with a key, for its owner. */
export async function keyHistory(
  database: Database,
  { id, userId }: Pick<Key, 'id' | 'userId'>,
): Promise<KeyDetail['history']> {
  const entries = await auditPage(database, { target: id, account: userId, limit: historyMax });
  return entries.map((entry) => ({
    at: instant(entry.at),
    action: entry.action,
    by: entry.actorKind,
    changes: changesOf(entry),
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
): Script<Omit<KeyDetail, 'history'> | undefined> {
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
