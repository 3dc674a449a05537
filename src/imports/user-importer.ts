import { fraction, product } from '../base/fraction.ts';
import { importKey } from '../accounts/keys.ts';
import { namedMax } from '../accounts/principal.ts';
import { isEmail, plainName } from '../accounts/text-fields.ts';
import { linkIdentity } from '../accounts/identities.ts';
import { setUserEmail, setUserState } from '../accounts/users.ts';
import type { Nano } from '../base/money.ts';
import { formatYuan, nanoPerYuan } from '../base/money.ts';
import { isNetwork } from '../http/client-address.ts';
import { creditTx } from '../ledger/transactions/account.ts';
import { openingsOf } from '../ledger/transfers.ts';
import { enrol } from '../signin/enrol.ts';
import type { Transaction } from '../storage/database.ts';
import type { ForeignInstallation, ForeignKey, ForeignUser, UnitWorth } from './new-api.ts';
import { divided, roundedUp } from '../catalog/decimal.ts';
import type { EarlierImports } from './import-records.ts';
import { counted, type ImportProgress, type ImportSummary, leaveOut } from './report.ts';

export interface UserImportContext {
  /** The name of the installation: opening transfers are made once for each. */
  readonly origin: string;
  readonly imported: EarlierImports;
  readonly report: ImportSummary;
  readonly worth: UnitWorth;
  /** Wall clock, ms. */
  readonly at: number;
  readonly onProgress: ImportProgress;
}

const yuanPlaces = 9;
const signsInWith = 'github';

/** Units → nano-yuan, rounded up, so that nobody loses by moving. */
export const worthOf = (units: bigint, { perDollar, rate }: UnitWorth): Nano =>
  roundedUp(divided(product(fraction(units), rate), perDollar), yuanPlaces);

/** The most that all imports under one name may credit: far below the largest sum of a ledger. */
const openingsMax: Nano = 1_000_000_000n * nanoPerYuan;

/** A foreign user and its account here. `opening`: the balance that this import made. */
interface ImportedUser extends ForeignUser {
  readonly ours: string;
  readonly opening: Nano | undefined;
}

/** By the users' foreign ids. */
export type ImportedUsers = ReadonlyMap<string, ImportedUser>;

/** Imports users with their balances. */
export function* importUsers(
  { users }: ForeignInstallation,
  context: UserImportContext,
): Transaction<ImportedUsers> {
  const { imported, report } = context;
  const opened = yield* openings(context.origin);
  const ours = new Map<string, ImportedUser>();
  let brought = [...opened.values()].reduce((sum, amount) => sum + amount, 0n);
  for (const user of counted('users', users, context.onProgress)) {
    const what = `user ${user.id} (${user.name})`;
    addUp(user, context);
    const before = imported.before('user', user.id);
    const now = user.quota > 0n ? worthOf(user.quota, context.worth) : 0n;
    const why = reasonToLeave(user, before?.was, brought + now > openingsMax, now);
    if (why !== undefined) {
      leaveOut(report, 'users', what, why);
      continue;
    }
    if (before === undefined) {
      brought += now;
      ours.set(user.id, {
        ...user,
        ours: yield* importUser(user, now, what, context),
        opening: now > 0n ? now : undefined,
      });
      continue;
    }
    report.users.before++;
    ours.set(user.id, { ...user, ours: before.ours, opening: undefined });
    const then = opened.get(openingId(context.origin, user.id)) ?? 0n;
    if (then !== now)
      report.notes.push({
        what,
        note: `came with ${formatYuan(then)} yuan, and has ${formatYuan(now)} there now: a balance is taken once`,
      });
  }
  report.sums.transferred = [...(yield* openings(context.origin)).values()].reduce(
    (sum, amount) => sum + amount,
    0n,
  );
  return ours;
}

/**
 * The reason why a user is left out, if there is one. `was`: the user's name at an earlier import.
 * `isTooMuch`: with its balance, the import would credit more than it may.
 */
function reasonToLeave(
  { deleted, name }: ForeignUser,
  was: string | undefined,
  isTooMuch: boolean,
  balance: Nano,
): string | undefined {
  if (deleted) return 'deleted there';
  if (was === undefined)
    return isTooMuch
      ? `has ${formatYuan(balance)} yuan there, and an import brings ${formatYuan(openingsMax)} yuan at most in all`
      : undefined;
  return was === name
    ? undefined
    : `was ${was} when it was imported: another installation is imported with another --as`;
}

const openingId = (origin: string, theirs: string): string => `opening_${origin}_${theirs}`;

/** Opening transfers made under this name, by their ids. */
function* openings(origin: string): Transaction<ReadonlyMap<string, Nano>> {
  const begins = openingId(origin, '');
  const made = (yield* openingsOf(origin)).filter(({ id }) => id.startsWith(begins));
  return new Map(made.map(({ id, amount }) => [id, amount]));
}

function addUp(
  { deleted, quota, rewards }: ForeignUser,
  { report: { sums }, worth }: UserImportContext,
): void {
  sums.rewardUnits += rewards;
  if (deleted) sums.deletedUnits += quota;
  else if (quota < 0n) sums.owedUnits -= quota;
  else {
    sums.units += quota;
    sums.worth += worthOf(quota, worth);
  }
}

function* importUser(
  user: ForeignUser,
  opening: Nano,
  what: string,
  { origin, imported, report, at }: UserImportContext,
): Transaction<string> {
  const { id } = yield* enrol(
    plainName(user.name) || `user ${user.id}`,
    user.operator ? 'operator' : 'user',
    user.createdAt ?? at,
  );
  if (!user.enabled) yield* setUserState(id, 'suspended');
  if (user.github !== undefined) {
    const linked = yield* linkIdentity(
      id,
      { provider: signsInWith, subject: user.github, name: user.name },
      at,
    );
    if (linked !== 'linked')
      report.notes.push({ what, note: 'signs in here as somebody else already: not linked' });
  } else report.withoutSignIn++;
  if (user.email !== undefined && isEmail(user.email)) yield* setUserEmail(id, user.email);
  else if (user.email !== undefined)
    report.notes.push({ what, note: 'its e-mail address is none' });
  if (opening > 0n) {
    const done = yield* creditTx({
      id: openingId(origin, user.id),
      account: id,
      from: 'grants',
      amount: opening,
      code: 'opening',
      ref: origin,
      at,
    });
    if (done !== 'created')
      throw new Error(`the opening transfer of ${what} is there, and its user is not`);
  } else if (user.quota < 0n)
    report.notes.push({
      what,
      note: `owes ${-user.quota} units there, and begins with nothing here`,
    });
  report.users.taken++;
  yield* imported.remember('user', user.id, id, user.name);
  return id;
}

/** Imports keys, which go on working. The hash of a key is stored, never the key. */
export function* importKeys(
  { keys }: ForeignInstallation,
  users: ImportedUsers,
  groups: ReadonlySet<string>,
  context: UserImportContext,
): Transaction<void> {
  for (const key of counted('keys', keys, context.onProgress)) {
    const what = `key ${key.id} (${key.name})`;
    const why = yield* importOneKey(key, users.get(key.userId), groups, what, context);
    if (why !== undefined) leaveOut(context.report, 'keys', what, why);
  }
}

/** Imports one key; returns the reason why it is left out, if it is. */
function* importOneKey(
  key: ForeignKey,
  user: ImportedUser | undefined,
  groups: ReadonlySet<string>,
  what: string,
  { report, worth, at }: UserImportContext,
): Transaction<string | undefined> {
  if (key.deleted) return 'deleted there';
  if (user === undefined) return 'its user is not here';
  const group = groupOf(key, user);
  if (!groups.has(group)) return `there is no group ${group}`;
  const tooMuch = unconfined(key);
  if (tooMuch !== undefined) return tooMuch;
  const done = yield* importKey({
    models: key.models,
    addresses: key.addresses,
    userId: user.ours,
    name: plainName(key.name),
    group,
    secret: key.secret,
    enabled: key.enabled,
    limit: limitOf(key, worth),
    expiresAt: key.expiresAt,
    at: key.createdAt ?? at,
    lastUsedAt: key.lastUsedAt,
  });
  if (done === 'others') return "it is somebody else's here";
  if (done === 'shapeless') return 'a key has 16 to 125 letters, digits, - and _ after its sk-';
  if (done === 'there') {
    report.keys.before++;
    return undefined;
  }
  report.keys.taken++;
  if (key.group === 'auto')
    report.notes.push({ what, note: `chose its group by itself there; here it is of ${group}` });
  return undefined;
}

/** A key's limit; undefined where the limit is more than all imports may credit. */
function limitOf({ remaining }: ForeignKey, worth: UnitWorth): Nano | undefined {
  const limit = remaining === undefined ? undefined : worthOf(remaining, worth);
  return limit === undefined || limit > openingsMax ? undefined : limit;
}

/**
 * The reason why a key cannot have the restrictions here that it had there. Such a key is left out,
 * since it would permit more than it did.
 */
function unconfined({ models, addresses }: ForeignKey): string | undefined {
  if (models.length > namedMax || addresses.length > namedMax)
    return `it names more than ${namedMax} models or addresses`;
  const wrong = addresses.find((address) => !isNetwork(address));
  return wrong === undefined
    ? undefined
    : `it may be used from '${wrong}', which is no address and no network`;
}

const groupOf = (key: ForeignKey, user: ForeignUser): string =>
  key.group === '' || key.group === 'auto' ? user.group : key.group;
