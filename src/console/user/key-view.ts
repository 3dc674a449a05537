import * as z from 'zod';
import { auditPage } from '../../accounts/audit.ts';
import { type OldSecret, oldSecretsOf } from '../../accounts/key-secrets.ts';
import type { Key } from '../../accounts/keys.ts';
import { type KeyTerms, namedMax } from '../../accounts/principal.ts';
import { hourMs, nextDay, zoneDay, zoneDayAt, zoneDays } from '../../base/calendar.ts';
import type { Nano } from '../../base/money.ts';
import { reason } from '../../base/reason.ts';
import { unknownName } from '../../catalog/config-report.ts';
import type { Snapshot } from '../../catalog/snapshot.ts';
import { windowsOfKey } from '../../gateway/key-limits.ts';
import { isNetwork } from '../../http/client-address.ts';
import { periodOfWindow, spentInWindows } from '../../ledger/limit-windows.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { lastHourByKey, spending, spentByKey } from '../../usage/spending.ts';
import type { KeyDetail, KeyState, KeyView, KeyTermsView, LimitWindowView } from '../contract.ts';
import { instant, instantOrNull, yuan, yuanOrNull } from '../format.ts';
import { auditChanges } from '../operator/audit.ts';
import { throwWrong } from '../problem.ts';
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
 * because the key would open nothing; `before` is of this group, or of `before.group`.
 */
export function termsIn(
  written: WrittenTerms,
  before: KeyTerms & { readonly group?: string },
  group: string,
  catalog: Snapshot,
): KeyTerms {
  const models = listOf(written.only_models, before.models);
  const moved = before.group !== undefined && before.group !== group;
  const checked = moved ? models : written.only_models;
  const unsold = checked?.find((model) => catalog.offer(group, model) === undefined);
  if (unsold !== undefined) {
    const names = catalog.listing(group).map(({ id }) => id);
    const why = reason('not_in_group', { group, ...unknownName(unsold, names) });
    throwWrong([{ path: 'only_models', ...why }]);
  }
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

/** Whose keys are shown, at which time (wall clock, ms), by which calendars. */
export interface KeysShown {
  readonly ownerId: string;
  /** The owner's: decides the month of `spent_this_month`. */
  readonly zone: string;
  /** The operator's: decides the days and months of limits. */
  readonly utcOffsetMinutes: number;
  readonly at: number;
}

/** Keys of one user as their owner sees them. Run it in a snapshot. */
export function* keyViews(keys: readonly Key[], shown: KeysShown): Transaction<readonly KeyView[]> {
  if (keys.length === 0) return [];
  const { ownerId, zone, at } = shown;
  const spent = yield* spentByKey(ownerId);
  const month = zoneDay(zone, `${zoneDayAt(zone, at).day.slice(0, 7)}-01`);
  const [only] = keys.length === 1 ? keys : [];
  const thisMonth = yield* spending(
    { account: ownerId, from: month.from, to: at + hourMs, filter: { keyId: only?.id } },
    ['key_id'],
  );
  const inMonth = new Map(thisMonth.map(({ of, cost }) => [of.key_id, cost]));
  const oldSecrets = yield* oldSecretsOf(ownerId, at);
  const windows = keys.map((key) => windowsOfKey(key, shown));
  const used = yield* spentInWindows(
    windows.flatMap((each) => [...each.values()].map(({ id }) => id)),
  );
  // A use is written to the key within a minute; the record of its request is there at once.
  const lastUsedAt = ({ id, lastUsedAt: written = 0 }: Key): number | undefined =>
    Math.max(written, spent.get(id)?.lastAt ?? 0) || undefined;
  // A process that was killed within that minute has not written the use. Its hour is known.
  const unwritten = keys.filter((key) => spent.has(key.id) && lastUsedAt(key) === undefined);
  const lastHours = yield* lastHourByKey(
    ownerId,
    unwritten.map(({ id }) => id),
  );
  return keys.map((key, index) => {
    const { cost = 0n } = spent.get(key.id) ?? {};
    const lastHour = lastHours.get(key.id);
    const windowOf = (kind: 'day' | 'month') => windowView(windows[index]?.get(kind), used);
    const [daily, monthly] = [windowOf('day'), windowOf('month')];
    const reached = [...(windows[index]?.values() ?? [])].some(
      ({ id, amount }) => (used.get(id) ?? 0n) >= amount,
    );
    return {
      id: key.id,
      name: key.name,
      group: key.group,
      prefix: key.prefix,
      last4: key.last4,
      state: stateOf(key, reached || (key.limit !== undefined && cost >= key.limit), at),
      spent: yuan(cost),
      limit: yuanOrNull(key.limit),
      daily_limit: yuanOrNull(key.dailyLimit),
      monthly_limit: yuanOrNull(key.monthlyLimit),
      daily,
      monthly,
      spent_this_month: yuan(inMonth.get(key.id) ?? 0n),
      created_at: instant(key.createdAt),
      expires_at: instantOrNull(key.expiresAt),
      last_used_at: instantOrNull(
        lastUsedAt(key) ?? (lastHour && Math.max(lastHour, key.createdAt)),
      ),
      old_secret: oldSecretView(oldSecrets.get(key.id)),
      version: key.version,
      ...termsView(key),
    };
  });
}

function windowView(
  window: { readonly id: string } | undefined,
  spent: ReadonlyMap<string, Nano>,
): LimitWindowView | null {
  const period = window && periodOfWindow(window.id);
  if (window === undefined || period === undefined) return null;
  return { spent: yuan(spent.get(window.id) ?? 0n), resets_at: instant(period.to) };
}

const oldSecretView = (old: OldSecret | undefined): KeyView['old_secret'] =>
  old === undefined ? null : { last4: old.last4, works_until: instant(old.worksUntil) };

/** A key as the audit trail records it. */
export const keyFacts = ({
  name: called,
  group,
  status,
  limit,
  dailyLimit,
  monthlyLimit,
  expiresAt,
  ...terms
}: Key) => ({
  name: called,
  group,
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

function stateOf({ status, expiresAt }: Key, limitReached: boolean, now: number): KeyState {
  if (status !== 'active') return 'disabled';
  if (expiresAt !== undefined && expiresAt <= now) return 'expired';
  return limitReached ? 'limit_reached' : 'active';
}

export function* keyDetail(
  database: Database,
  snapshot: Snapshot,
  key: Key,
  shown: KeysShown,
): Transaction<Omit<KeyDetail, 'history'> | undefined> {
  const [view] = yield* keyViews([key], shown);
  if (view === undefined) return undefined;
  const { zone, at: now } = shown;
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
