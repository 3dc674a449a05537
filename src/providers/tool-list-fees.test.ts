import { expect, test } from 'vitest';
import { toolListFees } from './tool-list-fees.ts';

test('the first row that fits a model decides, tool by tool', () => {
  expect(toolListFees('openai', 'gpt-5.6-sol')).toEqual({
    web_search: '0.01',
    code_session: '0.03',
    mcp_call: '0',
  });
  expect(toolListFees('openai', 'o3')['web_search']).toBe('0.01');
  expect(toolListFees('openai', 'gpt-4o-search-preview')['web_search']).toBe('0.025');
  expect(toolListFees('openrouter', 'google/gemini-2.5-pro')).toEqual({ web_search: '0.035' });
  expect(toolListFees('openrouter', 'openai/gpt-4o-search-preview')).toEqual({});
  expect(toolListFees('openrouter', 'openai/gpt-4o')).toEqual({ web_search: '0.02' });
});

test('a vendor that is not listed has no fees', () => {
  for (const vendor of ['openai-compatible', 'gemini', 'perplexity'])
    expect(toolListFees(vendor, 'gpt-5')).toEqual({});
});

test('searches of file stores have no list fee: they would open the stores of the operator’s account', () => {
  for (const vendor of ['openai', 'azure', 'xai', 'anthropic', 'openrouter'])
    expect(toolListFees(vendor, 'gpt-5')).not.toHaveProperty('file_search');
});
