import { expect, test } from 'vitest';
import { formulaAt, formulaLettersMax } from './formula.ts';
import { type Node, parse, revealed, safeAddress } from './parse.ts';

/** Types and contents of a tree, without what they were read from. */
const drawn = ({ type, token, children }: Node): unknown =>
  children.length > 0
    ? { [type]: children.map(drawn) }
    : token.content === ''
      ? type
      : [type, token.content];
const read = (text: string) => parse(text)?.map(({ node }) => drawn(node));

test('reads paragraphs, lists, code and tables as a tree', () => {
  expect(read('# A\n\nb *c*\n\n- d\n\n```py\ne\n```')).toEqual([
    { heading: [['text', 'A']] },
    { paragraph: [['text', 'b '], { em: [['text', 'c']] }] },
    { bullet_list: [{ list_item: [{ paragraph: [['text', 'd']] }] }] },
    ['fence', 'e\n'],
  ]);
  expect(JSON.stringify(read('|a|b|\n|-|-|\n|1|2|'))).toContain('["text","2"]');
});

test('takes HTML for the text that it is', () => {
  const text = '<script>alert(1)</script>\n\n<img src=x onerror=alert(1)>';
  expect(read(text)).toEqual(text.split('\n\n').map((line) => ({ paragraph: [['text', line]] })));
});

test.each([
  ['$x^2$ costs', ['x^2', false]],
  ['$$\nx\n$$', ['x', true]],
  [String.raw`\(a\) b`, ['a', false]],
  [String.raw`\[a\]`, ['a', true]],
  ['$5 and $10', undefined],
  ['$ x$', undefined],
  ['$$$', undefined],
  [`$${'x'.repeat(formulaLettersMax + 1)}$`, undefined],
] as const)('finds the formula that %.20s begins with', (text, found) => {
  const formula = formulaAt(text, 0);
  expect(formula && [formula.tex, formula.display]).toEqual(found);
});

test('sets formulas apart where they stand alone, and beside text where they do not', () => {
  expect(read('So $a_1$ is\n\n$$\nb\n$$\n\nand \\[c\\].')).toEqual([
    {
      paragraph: [
        ['text', 'So '],
        ['formula', 'a_1'],
        ['text', ' is'],
      ],
    },
    ['formula', 'b'],
    {
      paragraph: [
        ['text', 'and '],
        ['formula', 'c'],
        ['text', '.'],
      ],
    },
  ]);
  expect(read('`$a$`')).toEqual([{ paragraph: [['code_inline', '$a$']] }]);
});

test('gives up on what nobody could read, in time', () => {
  const begun = performance.now();
  expect(parse('> '.repeat(200) + 'x')).toBeUndefined();
  expect(parse('|'.repeat(50_000))).toBeDefined();
  expect(parse('a *b* '.repeat(15_000))).toBeUndefined();
  expect(parse('\\('.repeat(40_000))).toBeDefined();
  expect(parse('$a '.repeat(30_000))).toBeDefined();
  expect(parse('[a]('.repeat(20_000))).toBeDefined();
  expect(performance.now() - begun).toBeLessThan(10_000);
});

test.each([
  ['https://example.com/a', 'https://example.com/a'],
  ['mailto:a@example.com', 'mailto:a@example.com'],
  ['javascript:alert(1)', undefined],
  ['data:text/html,<script>', undefined],
  ['/settings', undefined],
  ['//example.com', undefined],
  [null, undefined],
])('%s is opened as %s', (address, opened) => {
  expect(safeAddress(address)).toBe(opened);
});

test('shows marks in code that turn what follows them', () => {
  expect(revealed('a\u202eb\u2066c')).toBe('a[U+202E]b[U+2066]c');
});
