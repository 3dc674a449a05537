import { expect, test } from 'vitest';
import {
  forStream,
  isTrouble,
  paint,
  paintState,
  showsColour,
  table,
  widthOf,
} from './terminal.ts';

test('a terminal has colour unless NO_COLOR is set; FORCE_COLOR decides everywhere', () => {
  const terminal = { isTTY: true };
  expect(showsColour(terminal, {})).toBe(true);
  expect(showsColour(terminal, { NO_COLOR: '1' })).toBe(false);
  expect(showsColour(terminal, { TERM: 'dumb' })).toBe(false);
  expect(showsColour({}, {})).toBe(false);
  expect(showsColour({}, { FORCE_COLOR: '1', NO_COLOR: '1' })).toBe(true);
  expect(showsColour(terminal, { FORCE_COLOR: '0' })).toBe(false);
});

test('a pipe gets the text without its styles', () => {
  const text = `${paint('bold', 'a')} ${paintState('parked')}`;
  const pipe = { write: () => true };
  expect(forStream(text, pipe, {})).toBe('a parked');
  expect(forStream(text, { ...pipe, isTTY: true }, {})).toBe(
    '\u001b[1ma\u001b[22m \u001b[31mparked\u001b[39m',
  );
});

test('a channel that was not used lately is neither good nor bad', () => {
  expect(paintState('untried')).toBe('untried');
  expect(['untried', 'healthy'].filter(isTrouble)).toEqual([]);
  expect(['failing', 'drained'].filter(isTrouble)).toEqual(['failing', 'drained']);
});

test('a table is aligned under its styles, for wide characters too, and figures stand right', () => {
  const lines = table(
    ['name', 'requests', 'state'],
    [
      ['深度', '7', 'active'],
      ['gpt', '1200', 'parked'],
    ],
  ).map((line) => forStream(line, { write: () => true }, {}));
  expect(lines).toEqual([
    'name  requests  state',
    '深度         7  active',
    'gpt       1200  parked',
  ]);
  expect(widthOf('深度')).toBe(4);
});

test('a cell that a stranger wrote cannot steer the terminal', () => {
  const [, row = ''] = table(['model'], [['x\u001b[2J\ny']]);
  expect(forStream(row, { write: () => true }, {})).toBe('x [2J y');
});
