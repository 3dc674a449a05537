import type { Transaction } from '../../storage/database.ts';
import { integerColumn, textColumn } from '../../storage/sql.ts';
import { floatRow } from './batch.ts';

export interface ProcessRow {
  readonly id: string;
  readonly seq: bigint;
  readonly fenced: boolean;
}

export interface CallInRow {
  readonly account: string;
  readonly callIn: bigint;
  readonly frozen: boolean;
}

/** Ids are random and never used again. */
export function* startTillProcess({
  id,
  at,
}: {
  readonly id: string;
  readonly at: number;
}): Transaction<void> {
  yield {
    sql: 'INSERT INTO process (id, seq, fenced, started_at) VALUES ($1, 0, 0, $2)',
    params: [id, at],
    autocommit: true,
  };
}

export function* listProcesses(): Transaction<readonly ProcessRow[]> {
  const rows = yield {
    sql: 'SELECT id, seq, fenced FROM process ORDER BY id',
    params: [],
    autocommit: true,
  };
  return rows.map((row) => ({
    id: textColumn(row, 'id'),
    seq: integerColumn(row, 'seq'),
    fenced: integerColumn(row, 'fenced') !== 0n,
  }));
}

/** The accounts of this process's floats, with their call-in counters and frozen flags. */
export function* listCallIns({
  process,
}: {
  readonly process: string;
}): Transaction<readonly CallInRow[]> {
  const rows = yield {
    sql: 'SELECT a.id, a.call_in, a.frozen FROM till_float f JOIN account a ON a.id=f.account WHERE f.process=$1',
    params: [process],
    autocommit: true,
  };
  return rows.map((row) => ({
    account: textColumn(row, 'id'),
    callIn: integerColumn(row, 'call_in'),
    frozen: integerColumn(row, 'frozen') !== 0n,
  }));
}

/**
 * Fences a process, but with `seq` only while its row still has that value (R4): a process that has
 * committed meanwhile is alive. Without `seq` it is fenced in any case: the process itself asks for
 * that.
 */
export function* fenceProcess({
  id,
  seq,
}: {
  readonly id: string;
  readonly seq?: bigint;
}): Transaction<boolean> {
  const [unchanged, params] = seq === undefined ? ['', [id]] : [' AND seq=$2', [id, seq]];
  const rows = yield {
    sql: `UPDATE process SET fenced=1 WHERE id=$1${unchanged} AND fenced=0 RETURNING id`,
    params,
    autocommit: true,
  };
  return rows.length > 0;
}

/**
 * Fences every process. Only for a caller that knows that no other process lives: it is the only
 * one on a SQLite file, or has just restored a backup.
 */
export function* fenceAllProcesses(): Transaction<readonly string[]> {
  const rows = yield { sql: 'UPDATE process SET fenced=1 RETURNING id', params: [] };
  return rows.map((row) => textColumn(row, 'id'));
}

/**
 * Gives back up to `floatsMax` floats of a fenced process, folding their spending into the
 * accounts' debits (R5), and deletes the process row with the last of them. Locking the process row
 * first makes sweepers take turns. True when nothing is left.
 */
export function* sweepProcess({
  id,
  floatsMax,
}: {
  readonly id: string;
  readonly floatsMax: number;
}): Transaction<boolean> {
  const fenced = yield {
    sql: 'UPDATE process SET seq=seq WHERE id=$1 AND fenced=1 RETURNING id',
    params: [id],
  };
  if (fenced.length === 0) return true;
  const rows = yield {
    sql: `DELETE FROM till_float WHERE process=$1
      AND account IN (SELECT account FROM till_float WHERE process=$1 ORDER BY account LIMIT $2) RETURNING account, granted, spent`,
    params: [id, floatsMax],
  };
  const floats = rows.map(floatRow).sort((a, b) => (a.account < b.account ? -1 : 1));
  for (const { account, granted, spent } of floats) {
    yield {
      sql: 'UPDATE account SET held=held-$2, debits=debits+$3 WHERE id=$1',
      params: [account, granted, spent],
    };
  }
  if (floats.length === floatsMax) return false;
  yield { sql: 'DELETE FROM process WHERE id=$1', params: [id] };
  return true;
}
