import { describe, expect, test } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import { ProtocolTable } from '../../test/ledger/protocol-table.ts';
import { migrations, records } from '../../test/ledger/records.ts';
import { DatabaseError } from '../storage/database.ts';
import { createAccount } from './ledger.ts';
import { ledgerProcedures } from './procedures.ts';
import {
  batchAtOnce,
  type BatchInput,
  type BatchReply,
  batchStepByStep,
  emptyMove,
} from './transactions/batch.ts';

const tables = {
  'floats are drawn, spent, given back and taken over': `
    credit A 1.00 w1              created
    credit A 1.00 w1              exists
    credit A 2.00 w1              exists_different
    draw P1 A 0.60 min 0.10       granted 0.60
    draw P2 A 0.60 min 0.10       granted 0.40
    draw P3 A 0.10 min 0.10       0, call_in 1
    charge P1 r1 A 0.25           ok, balance 0.75
    charge P1 r1 A 0.25           id_clash
    return P2 A                   debits 0.00, held 0.60
    draw P3 A 0.10 min 0.10       granted 0.10
    charge P3 r2 A 0.04           ok, balance 0.71
    return P3 A                   debits 0.04, held 0.60
    silence 15s P4 looks 5        fenced 3
    account A                     debits 0.29, held 0.00
    check                         ok`,
  'a zombie cannot charge a float that was taken over': `
    credit A 1.00 w1              created
    draw P1 A 0.40 min 0.10       granted 0.40
    queue P1 r1 A 0.10            free 0.30
    silence 15s P2 looks 5        fenced 1
    account A                     debits 0.00, held 0.00
    draw P2 A 1.00 min 0.10       granted 1.00
    flush P1                      fenced
    late r1 A 0.10                amount 0.00, short 0.10
    return P2 A                   debits 0.00, held 0.00
    late r1 A 0.10                exists
    flush P1                      fenced
    check                         ok`,
  'nobody is fenced too soon': `
    credit A 1.00 w1              created
    draw P1 A 0.40 min 0.10       granted 0.40
    silence 14s P2 looks 10       nobody
    silence 60s P2 looks 4        nobody
    account A                     debits 0.00, held 0.40
    silence 15s P2 looks 5        fenced 1`,
  'a batch that was committed is not charged again by its late settle': `
    credit A 1.00 w1              created
    draw P1 A 0.40 min 0.10       granted 0.40
    queue P1 r1 A 0.10            free 0.30
    flush P1                      ok
    silence 15s P2 looks 5        fenced 1
    late r1 A 0.10                exists
    late r2 A 0.10                amount 0.10, short 0.00
    account A                     debits 0.20, held 0.00
    check                         ok`,
  'the same batch is done once': `
    credit A 1.00 w1              created
    draw P1 A 0.40 min 0.10       granted 0.40
    queue P1 r1 A 0.10            free 0.30
    flush P1                      ok
    flush P1                      done
    charge P1 r2 A 0.10           ok, balance 0.80
    flush P1                      behind
    check                         ok`,
  'tasks hold their money and end once': `
    credit A 2.00 w1              created
    hold v1 A 1.50                open
    draw P1 A 1.00 min 0.10       granted 0.50
    hold v2 A 0.10                insufficient
    return P1 A                   debits 0.00, held 1.50
    hold v2 A 0.10                open
    end v1 ok 1.60                posted 1.60, short 0.00
    account A                     debits 1.60, held 0.10
    end v1 failed                 no change
    end v2 failed                 voided
    end v2 ok 0.10                no change
    balance A                     0.40
    hold v3 A 0.30                open
    end v3 ok 0.90                posted 0.40, short 0.50
    balance A                     0.00
    check                         ok`,
  "what a task's vendor reports beyond its hold is the loss of the house": `
    credit A 2.00 w1              created
    hold v1 A 1.50                open
    end v1 ok 1.50 beyond 4.00    posted 1.50, short 0.00
    end v1 ok 1.50 beyond 4.00    no change
    balance A                     0.50
    check                         ok`,
  'a frozen account lends nothing, and is credited and charged': `
    credit A 1.00 w1              created
    draw P1 A 0.30 min 0.10       granted 0.30
    freeze A                      true
    draw P2 A 0.10 min 0.10       0, call_in 2
    hold v1 A 0.10                insufficient
    credit A 1.00 w2              created
    charge P1 r1 A 0.20           ok, balance 1.80
    unfreeze A                    true
    draw P2 A 0.10 min 0.10       granted 0.10
    freeze B                      false
    check                         ok`,
  'a limit is drawn from like an account, and may be lowered below what was spent': `
    credit A 9.00 w1                            created
    draw P1 A 1.00 min 0.10                     granted 1.00
    draw P1 key:K:day 0.40 min 0.10 limit 0.50  granted 0.40
    draw P2 key:K:day 0.40 min 0.10 limit 0.50  granted 0.10
    draw P2 key:K:day 0.40 min 0.10 limit 0.50  0, call_in 1
    limit key:K:day 0.20                        changed
    draw P2 key:K:day 0.01 min 0.01 limit 0.50  0, call_in 3
    return P1 key:K:day                         debits 0.00, held 0.10
    draw P2 key:K:day 0.40 min 0.01 limit 0.50  granted 0.10`,
  'a charge is paid back once for each id, and never more than it was': `
    credit A 1.00 w1              created
    draw P1 A 0.60 min 0.10       granted 0.60
    charge P1 r1 A 0.30           ok, balance 0.70
    refund b1 r1 0.20             created
    refund b1 r1 0.20             exists
    refund b1 r1 0.10             exists_different
    refund b2 r1 0.20             too_much
    refund b2 r1 0.10             created
    refund b3 r9 0.10             no_original
    balance A                     1.00
    check                         ok`,
};

test.each([
  ['step by step', batchStepByStep],
  ['at once', batchAtOnce],
])(
  'R11: the second copy of a batch that is sent %s locks each account once, in ascending order',
  (_how, batch) => {
    const script = batch({
      process: 'P1',
      seq: 7n,
      charges: { count: 0, values: [] },
      losses: [],
      spends: ['user-1', 'key:K:total'].map((account) => ({ account, amount: 1n })),
      moves: ['key:A:total', 'user-1'].map((account) => emptyMove(account)),
      records,
    });
    script.next();
    script.next([]);
    const locked: unknown[] = [];
    for (let step = script.next([{ seq: 8n }]); !step.done; step = script.next([]))
      locked.push(step.value.params[0]);
    expect(locked).toEqual(['key:A:total', 'key:K:total', 'user-1']);
  },
);

forEachDatabase((name, openFresh) => {
  const open = () => openFresh({ migrations, procedures: ledgerProcedures });

  test.each(Object.entries(tables))('%s', async (_name, table) => {
    expect(await new ProtocolTable(await open()).run(table)).toBe(ProtocolTable.tidy(table));
  });

  test('one batch sent on two connections at once is done once', async () => {
    const db = await open();
    const table = new ProtocolTable(db);
    await table.run('credit A 1.00 w1\ndraw P1 A 0.50 min 0.10');
    for (let seq = 1n; seq < 20n; seq++) {
      const id = `r${seq}`;
      const input: BatchInput = {
        process: 'P1',
        seq,
        charges: { count: 1, values: [id, 'A', 1n, 'chat', 1, 1n, 0n, 'none', 1, null, null] },
        losses: [],
        spends: [{ account: 'A', amount: 1n }],
        moves: seq % 2n === 0n ? [{ ...emptyMove('A'), want: 5n, least: 1n }] : [],
        records,
      };
      const procedure = name === 'sqlite' ? 'till.batch' : 'till.batch-at-once';
      const replies = await Promise.all(
        [1, 2, 3].map(() => db.call<BatchInput, BatchReply>(procedure, input)),
      );
      expect(replies.map(({ outcome }) => outcome).sort()).toEqual(['done', 'done', 'ok']);
      const floats = replies.map((reply) => 'floats' in reply && reply.floats.at(-1));
      expect(new Set(floats.map((float) => float && `${float.granted} ${float.spent}`)).size).toBe(
        1,
      );
    }
    expect(await table.run('check')).toContain('ok');
  });

  describe('the schema', () => {
    test.each([
      'UPDATE transfer SET amount=2',
      'DELETE FROM transfer',
      "UPDATE account SET held=200000000000 WHERE id='A'",
      "UPDATE account SET debits=-1 WHERE id='A'",
      "INSERT INTO transfer (id, debit, credit, amount, code, at) VALUES ('x', 'A', 'A', 1, 'chat', 1)",
      'UPDATE till_float SET spent=granted+1',
    ])('refuses %s', async (sql) => {
      const db = await open();
      await new ProtocolTable(db).run('credit A 1.00 w1\ndraw P1 A 0.50 min 0.10');
      const error = await db.query(sql).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(DatabaseError);
      expect(error).toMatchObject({ kind: 'constraint' });
    });

    test('an account that exists is not made again', async () => {
      const db = await open();
      await createAccount(db, 'A');
      await createAccount(db, 'A');
      expect(await db.query("SELECT COUNT(*) AS n FROM account WHERE id='A'")).toEqual([{ n: 1n }]);
    });
  });
});
