import { expect, test } from 'vitest';
import { sampleModel } from './sample-model.ts';
import type { ModelFacts } from './snapshot.ts';

const sold = (
  id: string,
  rate: bigint,
  { kind = 'chat', shutdownDate }: Partial<Pick<ModelFacts, 'kind' | 'shutdownDate'>> = {},
) => ({
  id,
  kind,
  shutdownDate,
  price: { rates: { input: rate, output: rate }, tiers: [], by: undefined },
});

test('a sample names the first well-known model that is sold, although others are cheaper', () => {
  const models = [sold('tiny', 1n), sold('gpt-5-mini', 9n), sold('qwen-plus', 20n)];
  expect(sampleModel(models)).toBe('qwen-plus');
  expect(sampleModel([...models, sold('deepseek-chat', 30n)])).toBe('deepseek-chat');
});

test('without one, it names the cheapest chat model that stays', () => {
  const models = [
    sold('gpt-5-mini', 1n, { shutdownDate: '2026-12-11' }),
    sold('dear', 9n),
    sold('cheap', 2n),
    sold('painter', 1n, { kind: 'image' }),
  ];
  expect(sampleModel(models)).toBe('cheap');
  expect(sampleModel(models.slice(0, 1))).toBe('gpt-5-mini');
  expect(sampleModel([])).toBeUndefined();
});
