import type { Procedures } from '../storage/database.ts';
import { refundTx } from './transactions/account.ts';
import { batchAtOnce, batchStepByStep } from './transactions/batch.ts';
import { keepFailedCharge, settleLate } from './transactions/charge.ts';
import {
  fenceProcess,
  listProcesses,
  listCallIns,
  startTillProcess,
  sweepProcess,
} from './transactions/process.ts';

/**
 * The procedures that the till calls by name: on SQLite they run inside the database's thread. Pass
 * them to `open`, and to `serveSqlite` in the thread.
 */
export const ledgerProcedures = {
  'till.start': startTillProcess,
  'till.batch': batchStepByStep,
  'till.batch-at-once': batchAtOnce,
  'till.look': listProcesses,
  'till.calls': listCallIns,
  'till.fence': fenceProcess,
  'till.sweep': sweepProcess,
  'till.late': settleLate,
  'till.failed': keepFailedCharge,
  'till.refund': refundTx,
} satisfies Procedures;
