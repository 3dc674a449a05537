import { expect, test } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import { counted } from '../imports/report.ts';
import { migrate } from '../storage/migrate.ts';
import { doneOf, ProgressLine } from './progress.ts';

function watched(isTTY: boolean) {
  const written: string[] = [];
  let ms = 0;
  const clock = { now: () => ms, monotonicMs: () => ms };
  const line = new ProgressLine('proving', { isTTY, write: (text) => written.push(text) }, clock);
  const after = (more: number, detail: string): void => {
    ms += more;
    line.tell(detail);
  };
  return { written, line, after };
}

test('a terminal sees one line that is rewritten after the first second, and removed at the end', () => {
  const { written, line, after } = watched(true);
  after(900, doneOf(1, 3, 'rules'));
  expect(written).toEqual([]);
  after(200, doneOf(2, 3, 'rules'));
  after(100, 'too soon for another line');
  after(100, doneOf(3, 3, 'rules'));
  line.end();
  const cleared = '\r\u001b[2K';
  expect(written).toEqual([
    `${cleared}proving: 1 s, 2 of 3 rules`,
    `${cleared}proving: 1 s, 3 of 3 rules`,
    cleared,
  ]);
});

test('a pipe gets a line every ten seconds, and none for short work', () => {
  const { written, line, after } = watched(false);
  for (let second = 0; second < 21; second++) after(1_000, '');
  line.end();
  expect(written).toEqual(['proving: 10 s\n', 'proving: 20 s\n']);
});

test('entries are told before their turns', () => {
  const told: string[] = [];
  const tell = (part: string, done: number, total: number) => told.push(doneOf(done, total, part));
  expect([...counted('users', ['a', 'b'], tell)]).toEqual(['a', 'b']);
  expect(told).toEqual(['0 of 2 users', '1 of 2 users']);
});

forEachDatabase((_name, openFresh) => {
  test('a migration tells each missing step, and nothing when the schema is up to date', async () => {
    const database = await openFresh();
    const steps = ['0001-a', '0002-b'].map((id) => ({ id, statements: [] }));
    const told: string[] = [];
    const onStep = (done: number, total: number) => told.push(doneOf(done, total, 'steps'));
    await migrate(database, steps, { onStep });
    await migrate(database, steps, { onStep });
    expect(told).toEqual(['0 of 2 steps', '1 of 2 steps']);
  });
});
