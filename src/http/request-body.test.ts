import { expect, test } from 'vitest';
import { BodyBudget, AccountQueue } from './request-body.ts';

test('R6: one account holds so many bytes of bodies, another as many beside it', () => {
  const bytes = new BodyBudget(100);
  expect([
    bytes.enter('a', 60),
    bytes.enter('a', 40),
    bytes.enter('a', 1),
    bytes.enter('b', 100),
  ]).toEqual([true, true, false, true]);
  bytes.leave('a', 60);
  expect([bytes.enter('a', 61), bytes.enter('a', 60)]).toEqual([false, true]);
});

test('R6: a body that is larger than all that an account may hold is taken when it is alone', () => {
  const bytes = new BodyBudget(100);
  expect([bytes.enter('a', 500), bytes.enter('a', 1)]).toEqual([true, false]);
  bytes.leave('a', 500);
  expect(bytes.enter('a', 1)).toBe(true);
});

test('R6: of one account one thing is done at a time, and another account does not wait for it', async () => {
  const turns = new AccountQueue();
  const begun: string[] = [];
  const over: (() => void)[] = [];
  for (const [account, name] of [
    ['a', '1'],
    ['a', '2'],
    ['b', '3'],
  ] as const)
    turns.take(account, (end) => {
      begun.push(name);
      over.push(end);
    });
  expect(begun).toEqual(['1', '3']);
  over[0]?.();
  await expect.poll(() => begun).toEqual(['1', '3', '2']);
  over[2]?.();
  turns.take('a', () => begun.push('4'));
  expect(begun).toEqual(['1', '3', '2', '4']);
});
