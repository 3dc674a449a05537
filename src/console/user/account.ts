import * as z from 'zod';
import { byUser, writeAudit } from '../../accounts/audit.ts';
import { listIdentities } from '../../accounts/identities.ts';
import { listSessions } from '../../accounts/sessions.ts';
import { isEmail } from '../../accounts/text-fields.ts';
import { userKeys } from '../../accounts/user-keys.ts';
import { setUserState, type User, changeUser, findUser } from '../../accounts/users.ts';
import { isZone } from '../../base/calendar.ts';
import type { Clock } from '../../base/clock.ts';
import type { Snapshot } from '../../catalog/snapshot.ts';
import { fundsOf } from '../../ledger/transfers.ts';
import { freezeTx } from '../../ledger/transactions/account.ts';
import { listOrders } from '../../payments/orders.ts';
import { noSessionCookie } from '../../signin/session-cookie.ts';
import type { Site } from '../../signin/site.ts';
import type { Database } from '../../storage/database.ts';
import { balanceView } from './balance.ts';
import type {
  OrderView,
  AnnouncementView,
  List,
  Me,
  SessionView,
  SignInMethod,
  WalletName,
} from '../contract.ts';
import { instant, yuan, yuanOrNull } from '../format.ts';
import { versionIn, moneyInput, nameInput } from '../input.ts';
import { keyViews } from './key-view.ts';
import { publicGroupIn } from './market.ts';
import { orderViews } from './orders.ts';
import { throwProblem } from '../problem.ts';
import { type ConsoleRoute, type SignedInRequest, defineRoute } from '../route.ts';

export interface AccountContext {
  readonly database: Database;
  readonly site: Site;
  /** Where the days and months of key limits begin. */
  readonly utcOffsetMinutes: number;
}

const pageRows = 500;

/**
 * The export of a user's data, and the end of the account. Usage and statement are tables of their
 * own (CSV).
 */
export function accountRoutes(context: AccountContext): readonly ConsoleRoute[] {
  const { database, site } = context;
  return [
    defineRoute({
      method: 'GET',
      path: 'account.json',
      role: 'user',
      perMinute: 10,
      async handle({ user, owner, at, reply }) {
        await reply.file({
          name: `account-${user.id}.json`,
          type: 'application/json; charset=utf-8',
          text: accountText(context, { user, owner }, at),
        });
      },
    }),
    defineRoute({
      method: 'POST',
      path: 'me/close',
      role: 'user',
      input: z.strictObject({ id: z.string() }),
      async handle(request) {
        if (request.input.id !== request.user.id)
          throwProblem('invalid', { fields: { id: 'mismatch' } });
        await closeAccount(database, request);
        request.reply.header('set-cookie', noSessionCookie(site.secure));
      },
    }),
  ];
}

/**
 * Keys stop within a second, and no sign-in works. Records and money stay in the books: an operator
 * pays back what is left, or restores the account.
 */
function closeAccount(
  database: Database,
  { user, owner, at, ip }: Pick<SignedInRequest, 'user' | 'owner' | 'at' | 'ip'>,
): Promise<void> {
  return database.transact(function* () {
    if (user.role === 'operator')
      throwProblem('conflict', {
        message:
          'Another operator must change this account’s role to user before you can close it.',
      });
    const funds = yield* fundsOf(owner.id);
    if (funds !== undefined && funds.held > 0n)
      throwProblem('conflict', {
        message: 'A task is still running. Close the account after it ends.',
      });
    yield* freezeTx({ account: owner.id, frozen: true });
    yield* setUserState(user.id, 'suspended');
    yield* writeAudit(at, {
      ...byUser(user.id, ip),
      action: 'user.close',
      target: `user:${user.id}`,
      before: { state: user.state },
      after: { state: 'suspended', balance: yuan(funds?.balance ?? 0n) },
    });
  });
}

/** Contains no secret: of each key only its first and last letters. */
async function* accountText(
  { database, utcOffsetMinutes }: AccountContext,
  { user, owner }: Pick<SignedInRequest, 'user' | 'owner'>,
  at: number,
): AsyncGenerator<string> {
  const { keys, funds } = await database.snapshot(function* () {
    const all = [...(yield* userKeys(owner.id))].reverse();
    return {
      keys: yield* keyViews(all, { ownerId: owner.id, zone: owner.zone, utcOffsetMinutes, at }),
      funds: yield* fundsOf(owner.id),
    };
  });
  const signIns = await listIdentities(database, user.id);
  const devices = await listSessions(database, user.id, at);
  yield JSON.stringify({
    as_of: instant(at),
    me: meOf(user),
    balance: { total: yuan(funds?.balance ?? 0n), held: yuan(funds?.held ?? 0n) },
    sign_ins: signIns.map(({ provider, name, linkedAt }) => ({
      provider,
      name,
      linked_at: instant(linkedAt),
    })),
    devices: devices.map(({ browser, ip, createdAt, seenAt }) => ({
      browser,
      ip,
      created_at: instant(createdAt),
      seen_at: instant(seenAt),
    })),
    keys,
  }).slice(0, -1);
  yield ',"orders":[';
  let first = true;
  for await (const order of everyOrder(database, owner.id)) {
    yield `${first ? '' : ','}${JSON.stringify(order)}`;
    first = false;
  }
  yield ']}\n';
}

/** Newest first. */
async function* everyOrder(database: Database, account: string): AsyncGenerator<OrderView> {
  let beyond: string | undefined;
  for (;;) {
    const orders = await listOrders(database, { account, beyond, limit: pageRows });
    yield* await orderViews(database, orders);
    beyond = orders.at(-1)?.id;
    if (orders.length < pageRows) return;
  }
}

export interface ShellContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly catalog: () => Snapshot;
  readonly site: Site;
  readonly shell: ShellFacts;
  /** The operator's: decides the days and months of limits. */
  readonly utcOffsetMinutes: number;
  readonly announced: (userId: string, now: number) => Promise<readonly AnnouncementView[]>;
}

/** A demo: vendors, sign-ins and wallets are simulated. */
export interface DemoFacts {
  /** The address of the page on which orders are paid. */
  readonly wallets: string;
}

/** The features of this installation; the console hides what is not configured. */
interface ShellFacts {
  readonly name: string;
  readonly methods: readonly SignInMethod[];
  readonly wallets: readonly WalletName[];
  readonly walletPages: SessionView['wallet_pages'];
  /** The limits of one top-up, nano-yuan. */
  readonly amounts: { readonly least: bigint; readonly most: bigint };
  /** Whether users can get their alerts by e-mail. */
  readonly email: boolean;
  /** The group whose models and prices visitors without a session can read; undefined: none. */
  readonly publicGroup: string | undefined;
  readonly configurationFile?: string | undefined;
  readonly demo: DemoFacts | undefined;
}

const settingsInput = z.strictObject({
  name: nameInput.optional(),
  zone: z.string().refine(isZone, 'not_a_zone').optional(),
  language: z.enum(['zh', 'en']).nullable().optional(),
  low_balance: moneyInput.nullable().optional(),
  email: z.string().trim().refine(isEmail, 'invalid').nullable().optional(),
  shortcuts: z.boolean().optional(),
});

/** The data that every page needs, and the users' own settings. */
export function shellRoutes({
  database,
  clock,
  catalog,
  site,
  shell,
  utcOffsetMinutes,
  announced,
}: ShellContext): readonly ConsoleRoute[] {
  return [
    defineRoute({
      method: 'GET',
      path: 'session',
      role: 'anyone',
      async handle({ caller, headers }): Promise<SessionView> {
        const now = clock.now();
        const user = caller?.user;
        const balance =
          caller && (await database.snapshot(() => balanceView(caller.owner, catalog(), now)));
        return {
          site: shell.name,
          base_url: site.urlFor(headers),
          methods: shell.methods,
          wallets: shell.wallets,
          wallet_pages: shell.walletPages,
          top_up: { least: yuan(shell.amounts.least), most: yuan(shell.amounts.most) },
          limit_zone: offsetName(utcOffsetMinutes),
          features: featuresOf(shell, catalog()),
          ...forUser(shell, user),
          csrf: caller?.csrf ?? null,
          balance: balance ?? null,
          as_of: instant(now),
        };
      },
    }),
    defineRoute({
      method: 'PATCH',
      path: 'me',
      role: 'user',
      input: settingsInput,
      async handle({
        user,
        headers,
        input: { low_balance: lowBalance, email, name: called, zone, language, shortcuts },
      }): Promise<Me> {
        const change = {
          ...(called !== undefined && { name: called }),
          ...(zone !== undefined && { zone }),
          ...(language !== undefined && { language }),
          ...(lowBalance !== undefined && { lowBalance }),
          ...(email !== undefined && { email }),
          ...(shortcuts !== undefined && { shortcuts }),
        };
        const version = versionIn(headers);
        const after = await database.transact(() => changeUser(user.id, version, change));
        if (after !== undefined) return meOf(after);
        const current = await findUser(database, user.id);
        return throwProblem('version_conflict', { current: current && meOf(current) });
      },
    }),
    defineRoute({
      method: 'GET',
      path: 'announcements',
      role: 'user',
      handle: async ({ user }): Promise<List<AnnouncementView>> => ({
        items: await announced(user.id, clock.now()),
      }),
    }),
  ];
}

/** `UTC+8`, `UTC−3:30`. */
function offsetName(minutes: number): string {
  const [size, rest] = [Math.abs(minutes), Math.abs(minutes % 60)];
  const part = rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`;
  return minutes === 0
    ? 'UTC'
    : `UTC${minutes < 0 ? '\u2212' : '+'}${Math.floor(size / 60)}${part}`;
}

/** Where the gateway's file is concerns operators alone. */
const forUser = (
  { configurationFile: file }: ShellFacts,
  user: User | undefined,
): Pick<SessionView, 'me' | 'configuration_file'> => ({
  ...(user?.role === 'operator' && file !== undefined && { configuration_file: file }),
  me: user === undefined ? null : meOf(user),
});

const featuresOf = (
  { wallets, email, publicGroup, demo }: ShellFacts,
  snapshot: Snapshot,
): SessionView['features'] => ({
  payments: wallets.length > 0,
  playground: true,
  email,
  public_models: publicGroupIn(snapshot, publicGroup) !== undefined,
  demo: demo !== undefined,
  ...(demo && { demo_wallets: demo.wallets }),
});

function meOf({
  id,
  name: called,
  role,
  zone,
  language,
  lowBalance,
  email,
  shortcuts,
  version,
  createdAt,
}: User): Me {
  return {
    id,
    name: called,
    role,
    settings: {
      zone,
      language: language ?? null,
      low_balance: yuanOrNull(lowBalance),
      email: email ?? null,
      shortcuts,
    },
    version,
    created_at: instant(createdAt),
  };
}
