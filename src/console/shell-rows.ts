import * as z from 'zod';
import { isEmail } from '../accounts/email.ts';
import { changeUser, findUser, type User } from '../accounts/users.ts';
import { isZone } from '../base/zone.ts';
import type { Clock } from '../base/clock.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import type { Site } from '../signin/site.ts';
import type { Database } from '../storage/database.ts';
import { balanceView } from './balance-view.ts';
import type {
  AnnouncementView,
  List,
  Me,
  SessionView,
  SignInMethod,
  WalletName,
} from './contract.ts';
import { versionIn } from './headers.ts';
import { money, name } from './input.ts';
import { fail } from './problem.ts';
import { type ConsoleRow, row } from './row.ts';
import { instant, yuan, yuanOrNull } from './written.ts';

export interface ShellRooms {
  readonly database: Database;
  readonly clock: Clock;
  readonly catalog: () => Snapshot;
  readonly site: Site;
  readonly shell: Shell;
  readonly announced: (userId: string, now: number) => Promise<readonly AnnouncementView[]>;
}

/** What this installation has: what is not configured is not shown. */
export interface Shell {
  readonly name: string;
  readonly methods: readonly SignInMethod[];
  readonly wallets: readonly WalletName[];
  /** Of one top-up, nano-yuan. */
  readonly amounts: { readonly least: bigint; readonly most: bigint };
  /** Whether users are told by e-mail what they ask to be told. */
  readonly email: boolean;
}

const settings = z.strictObject({
  name: name.optional(),
  zone: z.string().refine(isZone, 'not_a_zone').optional(),
  language: z.enum(['zh', 'en']).nullable().optional(),
  low_balance: money.nullable().optional(),
  email: z.string().trim().refine(isEmail, 'invalid').nullable().optional(),
  shortcuts: z.boolean().optional(),
});

/** What every page needs, and what users say about themselves. */
export function shellRows({
  database,
  clock,
  catalog,
  site,
  shell,
  announced,
}: ShellRooms): readonly ConsoleRow[] {
  return [
    row({
      method: 'GET',
      path: 'session',
      role: 'anyone',
      async handle({ caller, headers }): Promise<SessionView> {
        const now = clock.now();
        const user = caller?.user;
        const balance =
          user &&
          (await database.snapshot(() =>
            balanceView({ userId: user.id, zone: user.zone }, catalog(), now),
          ));
        return {
          site: shell.name,
          base_url: site.urlFor(headers),
          methods: shell.methods,
          wallets: shell.wallets,
          top_up: { least: yuan(shell.amounts.least), most: yuan(shell.amounts.most) },
          features: { payments: shell.wallets.length > 0, playground: true, email: shell.email },
          me: user === undefined ? null : meOf(user),
          csrf: caller?.csrf ?? null,
          balance: balance ?? null,
          as_of: instant(now),
        };
      },
    }),
    row({
      method: 'PATCH',
      path: 'me',
      role: 'user',
      input: settings,
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
        return fail('version_conflict', { current: current && meOf(current) });
      },
    }),
    row({
      method: 'GET',
      path: 'announcements',
      role: 'user',
      handle: async ({ user }): Promise<List<AnnouncementView>> => ({
        items: await announced(user.id, clock.now()),
      }),
    }),
  ];
}

export function meOf({
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
