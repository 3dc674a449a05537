import { expect, test } from 'vitest';
import { readConfiguration } from '../../src/catalog/config.ts';
import { serves } from '../../src/app/gateway.ts';
import { vendors } from '../../src/providers/index.ts';
import { fuzz, timeout } from './fuzzing.ts';

const sample = `
settings: { usd_rate: 7.1, media: { kept_seconds: 60, allow_private: [10.0.0.0/8] } }
groups:
  - &g { name: default, price_multiplier: 1.0, limits: { rpm: 10 } }
models:
  - { id: m1, owned_by: openai, kind: chat, context: 128000, max_output: 1000, price: { input: 1.5, output: "2" } }
  - id: image
    kind: image
    image: { sizes: [1024x1024] }
    price: { image: 1 }
channels:
  - { name: a, vendor: openai-compatible, base_url: "http://x/v1", api_key: "\${KEY}", models: [{ id: m1, upstream: up }, image] }
`;

test('a configuration is read, or everything that is wrong with it has its line', { timeout }, () =>
  fuzz('configurations', {
    samples: [
      Buffer.from(sample),
      Buffer.from(JSON.stringify({ groups: [{ name: 'default' }], models: [], channels: [] })),
    ],
    words: [
      '*g',
      '&g',
      '<<: *g',
      '!!js',
      '!!binary a',
      '- ',
      ': ',
      '? ',
      '|\n',
      '>\n',
      '{',
      '}',
      '[',
      ']',
      '"',
      "'",
      '#',
      '---\n',
      '%YAML 1.1\n',
      '\t',
      '.inf',
      '.nan',
      '0x1',
      '1e9',
    ]
      .concat([
        '${',
        '${KEY}',
        '$${',
        '\0',
        '\ufeff',
        '__proto__: 1\n',
        '1'.repeat(50),
        '-1',
        'null',
        '~',
        '2026-01-01',
      ])
      .map((word) => Buffer.from(word)),
    async holds(input) {
      const context = { env: { KEY: 'k' }, vendors: [...vendors.values()], serves, now: 1e12 };
      const read = await readConfiguration(input.toString('utf8'), context);
      if (!read.ok) expect(read.problems.length).toBeGreaterThan(0);
    },
  }),
);
