import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const page = readFileSync(new URL('../docs/reliability.md', import.meta.url), 'utf8');

/** What happens, what comes of it, and the tests that show it. */
const rows = [
  ...page.matchAll(
    /^\| (?!what breaks \||what happens \||attack \||---)(.+?) \| (.+) \| (.+?) \|$/gm,
  ),
].map(([, what = '', outcome = '', tests = '']) => ({
  what,
  outcome,
  tests,
}));

/** The faults and attacks that nobody may forget to show. */
const expected: readonly RegExp[] = [
  /PostgreSQL is killed/,
  /PostgreSQL is paused/,
  /PostgreSQL's disk is full/,
  /Valkey is killed/,
  /Valkey is paused/,
  /Valkey is flushed/,
  /a node is killed/,
  /a node is stopped for a minute and woken/,
  /the wall clock steps/,
  /SQLite's disk is full/,
  /SQLite's file, or the log beside it, is removed/,
  /the database is missing, empty or another one/,
  /SQLite's volume is small/,
  /a vendor dribbles/,
  /half open/,
  /thousands dribble/,
  /standard output is not read/,
  /a certificate is signed by itself, for another host, or over; a handshake is never answered/,
  /a newer release migrates/,
  /a migration meets traffic/,
  /injection by key, header, path/,
  /server-side requests by address/,
  /by redirect/,
  /a name that changes its address/,
  /the beginning of a key, its hash/,
  /an operator's route with a user's session/,
  /another's keys/,
  /members that are not offered/,
  /secrets in answers/,
  /secrets and prompts in errors, logs/,
  /a million brackets/,
  /a compressed bomb/,
  /forms of too many parts/,
  /a request that others read as two/,
  /a master key that somebody typed/,
];

test('no fault and no attack is forgotten', () => {
  expect(expected.filter((one) => !rows.some(({ what }) => one.test(what)))).toEqual([]);
});

test.each(rows)('$what: has its outcome, and tests of that name', ({ outcome, tests }) => {
  expect(outcome.trim()).not.toBe('');
  const named = tests
    .split('; ')
    .map((one) => /^`([\w./-]+\.test\.ts)` · (.+)$/.exec(one)?.slice(1) ?? one);
  expect(named.filter((one) => typeof one === 'string')).toEqual([]);
  for (const [file = '', words = ''] of named) {
    const url = new URL(`../${file}`, import.meta.url);
    expect(existsSync(url), file).toBe(true);
    // In a title, which is a text in quotes.
    const titles = readFileSync(url, 'utf8')
      .split('\n')
      .filter((line) => /['"`]/.test(line) && line.includes(words));
    expect(titles.length, `${file} has no test '${words}'`).toBeGreaterThan(0);
  }
});
