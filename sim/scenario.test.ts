import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Once, scenarioNames, scenarioOf } from './scenario.ts';
import { vendors } from './vendors.ts';

const page = readFileSync(new URL('README.md', import.meta.url), 'utf8').replace(/ +/g, ' ');
const documented = page
  .split('\n')
  .filter((line) => line.startsWith('| `sim-'))
  .flatMap((line) =>
    [...(line.split('|')[1] ?? '').matchAll(/`sim-([^`]+)`/g)].map((match) => match[1] ?? ''),
  );

test('every scenario that the page tells of exists, and the page tells of every scenario', () => {
  for (const name of documented)
    expect(
      scenarioNames.some((pattern) => pattern.test(name)),
      name,
    ).toBe(true);
  for (const pattern of scenarioNames)
    expect(
      documented.some((name) => pattern.test(name)),
      String(pattern),
    ).toBe(true);
});

test('the page tells of every vendor', () => {
  for (const { vendor, prefix } of vendors) expect(page).toContain(`| ${vendor} | \`${prefix}\``);
});

test('scenarios combine with each other and with a model', () => {
  expect(scenarioOf('sim-429-once+sim-think')).toMatchObject({
    refuse: 'rate',
    retryAfterS: 1,
    once: true,
    reasons: true,
  });
  expect(scenarioOf('gpt-4o+sim-slow-200ms')).toMatchObject({
    firstByteMs: 200,
    pieceMs: 20,
    refuse: undefined,
  });
  expect(scenarioOf('sim-503-30s')).toMatchObject({ refuse: 'overloaded', retryAfterS: 30 });
});

test('a sim- name without a row is a model that nobody has', () => {
  expect(scenarioOf('sim-sala').refuse).toBe('unknown_model');
});

test('once means the first of two tries, for each prompt', () => {
  const once = new Once();
  expect([
    once.first('a'),
    once.first('b'),
    once.first('a'),
    once.first('b'),
    once.first('a'),
  ]).toEqual([true, true, false, false, true]);
});
