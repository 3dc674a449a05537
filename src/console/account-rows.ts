import * as z from 'zod';
import { writeAudit } from '../accounts/audit.ts';
import { listIdentities } from '../accounts/identities.ts';
import { listSessions } from '../accounts/sessions.ts';
import { keysMax, userKeys } from '../accounts/user-keys.ts';
import { setUserState, type User } from '../accounts/users.ts';
import { fundsOf } from '../ledger/moves.ts';
import { freeze } from '../ledger/scripts/account.ts';
import { listOrders } from '../payments/orders.ts';
import { noSessionCookie } from '../signin/session-cookie.ts';
import type { Site } from '../signin/site.ts';
import type { Database } from '../storage/database.ts';
import type { OrderView } from './contract.ts';
import { keyViews } from './key-view.ts';
import { orderViews } from './order-view.ts';
import { fail } from './problem.ts';
import { type ConsoleRow, type ConsoleVisit, row } from './row.ts';
import { meOf } from './shell-rows.ts';
import { instant, yuan } from './written.ts';

export interface AccountRooms {
  readonly database: Database;
  readonly site: Site;
}

const pageRows = 500;

/**
 * What is kept of a user, to be taken away, and the account's end. Usage and statement are tables
 * of their own (CSV).
 */
export function accountRows({ database, site }: AccountRooms): readonly ConsoleRow[] {
  return [
    row({
      method: 'GET',
      path: 'account.json',
      role: 'user',
      perMinute: 10,
      async handle({ user, at, reply }) {
        await reply.file({
          name: `account-${user.id}.json`,
          type: 'application/json; charset=utf-8',
          text: accountText(database, user, at),
        });
      },
    }),
    row({
      method: 'POST',
      path: 'me/close',
      role: 'user',
      input: z.strictObject({ id: z.string() }),
      async handle(visit) {
        if (visit.input.id !== visit.user.id) fail('invalid', { fields: { id: 'mismatch' } });
        await close(database, visit);
        visit.reply.header('set-cookie', noSessionCookie(site.secure));
      },
    }),
  ];
}

/**
 * Keys stop within a second, and nobody signs in. Records and money stay as the books have them: an
 * operator pays back what is left, or restores the account.
 */
function close(
  database: Database,
  { user, at, ip }: Pick<ConsoleVisit, 'user' | 'at' | 'ip'>,
): Promise<void> {
  return database.transact(function* () {
    if (user.role === 'operator')
      fail('conflict', {
        message: 'An operator’s account is closed once another operator has made it a user’s.',
      });
    const funds = yield* fundsOf(user.id);
    if (funds !== undefined && funds.held > 0n)
      fail('conflict', { message: 'A task still runs. Close the account when it has ended.' });
    yield* freeze({ account: user.id, frozen: true });
    yield* setUserState(user.id, 'suspended');
    const by = { actorKind: 'user', actor: user.id, account: user.id, ip } as const;
    const after = { state: 'suspended', balance: yuan(funds?.balance ?? 0n) };
    yield* writeAudit(at, {
      ...by,
      action: 'user.close',
      target: `user:${user.id}`,
      before: { state: user.state },
      after,
    });
  });
}

/** No secret is in it: keys are told by their first and last letters. */
async function* accountText(database: Database, user: User, at: number): AsyncGenerator<string> {
  const { keys, funds } = await database.snapshot(function* () {
    const all = yield* userKeys({ userId: user.id, order: 'oldest', limit: keysMax });
    return { keys: yield* keyViews(all, user.id, user.zone, at), funds: yield* fundsOf(user.id) };
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
  for await (const order of everyOrder(database, user.id)) {
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
