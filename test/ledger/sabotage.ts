import { ledgerProcedures } from '../../src/ledger/procedures.ts';
import {
  DatabaseError,
  type Procedures,
  type Row,
  type Transaction,
  type Statement,
} from '../../src/storage/database.ts';
import type { OnUnknown } from './simulated-network.ts';

/** A rule of till.md §1 taken away. The simulation must notice. */
export interface Sabotage {
  readonly rule: string;
  readonly procedures: Procedures;
  readonly onUnknown?: OnUnknown;
  /**
   * What the till itself complains of is not counted: the damage must show in the books or at a
   * client.
   */
  readonly deaf?: true;
}

type Edit = (statement: Statement) => Statement;
type Answer = (statement: Statement, rows: readonly Row[]) => readonly Row[];

/** The procedures as they are, but for what their statements say and what they are told. */
function sabotaged(
  names: readonly string[],
  edit: Edit,
  answer: Answer = (_statement, rows) => rows,
): Procedures {
  const procedures: Record<string, Procedures[string]> = { ...ledgerProcedures };
  for (const name of names) {
    const original = procedures[name];
    if (original === undefined) throw new Error(`there is no procedure ${name}`);
    procedures[name] = (input) => run(original(input), edit, answer);
  }
  return procedures;
}

function* run(script: Transaction<unknown>, edit: Edit, answer: Answer): Transaction<unknown> {
  let step = script.next();
  while (!step.done) step = script.next(answer(step.value, yield edit(step.value)));
  return step.value;
}

const replaced =
  (...pairs: readonly (readonly [text: string, by: string])[]): Edit =>
  (statement) => ({
    ...statement,
    sql: pairs.reduce((sql, [text, by]) => sql.replaceAll(text, by), statement.sql),
  });

const batches = ['till.batch', 'till.batch-at-once'];

/**
 * Reads the account as it was when it was last read, as a draw does that does not lock it first.
 */
function staleReads(): Answer {
  const known = new Map<string, Row>();
  return ({ sql, params }, rows) => {
    if (!sql.startsWith('UPDATE account SET id=id') && !sql.includes('FOR UPDATE')) return rows;
    return rows.map((row) => {
      const account = String(row['id'] ?? params[0]);
      const { credits = null, debits = null, held = null } = known.get(account) ?? row;
      known.set(account, row);
      return { ...row, credits, debits, held };
    });
  };
}

export const sabotages: readonly Sabotage[] = [
  {
    rule: 'R2 without seq',
    procedures: sabotaged(
      batches,
      replaced([' AND seq=$2 AND fenced=0', ' AND CAST($2 AS BIGINT) IS NOT NULL AND fenced=0']),
    ),
  },
  { rule: 'R2 without fenced', procedures: sabotaged(batches, replaced([' AND fenced=0', ''])) },
  {
    rule: 'R3: what is unknown is taken for failed',
    procedures: ledgerProcedures,
    deaf: true,
    onUnknown: (procedure) => {
      if (procedure.startsWith('till.batch'))
        throw new DatabaseError('constraint', 'assumed to have failed');
      return undefined;
    },
  },
  {
    rule: 'R3: what is unknown is taken for done',
    procedures: ledgerProcedures,
    deaf: true,
    onUnknown: (procedure) =>
      procedure.startsWith('till.batch') ? { outcome: 'ok', floats: [] } : undefined,
  },
  {
    rule: 'R5: floats are given back without folding',
    procedures: sabotaged(['till.sweep'], replaced(['debits=debits+$3', 'debits=debits+0*$3'])),
  },
  {
    rule: 'R6: the late settle does not ask for the id',
    procedures: sabotaged(
      ['till.late'],
      (statement) =>
        statement.sql.startsWith('INSERT')
          ? {
              ...statement,
              params: [`${String(statement.params[0])}/late`, ...statement.params.slice(1)],
            }
          : statement,
      ({ sql }, rows) => (sql.startsWith('SELECT') ? [] : rows),
    ),
  },
  {
    rule: 'R9: draws read without the lock',
    procedures: sabotaged(
      batches,
      replaced(
        [" AND (kind<>'user' OR debits+held+$2+$3<=credits)", ''],
        [" AND (kind<>'user' OR debits+held+debits_more+held_more<=credits)", ''],
      ),
      staleReads(),
    ),
  },
];
