import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { PeriodicChecks, type PeriodicCheck } from './periodic-checks.ts';

test('of many streams each is looked at once a round, others have their turn between, and who has left is not looked at', async () => {
  const watch = new PeriodicChecks(20);
  let looks = 0;
  const seen: PeriodicCheck[] = [];
  let leaves: PeriodicCheck | undefined;
  const turns: number[] = [];
  const one = (): PeriodicCheck => ({
    check() {
      if (looks === 0) takeTurns();
      looks++;
      seen.push(this);
      if (leaves !== undefined) watch.remove(leaves);
      leaves = undefined;
    },
  });
  const takeTurns = (): void => {
    turns.push(looks);
    if (looks < 999) setImmediate(takeTurns);
  };
  const all = Array.from({ length: 1_000 }, one);
  leaves = all.at(-1);
  for (const watched of all) watch.add(watched);
  while (looks === 0) await wait(1);
  while (looks < 999) await wait(1);
  for (const watched of all) watch.remove(watched);
  expect(turns.length).toBeGreaterThan(6);
  expect(Math.max(...turns.map((at, n) => at - (turns[n - 1] ?? 0)))).toBeLessThanOrEqual(256);
  expect(new Set(seen.slice(0, 999)).size, 'nobody twice before everybody once').toBe(999);
  expect(seen).not.toContain(all.at(-1));
  expect(watch.open).toBe(0);
});

test('a stream that begins after the last one ended is watched like the first', async () => {
  const watch = new PeriodicChecks(10);
  let looks = 0;
  const watched = { check: () => void looks++ };
  watch.add(watched);
  while (looks < 3) await wait(5);
  watch.remove(watched);
  await wait(30);
  watch.add(watched);
  const before = looks;
  while (looks === before) await wait(5);
  watch.remove(watched);
});

test('a look for which it was time while the last was under way begins when that is over', async () => {
  const everyMs = 300;
  const watch = new PeriodicChecks(everyMs);
  const begins: number[] = [];
  let endedMs = 0;
  const first = {
    check() {
      begins.push(performance.now());
      if (begins.length === 1) block(160);
    },
  };
  const middle = { check: () => begins.length === 1 && block(160) };
  const last = {
    check() {
      endedMs ||= performance.now();
    },
  };
  const idle = Array.from({ length: 200 }, () => ({ check() {} }));
  const all = [
    first,
    ...idle.slice(0, 150),
    middle,
    ...idle.slice(150),
    ...Array.from({ length: 100 }, () => ({ check() {} })),
    last,
  ];
  for (const watched of all) watch.add(watched);
  while (begins.length < 2) await wait(5);
  for (const watched of all) watch.remove(watched);
  expect((begins[1] ?? 0) - endedMs).toBeLessThan(everyMs / 2);
});

function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}
