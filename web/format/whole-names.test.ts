import { expect, test } from 'vitest';
import { wholeNames } from './whole-names.ts';

test.each([
  ['The key of openai-2 is refused', ['openai-2'], ['The key of ', 'openai-2', ' is refused']],
  ['a channel called a fails', ['a'], ['', 'a', ' channel called ', 'a', ' fails']],
  ['1 of 10 requests', ['1', '10'], ['', '1', ' of ', '10', ' requests']],
  ['main-2 stands in for main', ['main', 'main-2'], ['', 'main-2', ' stands in for ', 'main', '']],
  ['渠道 (备用) 已熔断', ['(备用)'], ['渠道 ', '(备用)', ' 已熔断']],
  ['nothing of it', [''], ['nothing of it']],
  ['until 2027-01-31 only', ['a'], ['until ', '2027-01-31', ' only']],
  ['since 2027-01-31 08:00:59', [], ['since ', '2027-01-31 08:00:59', '']],
] as const)('%s: names are whole, words around them are not names', (text, names, pieces) => {
  expect(text.split(wholeNames(names))).toEqual(pieces);
});
