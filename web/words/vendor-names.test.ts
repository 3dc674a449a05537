import { expect, test } from 'vitest';
import { vendorLabel, vendorName, vendorsByName, vendorText } from './vendor-names.ts';

test('a vendor is shown by its name and found by its id and each of its names', () => {
  expect(vendorName('zhipu', 'en')).toBe('Zhipu AI');
  expect(vendorName('zhipu', 'zh')).toBe('智谱');
  for (const part of ['zhipu', 'zhipu ai', '智谱']) expect(vendorText('zhipu')).toContain(part);
});

test('an id without a name is shown as it is', () => {
  expect(vendorName('My-Company', 'zh')).toBe('My-Company');
  expect(vendorText('My-Company')).toContain('my-company');
});

test('the ids of one company are one entry', () => {
  const ids = ['qwen', 'alibaba', 'doubao', 'bytedance', 'kwai', 'kuaishou', 'openai'];
  expect(vendorsByName(ids, 'en')).toEqual(['qwen', 'doubao', 'kwai', 'openai']);
});

test('an operator reads the id beside the name, and a dash where nobody named the vendor', () => {
  expect(vendorLabel('zhipu', 'zh')).toBe('智谱 · zhipu');
  expect(vendorLabel('My-Company', 'en')).toBe('My-Company');
  expect(vendorLabel('unknown', 'zh')).toBe('—');
});
