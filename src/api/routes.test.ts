import { describe, expect, test } from 'vitest';
import type { ClientConvention, Endpoint } from './endpoint.ts';
import { chatConvention, messagesConvention } from './entry.ts';
import { meantPath, Routes } from './routes.ts';

const endpoint = (
  method: Endpoint['method'],
  path: string,
  convention?: ClientConvention,
): Endpoint => ({ method, path, handle: () => {}, ...(convention && { convention }) });

const routes = new Routes(
  [
    endpoint('POST', '/chat/completions'),
    endpoint('POST', '/messages', messagesConvention),
    endpoint('GET', '/videos/:id'),
    endpoint('DELETE', '/videos/:id'),
    endpoint('GET', '/videos/:id/content'),
    endpoint('GET', '/videos/latest'),
    { ...endpoint('GET', '/models'), aliases: ['/api/v1/models', '/v1/all'] },
    endpoint('GET', '/models/*'),
  ],
  chatConvention,
);

describe('a URL leads to the endpoint with its method and path', () => {
  test.each([
    ['POST', '/v1/chat/completions', '/chat/completions', {}],
    ['POST', '/v1/chat/completions?x=1', '/chat/completions', {}],
    ['GET', '/v1/models', '/models', {}],
    ['HEAD', '/v1/models', '/models', {}],
    ['GET', '/v1/models#top', '/models', {}],
    ['GET', '/api/v1/models?x=1', '/models', {}],
    ['GET', '/v1/all', '/models', {}],
    ['GET', '/v1/mod%65ls', '/models', {}],
    ['GET', '/%76%31/models', '/models', {}],
    ['GET', 'http://host:80/v1/models?limit=1', '/models', {}],
    ['GET', '/v1/models/vendor/model', '/models/*', { '*': 'vendor/model' }],
    ['GET', '/v1/models/vendor%2Fmodel', '/models/*', { '*': 'vendor/model' }],
    ['GET', '/v1/models/a%252Fb', '/models/*', { '*': 'a%2Fb' }],
    ['GET', `/v1/models/${'x'.repeat(501)}`, '/models/*', { '*': 'x'.repeat(501) }],
    ['GET', '/v1/videos/%E4%BD%A0', '/videos/:id', { id: '你' }],
    ['GET', '/v1/videos/a?%zz', '/videos/:id', { id: 'a' }],
    ['DELETE', '/v1/videos/a', '/videos/:id', { id: 'a' }],
    ['GET', '/v1/videos/a/content', '/videos/:id/content', { id: 'a' }],
    ['GET', '/v1/videos/latest', '/videos/latest', {}],
  ])('%s %s', (method, url, path, params) => {
    expect(routes.find(method, url)).toMatchObject({ endpoint: { path }, params });
  });

  test.each([
    ['GET', '/v1/chat/completions'],
    ['PUT', '/v1/models'],
    ['POST', '/v1/chat/completions/'],
    ['POST', '/v1/chat%2Fcompletions'],
    ['GET', '/v1//models'],
    ['GET', '//v1/models'],
    ['GET', '/v1/models/'],
    ['GET', '/v1/videos/'],
    ['GET', '/v1/models%2Fa'],
    ['GET', '/v1/videos/a/b'],
    ['GET', 'ftp://host/v1/models'],
    ['OPTIONS', '/v1/%zz'],
  ])('%s %s leads to none', (method, url) => {
    expect(routes.find(method, url)).toMatchObject({ endpoint: undefined, params: {} });
  });

  test.each(['/v1/%zz', '/v1/videos/%ff', `/v1/videos/${'x'.repeat(501)}`])(
    'GET %s cannot be read',
    (url) => expect(routes.find('GET', url)).toBeUndefined(),
  );
});

test('errors look as at the nearest path', () => {
  const conventionAt = (url: string) => routes.find('PUT', url)?.convention;
  expect(conventionAt('/v1/messages')).toBe(messagesConvention);
  expect(conventionAt('/v1/messages/batches?x')).toBe(messagesConvention);
  expect(conventionAt('/v1/messages2')).toBe(chatConvention);
  expect(conventionAt('/v1')).toBe(chatConvention);
  for (const url of ['//v1/messages', '/v1/v1/messages/', '/v1/messages/?x'])
    expect(conventionAt(url), url).toBe(messagesConvention);
});

test.each([
  ['/v1/messages/', '/v1/messages'],
  ['//v1/messages', '/v1/messages'],
  ['//v1//v1/messages/', '/v1/messages'],
  ['/messages/', '/v1/messages'],
  ['//v1beta/models/m:generateContent', '/v1beta/models/m:generateContent'],
  ['/v1/v1beta1/models/', '/v1beta1/models'],
  ['/v1/messages//', '/v1/messages/'],
  ['/v1', '/v1'],
  ['/', '/v1/'],
  ['/v1x', '/v1/v1x'],
])('%s may mean %s', (path, meant) => {
  expect(meantPath(path)).toBe(meant);
});

test('the methods of a path are those of all its endpoints', () => {
  expect(routes.methodsAt('/v1/videos/a')).toEqual(['GET', 'DELETE']);
  expect(routes.methodsAt('/v1/videos/')).toEqual([]);
  expect(routes.methodsAt('/v1/nothing')).toEqual([]);
});

test('a URL of the API begins with the segment v1, in whatever form', () => {
  for (const url of [
    '/v1',
    '/v1/',
    '/v1?x',
    '/v1/%zz',
    '/%76%31/x',
    'http://host/v1/models',
    '//v1',
    '///v1/models',
  ])
    expect(routes.serves(url), url).toBe(true);
  for (const url of [
    '/',
    '/api',
    '/api/v1/models/',
    '/api/v1/key',
    '/v1x',
    '/v1%2Fmodels',
    '//x/v1',
    '/x/v1',
    '*',
    'http:///v1',
    '/%zz/v1',
  ])
    expect(routes.serves(url), url).toBe(false);
});
