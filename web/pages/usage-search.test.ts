import { expect, test } from 'vitest';
import { filterMeant } from './usage-search.tsx';

const names = {
  keys: [
    ['key_1', 'gpt-5'],
    ['key_2', 'Nightly'],
  ],
  models: ['gpt-5-mini', 'glm-4.7'],
} as const;

test('a text means a request, the name that it is, the name that has it, or a model', () => {
  expect(filterMeant('req_01', names)).toEqual({ request: 'req_01' });
  expect(filterMeant('gpt-5', names)).toEqual({ key: 'key_1' });
  expect(filterMeant('GLM', names)).toEqual({ model: 'glm-4.7' });
  expect(filterMeant('night', names)).toEqual({ key: 'key_2' });
  expect(filterMeant('nobody', names)).toEqual({ model: 'nobody' });
});
