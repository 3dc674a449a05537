import { expect, test } from 'vitest';
import { emptyForm, numberOf, rangeOf, readTools, settingsOf } from './chat-form.ts';

const limits = { output_tokens_max: 4_096, reasoning: true };

test('what is empty is not sent, and what is set is sent as a number', () => {
  expect(settingsOf(emptyForm, limits)).toEqual({
    system: '',
    numbers: {},
    effort: undefined,
    tools: undefined,
  });
  const numbers = { ...emptyForm.numbers, temperature: '0,5', max_tokens: ' 64 ', seed: '0' };
  expect(settingsOf({ ...emptyForm, numbers, effort: 'low' }, limits)).toMatchObject({
    numbers: { temperature: 0.5, max_tokens: 64, seed: 0 },
    effort: 'low',
  });
});

test.each([
  ['temperature', '2.1'],
  ['temperature', 'warm'],
  ['top_p', '-0.1'],
  ['max_tokens', '0'],
  ['max_tokens', '4097'],
  ['max_tokens', '1.5'],
  ['presence_penalty', '-3'],
  ['seed', 'NaN'],
] as const)('%s is not %s', (name, typed) => {
  expect(numberOf(typed, rangeOf(name, limits))).toBeNull();
  const numbers = { ...emptyForm.numbers, [name]: typed };
  expect(settingsOf({ ...emptyForm, numbers }, limits)).toBeUndefined();
});

test('only models that think are told how much', () => {
  const told = settingsOf({ ...emptyForm, effort: 'high' }, { ...limits, reasoning: false });
  expect(told?.effort).toBeUndefined();
});

test('tools are a list of functions with names', () => {
  expect(readTools(' ')).toEqual({ tools: undefined });
  expect(readTools('[{}]')).toEqual({ problem: { kind: 'function', at: 1 } });
  expect(readTools('{}')).toEqual({ problem: { kind: 'list' } });
  expect(readTools('[')).toMatchObject({ problem: { kind: 'json' } });
});
