import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { measures } from '../base/quantities.ts';
import { vendors } from '../providers/index.ts';
import { defaultUsdRatePpm, loadBundled } from './bundled.ts';
import { readConfiguration } from './config.ts';
import {
  channelSchema,
  groupSchema,
  imageSchema,
  mediaSchema,
  modelSchema,
  priceSchema,
  settingsSchema,
} from './config-schema.ts';
import { fileLimits, mediaLimits } from '../media/limits.ts';
import { describeProblems } from './problem.ts';
import { priceUnits } from './price-members.ts';

const page = readFileSync(new URL('../../docs/reference/config.md', import.meta.url), 'utf8');
const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const blocks = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    (match) => match[1] ?? '',
  );
const read = (text: string, env: Readonly<Record<string, string>>) =>
  readConfiguration(text, {
    env,
    vendors: [...vendors.values()],
    serves: () => true,
    now: Date.UTC(2026, 10, 21),
  });

describe('the page about the configuration file', () => {
  it('has examples that load', async () => {
    const examples = [...blocks(page, 'yaml'), ...blocks(readme, 'yaml')];
    expect(examples.length).toBeGreaterThan(3);
    for (const example of examples) {
      const result = await read(example, Object.fromEntries(variables(example)));
      expect(result.ok ? '' : describeProblems('example', result.problems), example).toBe('');
    }
  });

  it('shows the messages that a wrong file gets', async () => {
    const [wrong = ''] = blocks(page, 'yml');
    const [messages = ''] = blocks(page, 'text');
    const result = await read(wrong, {});
    expect(result.ok ? '' : `${describeProblems('tollgate.yaml', result.problems)}\n`).toBe(
      messages,
    );
  });

  it('names every member', () => {
    for (const schema of [groupSchema, modelSchema, channelSchema, priceSchema, settingsSchema])
      for (const member of Object.keys(schema.shape))
        expect(page, member).toContain(`| \`${member}\` |`);
    for (const member of Object.keys(imageSchema.shape))
      expect(page, member).toContain(`| \`image.${member}\` |`);
    for (const member of Object.keys(mediaSchema.shape))
      expect(page, member).toContain(`| \`media.${member}\` |`);
    for (const member of [
      'limits.rpm',
      'limits.tpm',
      'limits.concurrency',
      'upstream',
      'above_input_tokens',
    ])
      expect(page).toContain(`\`${member}\``);
  });

  it('tells how much is downloaded when nothing is said', () => {
    const { urlsMax, fileBytesMax, requestBytesMax, redirectsMax, totalMs, idleMs, atOnceMax } =
      mediaLimits;
    const usual = {
      urls: urlsMax,
      file_bytes: fileBytesMax,
      request_bytes: requestBytesMax,
      redirects: redirectsMax,
    };
    for (const [member, value] of Object.entries({
      ...usual,
      total_ms: totalMs,
      idle_ms: idleMs,
      at_once: atOnceMax,
    }))
      expect(page, member).toContain(`| \`media.${member}\` | ${value} |`);
  });

  it('tells how much is kept when nothing is said', () => {
    const { filesMax, bytesMax, fileBytesMax, keptMs } = fileLimits;
    const usual = {
      kept_files: filesMax,
      kept_bytes: bytesMax,
      kept_file_bytes: fileBytesMax,
      kept_seconds: keptMs / 1_000,
    };
    for (const [member, value] of Object.entries(usual))
      expect(page, member).toContain(`| \`media.${member}\` | ${value} |`);
  });

  it('tells the unit of every price', () => {
    for (const measure of measures) {
      const row = new RegExp(`\\| \`${measure}\` \\| (a million tokens|one \\w+)`).exec(page)?.[1];
      expect(row, measure).toBe(
        priceUnits[measure] === 'million tokens'
          ? 'a million tokens'
          : `one ${priceUnits[measure]}`,
      );
    }
  });

  it('names the variables that make channels', async () => {
    const bundled = [
      ...(await loadBundled({ usdRatePpm: defaultUsdRatePpm, today: '2026-11-21' })).values(),
    ];
    const selling = [...vendors.values()].filter(({ id }) =>
      bundled.some((model) => model.vendor === id),
    );
    const rows = selling.flatMap(({ id, env }) => (env === undefined ? [] : [{ id, ...env }]));
    expect(rows.length).toBeGreaterThan(5);
    const missing = rows.filter(
      ({ id, apiKey, baseUrl }) =>
        !page.includes(
          `| ${id} | \`${apiKey}\`${baseUrl === undefined ? '' : `, \`${baseUrl}\``} |`,
        ),
    );
    expect(missing).toEqual([]);
  });
});

function variables(example: string): readonly (readonly [string, string])[] {
  return [...example.matchAll(/\$\{(\w+)\}/g)].map(
    (match) => [match[1] ?? '', `value of ${match[1] ?? ''}`] as const,
  );
}
