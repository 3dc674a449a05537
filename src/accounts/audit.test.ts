import { expect, test } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import { type AuditedAction, auditMigrations, auditPage, writeAudit } from './audit.ts';

const act = (changed: Partial<AuditedAction> = {}): AuditedAction => ({
  actorKind: 'operator',
  actor: 'usr_op',
  action: 'channel.update',
  target: 'ark',
  ...changed,
});

forEachDatabase((_, openFresh) => {
  test('tells what was changed and leaves out what was not', async () => {
    const db = await openFresh({ migrations: auditMigrations });
    const before = { weight: 1, secret: 'set', groups: ['a'] };
    const after = { weight: 3, secret: 'changed', groups: ['a'] };
    await db.transact(() =>
      writeAudit(5, act({ before, after, reason: 'more traffic', ip: '10.0.0.1' })),
    );
    expect(await auditPage(db, { limit: 10 })).toMatchObject([
      {
        at: 5,
        before: { weight: 1, secret: 'set' },
        after: { weight: 3, secret: 'changed' },
        reason: 'more traffic',
        ip: '10.0.0.1',
      },
    ]);
  });

  test('is read by actor, action, target, account and time, newest first and page by page', async () => {
    const db = await openFresh({ migrations: auditMigrations });
    const acts = [
      act({ action: 'user.credit', target: 'usr_1', account: 'usr_1' }),
      act({ action: 'user.debit', target: 'usr_2', account: 'usr_2', actor: 'usr_other' }),
      act(),
    ];
    for (const [index, one] of acts.entries())
      await db.transact(() => writeAudit(1_000 * (index + 1), one));
    const actionsOf = async (question: Omit<Parameters<typeof auditPage>[1], 'limit'>) =>
      (await auditPage(db, { ...question, limit: 10 })).map(({ action }) => action);
    expect(await actionsOf({})).toEqual(['channel.update', 'user.debit', 'user.credit']);
    expect(await actionsOf({ account: 'usr_1' })).toEqual(['user.credit']);
    expect(await actionsOf({ actor: 'usr_other' })).toEqual(['user.debit']);
    expect(await actionsOf({ action: 'user.' })).toEqual(['user.debit', 'user.credit']);
    expect(await actionsOf({ action: 'user.credit' })).toEqual(['user.credit']);
    expect(await actionsOf({ target: 'ark' })).toEqual(['channel.update']);
    expect(await actionsOf({ from: 2_000, to: 3_000 })).toEqual(['user.debit']);
    const [first] = await auditPage(db, { limit: 1 });
    expect(await actionsOf({ before: first?.id })).toEqual(['user.debit', 'user.credit']);
  });

  test('is never changed by anybody', async () => {
    const db = await openFresh({ migrations: auditMigrations });
    await db.transact(() => writeAudit(1, act()));
    await expect(db.query("UPDATE audit SET reason='other'")).rejects.toThrow('append-only');
    await expect(db.query('DELETE FROM audit')).rejects.toThrow('append-only');
  });
});
