import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { describe, expect, test } from 'vitest';
import {
  channelSchema,
  groupSchema,
  mediaSchema,
  modelSchema,
  paymentsSchema,
  settingsSchema,
  signinSchema,
} from '../src/catalog/config-schema.ts';
import { program } from '../src/cli/program.ts';
import { cliReference } from '../src/cli/reference.ts';
import { refusals } from '../src/base/refusal.ts';
import en from '../web/words/en/requests.ts';
import zh from '../web/words/zh/requests.ts';
import { filesBelow } from './house/source.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(`${root}/${path}`, 'utf8');
const configPage = read('docs/reference/config.md');

test.each([
  ['English', en],
  ['Chinese', zh],
])('every refusal has a short name in the console, in %s', (_, { names }) =>
  expect(Object.keys(names)).toEqual(Object.keys(refusals)),
);

test('the page of commands is that of the program; `npm run docs` writes it', () => {
  expect(read('docs/reference/cli.md')).toBe(cliReference(program));
});

describe('the page of the configuration', () => {
  const sections = new Map(
    configPage.split(/^## /m).map((section) => [section.split('\n', 1)[0]?.trim() ?? '', section]),
  );

  test.each([
    ['groups', groupSchema],
    ['models', modelSchema],
    ['channels', channelSchema],
    ['settings', settingsSchema],
    ['settings', mediaSchema],
    ['signin', signinSchema],
    ['payments', paymentsSchema],
  ] as const)('names every member that the schema of %s takes', (name, schema) => {
    // Channels name what their vendors take with the prices of models.
    const prose = `${sections.get(name)}${name === 'channels' ? sections.get('models') : ''}`;
    const words = new Set(
      [...prose.matchAll(/`([^`\n]+)`/g)].flatMap(([, code = '']) => code.split(/[^\w]+/)),
    );
    expect(membersOf(schema).filter((member) => !words.has(member))).toEqual([]);
  });

  test.each([
    ['groups', groupSchema],
    ['models', modelSchema],
    ['channels', channelSchema],
    ['settings', settingsSchema],
    ['signin', signinSchema],
    ['payments', paymentsSchema],
  ] as const)('has no member of %s that the schema refuses', (name, schema) => {
    const known = new Set(membersOf(schema));
    const tables = (sections.get(name) ?? '')
      .split('\n\n')
      .filter((paragraph) => paragraph.startsWith('| member |'));
    const rows = tables.flatMap((table) =>
      [...table.matchAll(/^\| (`[a-z][^|]*`) \|/gm)].map(([, cell = '']) => cell),
    );
    const members = rows.flatMap((cell) =>
      [...cell.matchAll(/`([a-z0-9_.]+)`/g)].flatMap(([, path = '']) => path.split('.')),
    );
    expect(rows.length).toBeGreaterThan(0);
    expect(
      members.filter((member) => member !== '' && member !== name && !known.has(member)),
    ).toEqual([]);
  });
});

/** Names of members at every depth, tiers and records included. */
function membersOf(schema: z.ZodType): readonly string[] {
  const names: string[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if ('properties' in node) names.push(...Object.keys(Object(node.properties)));
    for (const inner of Object.values(node)) visit(inner);
  };
  visit(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
  return [...new Set(names)];
}

describe('the page of variables', () => {
  const pages = filesBelow(root, 'docs', '.md').map(read).join('\n');
  const sources = filesBelow(root, 'src', '.ts')
    .filter((path) => !path.endsWith('.test.ts'))
    .map(read)
    .join('\n');

  test('has every variable that the code reads', () => {
    const named = [
      ...sources.matchAll(/\benv\['([A-Z][A-Z0-9_]+)'\]|\.env\('([A-Z][A-Z0-9_]+)'\)/g),
    ].map(([, inner, option]) => inner ?? option ?? '');
    expect(named.length).toBeGreaterThan(10);
    expect([...new Set(named)].filter((name) => !pages.includes(`\`${name}\``))).toEqual([]);
  });

  test('has none that nothing reads', () => {
    const rows = [...read('docs/reference/environment.md').matchAll(/^\| (`[A-Z][^|]*`) \|/gm)].map(
      ([, cell = '']) => cell,
    );
    const names = rows.flatMap((cell) =>
      [...cell.matchAll(/`([A-Z0-9_]+)`/g)].map(([, name = '']) => name),
    );
    expect(names.length).toBeGreaterThan(12);
    expect(names.filter((name) => !sources.includes(`'${name}'`))).toEqual([]);
  });
});
