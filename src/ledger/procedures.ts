import type { Procedures } from '../storage/database.ts';
import { refund } from './scripts/account.ts';
import { batchAtOnce, batchStepByStep } from './scripts/batch.ts';
import { keepFailed, settleLate } from './scripts/late.ts';
import { fence, look, lookForCalls, start, sweep } from './scripts/process.ts';

/**
 * What the till calls by name: on SQLite they run inside the database's thread. To be given to
 * `open`, and to `serveSqlite` in the thread.
 */
export const ledgerProcedures = {
  'till.start': start,
  'till.batch': batchStepByStep,
  'till.batch-at-once': batchAtOnce,
  'till.look': look,
  'till.calls': lookForCalls,
  'till.fence': fence,
  'till.sweep': sweep,
  'till.late': settleLate,
  'till.failed': keepFailed,
  'till.refund': refund,
} satisfies Procedures;
