import { execFileSync } from 'node:child_process';
import { transformSync } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { openApi, type RouteId } from '../src/api/openapi/document.ts';
import { operations } from '../src/api/openapi/operations.ts';
import { withSamples } from '../web/reference/samples.ts';

const routes = Object.keys(operations).map((name): RouteId => {
  const [method, path = ''] = name.split(' ');
  if (method !== 'GET' && method !== 'POST' && method !== 'DELETE') throw new Error(name);
  return { method, path };
});
const host = 'https://gateway.example';

interface Sampled {
  readonly 'x-codeSamples': readonly { readonly lang: string; readonly source: string }[];
}

function described(publicUrl?: string) {
  const description = openApi(routes, { version: '1', publicUrl });
  return withSamples(JSON.parse(JSON.stringify(description)), host);
}

const calls = Object.entries<Readonly<Record<string, Sampled>>>(described().paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      sources: Object.fromEntries(
        operation['x-codeSamples'].map(({ lang, source }) => [lang, source]),
      ),
    })),
);

describe('samples of the API reference', () => {
  test('each endpoint has one in each language, with the host filled in', () => {
    expect(calls.length).toBe(routes.length);
    for (const { name, sources } of calls) {
      expect(Object.keys(sources), name).toEqual(['Shell', 'Python', 'TypeScript']);
      const [, path = ''] = /^\w+ ([^{]+)/.exec(name) ?? [];
      for (const source of Object.values(sources)) expect(source, name).toContain(host + path);
      expect(Object.values(sources).join(), name).not.toMatch(/undefined|\{\w+_id\}/);
    }
  });

  test('a public address goes before the address of the page', () => {
    expect(described('https://public.example').servers).toEqual([
      { url: 'https://public.example' },
    ]);
    expect(JSON.stringify(described('https://public.example').paths)).not.toContain(host);
  });

  test('each can be read by its language', () => {
    for (const { sources } of calls) {
      execFileSync('bash', ['-n'], { input: sources['Shell'] });
      transformSync(sources['TypeScript'] ?? '', { loader: 'ts', format: 'esm' });
    }
    const all = calls.map(({ sources }) => sources['Python']).join('\n');
    execFileSync('python3', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], { input: all });
  });

  test('a form sends its file, and an answer that is no JSON becomes one', () => {
    const sourceOf = (name: string) => calls.find((call) => call.name === name)?.sources['Shell'];
    expect(sourceOf('POST /v1/audio/transcriptions')).toContain('-F file=@speech.mp3');
    expect(sourceOf('POST /v1/audio/speech')).toContain('-o answer.mp3 ');
  });
});
