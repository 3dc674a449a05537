import { expect, test } from 'vitest';
import { escapeHtml, folded } from './html.ts';

test('an indented line continues the line above, and values stay as they are', () => {
  const value = 'a\n  <b';
  expect(folded`<p>
    one
    two
    <b>${value}</b>
    ${value}
  </p>
next`).toBe('<p> one two<b>a\n  <b</b>a\n  <b</p>\nnext');
});

test('a text in an element or an attribute', () =>
  expect(escapeHtml('a & "b" <c>')).toBe('a &amp; &quot;b&quot; &lt;c&gt;'));
