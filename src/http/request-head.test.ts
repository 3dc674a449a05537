import { expect, test } from 'vitest';
import { RequestHeadWriter, type RequestHead } from './upstream.ts';

const asked: RequestHead = { method: 'POST', path: '/v1/x?y=1', headers: { 'x-a': 'b' } };
const headOf = (said: RequestHead): string => new RequestHeadWriter('h').head(said, 2);

test('a head says what was asked, and how long the body is', () => {
  expect(headOf(asked)).toBe(
    'POST /v1/x?y=1 HTTP/1.1\r\nhost: h\r\nconnection: keep-alive\r\nx-a: b\r\ncontent-length: 2\r\n\r\n',
  );
});

test('the headers of the request win over those of the credentials, its host as well', () => {
  const head = headOf({
    ...asked,
    sign: { 'x-a': 'signed', 'x-key': 'k', host: 'signed' },
    headers: { 'x-a': 'b', host: 'other' },
  });
  expect(head).toBe(
    'POST /v1/x?y=1 HTTP/1.1\r\nconnection: keep-alive\r\nx-a: b\r\nx-key: k\r\nhost: other\r\ncontent-length: 2\r\n\r\n',
  );
});

test('the next request has its own headers, path and length', () => {
  const heads = new RequestHeadWriter('h');
  const first = heads.head(asked, 2);
  expect(heads.head(asked, 2)).toBe(first);
  expect(heads.head({ ...asked, path: '/z' }, 31)).toBe(
    first.replace('/v1/x?y=1', '/z').replace('length: 2', 'length: 31'),
  );
  expect(heads.head({ ...asked, headers: { 'x-a': 'c' } }, 2)).toBe(
    first.replace('x-a: b', 'x-a: c'),
  );
  expect(heads.head({ ...asked, sign: { 'x-key': 'k' } }, 2)).toContain('x-key: k\r\nx-a: b\r\n');
  expect(() => heads.head({ ...asked, headers: { 'x-a': 'b\r\nc: d' } }, 2)).toThrow(/header/);
  expect(() => heads.head({ ...asked, headers: { 'x-a': 'b\r\nc: d' } }, 2)).toThrow(/header/);
  expect(heads.head(asked, 2)).toBe(first);
});

test('a header that would be another line, or frame the request anew, is not sent', () => {
  for (const path of ['/a b', '/a\r\nx: y', '/a\nb', '/名', '/\0'])
    expect(() => headOf({ ...asked, path }), path).toThrow(/path/);
  for (const name of [
    '',
    'a b',
    'a:',
    'a\r\nb',
    'é',
    'Content-Length',
    'content-length',
    'transfer-encoding',
    'connection',
    'expect',
    'upgrade',
  ])
    expect(() => headOf({ ...asked, headers: { [name]: '1' } }), name).toThrow(/header/);
  for (const value of ['a\r\nb: c', 'a\nb', 'a\rb', '\0', '\x7f', '名'])
    expect(() => headOf({ ...asked, headers: { a: value } }), value).toThrow(/header/);
});
