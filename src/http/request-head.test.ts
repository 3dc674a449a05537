import { expect, test } from 'vitest';
import { requestHead } from './request-head.ts';

const asked = { method: 'POST', path: '/v1/x?y=1', host: 'h', headers: { 'x-a': 'b' }, length: 2 };

test('a head says what was asked, and how long the body is', () => {
  expect(requestHead(asked)).toBe('POST /v1/x?y=1 HTTP/1.1\r\nhost: h\r\nconnection: keep-alive\r\nx-a: b\r\ncontent-length: 2\r\n\r\n');
});

test('what would be another line, or frame the request anew, is not sent', () => {
  for (const path of ['/a b', '/a\r\nx: y', '/a\nb', '/名', '/\0']) expect(() => requestHead({ ...asked, path }), path).toThrow(/path/);
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
    expect(() => requestHead({ ...asked, headers: { [name]: '1' } }), name).toThrow(/header/);
  for (const value of ['a\r\nb: c', 'a\nb', 'a\rb', '\0', '\x7f', '名'])
    expect(() => requestHead({ ...asked, headers: { a: value } }), value).toThrow(/header/);
});
