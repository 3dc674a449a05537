import { assert } from '../../base/assert.ts';
import type { Script } from '../../storage/database.ts';
import { arrayLiteral } from './array-literal.ts';
import type { FloatRow } from './batch.ts';
import { type Exchange, exchange, floatAfter, lockedAccount, type Move } from './move.ts';
import { text } from './read.ts';

/**
 * The same as `movesStepByStep` over a network: as many statements for a thousand accounts as for
 * one. The rows are locked in the order of the accounts' bytes, which is that in which everybody
 * locks them (R11).
 */
export function* movesAtOnce(process: string, moves: readonly Move[]): Script<FloatRow[]> {
  const limits = moves.filter(({ limit }) => limit !== undefined);
  if (limits.length > 0) {
    yield {
      sql: `INSERT INTO account (id, kind, credits) SELECT id, 'limit', credits FROM unnest($1::text[], $2::bigint[]) AS l(id, credits)
        ON CONFLICT (id) DO NOTHING`,
      params: [
        arrayLiteral(limits.map(({ account }) => account)),
        arrayLiteral(limits.map(({ limit }) => limit ?? 0n)),
      ],
    };
  }
  const rows = yield {
    sql: `SELECT a.id, a.credits, a.debits, a.held, a.frozen, a.call_in, f.granted, f.spent
      FROM account a LEFT JOIN till_float f ON f.process=$1 AND f.account=a.id
      WHERE a.id=ANY($2::text[]) ORDER BY a.id COLLATE "C" FOR UPDATE OF a`,
    params: [process, arrayLiteral(moves.map(({ account }) => account))],
  };
  const locked = new Map(rows.map((row) => [text(row, 'id'), lockedAccount(row)]));
  const floats: FloatRow[] = [];
  const done: Exchange[] = [];
  for (const move of moves) {
    const before = locked.get(move.account) ?? lockedAccount(undefined);
    const change = before.exists ? exchange(before, move) : undefined;
    floats.push(floatAfter(move.account, before, change));
    if (change !== undefined) done.push(change);
  }
  if (done.length > 0) yield* perform(process, done);
  return floats;
}

function* perform(process: string, done: readonly Exchange[]): Script<void> {
  const changed = yield {
    sql: `UPDATE account SET debits=debits+e.debits_more, held=held+e.held_more, call_in=call_in+e.call_in_more
      FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) AS e(id, debits_more, held_more, call_in_more)
      WHERE account.id=e.id AND (kind<>'user' OR debits+held+debits_more+held_more<=credits) RETURNING account.id`,
    params: [
      arrayLiteral(done.map(({ account }) => account)),
      arrayLiteral(done.map(({ debitsMore }) => debitsMore)),
      arrayLiteral(done.map(({ heldMore }) => heldMore)),
      arrayLiteral(done.map(({ callInMore }) => callInMore)),
    ],
  };
  assert(changed.length === done.length, 'what is drawn is there');
  const kept = done.filter(({ granted }) => granted > 0n);
  if (kept.length > 0) {
    yield {
      sql: `INSERT INTO till_float (process, account, granted, spent) SELECT $1, account, granted, 0 FROM unnest($2::text[], $3::bigint[]) AS k(account, granted)
        ON CONFLICT (process, account) DO UPDATE SET granted=excluded.granted, spent=0`,
      params: [
        process,
        arrayLiteral(kept.map(({ account }) => account)),
        arrayLiteral(kept.map(({ granted }) => granted)),
      ],
    };
  }
  const emptied = done.filter(({ granted }) => granted === 0n);
  if (emptied.length > 0) {
    yield {
      sql: 'DELETE FROM till_float WHERE process=$1 AND account=ANY($2::text[])',
      params: [process, arrayLiteral(emptied.map(({ account }) => account))],
    };
  }
}
