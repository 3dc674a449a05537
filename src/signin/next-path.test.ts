import { expect, test } from 'vitest';
import { nextPath } from './site.ts';

test('one goes on to a page of ours, or to the first', () => {
  for (const path of [
    '/',
    '/keys',
    '/usage?from=-7d&status=ok#x',
    '/models/a%2Fb',
    '/%2F%2Fevil.example',
    '/%5Cevil.example',
  ])
    expect(nextPath(path)).toBe(path);
  const elsewhere = [
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '/.//evil.example',
    '/..//evil.example',
    '/a/..//evil.example',
    '/%2e//evil.example',
    'https://evil.example',
    'https:evil.example',
    'javascript:alert(1)',
    'data:text/html,x',
    'keys',
    '',
    '/\\/evil.example',
    `/${'a'.repeat(3_000)}`,
    // Would do something by itself.
    '/auth/github/start',
    '/auth/link?token=x',
    '/x/../auth/link',
    '/console/api/session',
    '/files/x',
  ];
  for (const path of elsewhere) expect(nextPath(path), path).toBe('/');
  expect(nextPath(null)).toBe('/');
  expect(nextPath(undefined)).toBe('/');
});
