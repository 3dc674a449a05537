import { expect, test } from 'vitest';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { chatConvention, generateConvention, speaksGenerate } from '../../src/api/entry.ts';
import { pathOfUrl, Routes } from '../../src/api/routes.ts';
import { fuzz, timeout } from './fuzzing.ts';

const endpoint = (method: Endpoint['method'], path: string, aliases?: string[]): Endpoint => ({
  method,
  path,
  convention: generateConvention,
  handle: () => undefined,
  ...(aliases === undefined ? {} : { aliases }),
});
const routes = new Routes(
  [
    endpoint('POST', '/models/*:generateContent', ['/v1beta/models/*:generateContent']),
    endpoint('POST', '/models/*:countTokens', ['/v1beta/models/*:countTokens']),
    endpoint('GET', '/models/*', ['/v1beta/models/*']),
    endpoint('GET', '/v1beta/files/:id', ['/v1/files/:id']),
  ],
  chatConvention,
  { v1beta: generateConvention },
);

test('a URL of Google’s format leads to one model and one key, or to none', { timeout }, () =>
  fuzz('URLs of generateContent', {
    samples: [
      '/v1beta/models/a/b:generateContent?key=sk-secret&alt=sse',
      '/v1beta/models/a%2Fb%3Agen:generateContent?alt=sse&key=sk-secret',
      '/v1beta/models/models%2Fa:countTokens?$alt=json',
      '/v1/models/gem?key=%20sk%2Dsecret',
      'http://host/v1beta/files/abc?key=',
    ].map((text) => Buffer.from(text)),
    words: [
      '%',
      '%2F',
      '%00',
      '%ZZ',
      '%E4%BD',
      ':',
      '::',
      '?',
      '&key=',
      'key=',
      '#',
      '//',
      '..',
      'models/',
    ],
    holds(input) {
      const url = input.toString('latin1');
      const key = generateConvention.credential({}, url);
      expect(generateConvention.credential({ 'x-goog-api-key': ' k ' }, url)).toBe('k');
      if (key !== undefined) {
        expect(key).toBe(key.trim());
        expect(key).not.toBe('');
        expect(speaksGenerate({}, url)).toBe(true);
        expect(url.slice(pathOfUrl(url).length)).toMatch(/^\?/);
      }
      for (const method of ['POST', 'GET']) {
        const found = routes.find(method, url);
        if (found?.endpoint === undefined) {
          expect(routes.conventionAt(url)).toBeDefined();
          continue;
        }
        const id = found.params['*'] ?? found.params['id'] ?? expect.fail();
        const [, name] = /:(\w+)$/.exec(found.endpoint.path) ?? [];
        if (name === undefined || found.params['*'] === undefined) continue;
        // The same model again, whatever is in its id.
        const again = `/v1beta/models/${encodeURIComponent(id)}:${name}`;
        expect(routes.find(method, again)?.params['*']).toBe(id);
      }
    },
  }),
);
