import { expect, test } from 'vitest';
import type { ModelRow } from '../../../src/console/contract.ts';
import { matching, sectionsOf, usualModel } from './model-search.ts';

const model = (id: string, vendor: string, more: Partial<ModelRow> = {}): ModelRow => ({
  id,
  vendor,
  kind: 'chat',
  context: null,
  output_tokens_max: null,
  modalities: null,
  prices: [],
  shutdown_date: null,
  tools: false,
  reasoning: false,
  speed: null,
  ...more,
});
const speed = (requests: number): Partial<ModelRow> => ({
  speed: {
    requests,
    first_byte_median_ms: null,
    total_median_ms: null,
    output_per_second: null,
    success_share: 1,
  },
});
const all = [
  model('gpt-5', 'openai', { tools: true }),
  model('claude-opus', 'anthropic', { tools: true, reasoning: true, ...speed(9) }),
  model('deepseek-chat', 'deepseek', { reasoning: true, ...speed(3) }),
];
const ids = (models: readonly ModelRow[]) => models.map(({ id }) => id);

test('models are found by every typed word, in name or vendor, and by what they can', () => {
  expect(ids(matching(all, '', []))).toEqual(ids(all));
  expect(ids(matching(all, 'Opus ANTHROPIC', []))).toEqual(['claude-opus']);
  expect(ids(matching(all, 'opus openai', []))).toEqual([]);
  expect(ids(matching(all, '', ['tools', 'reasoning']))).toEqual(['claude-opus']);
});

test('the models tried last come first, the others by vendor', () => {
  const sections = sectionsOf(all, ['deepseek-chat', 'gone'], 'en');
  expect(sections.map(({ vendor, models }) => [vendor, ids(models)])).toEqual([
    [undefined, ['deepseek-chat']],
    ['anthropic', ['claude-opus']],
    ['openai', ['gpt-5']],
  ]);
});

test('vendors stand in the order of their names, and two ids of one name are one vendor', () => {
  const models = ['qwen', 'kwai', 'cohere', 'kuaishou'].map((vendor) => model(vendor, vendor));
  expect(sectionsOf(models, [], 'en').map((section) => ids(section.models))).toEqual([
    ['qwen'], // Alibaba Qwen
    ['cohere'],
    ['kwai', 'kuaishou'],
  ]);
});

test('the first model is the one tried last, else the most asked that stays', () => {
  expect(usualModel(all, ['gpt-5'], null)?.id).toBe('gpt-5');
  expect(usualModel(all, ['gone'], null)?.id).toBe('claude-opus');
  const leaving = all.map((each) =>
    each.id === 'claude-opus' ? { ...each, shutdown_date: '2027-01-01' } : each,
  );
  expect(usualModel(leaving, [], null)?.id).toBe('deepseek-chat');
  expect(usualModel([], [], null)).toBeUndefined();
});

test('where nothing was asked yet, the model of the samples comes first, else the cheapest', () => {
  const priced = (id: string, amount: string) =>
    model(id, 'openai', { prices: [{ amount, per: 1_000_000, unit: 'token', class: 'output' }] });
  const models = [
    model('a-free-trial', 'openai'),
    priced('b-large', '71'),
    priced('c-small', '4.26'),
  ];
  expect(usualModel(models, [], null)?.id).toBe('c-small');
  expect(usualModel(models, [], 'b-large')?.id).toBe('b-large');
  expect(usualModel(models.slice(0, 1), [], null)?.id).toBe('a-free-trial');
});
