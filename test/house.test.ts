import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { refusals } from '../src/base/refusal.ts';
import { floorViolations, importViolations, unreachable } from './house/floors.ts';
import {
  dependencyViolations,
  errorPageViolations,
  lockfileViolations,
  pathViolations,
  refusalFacts,
  sentenceViolations,
} from './house/papers.ts';
import { linksOf, linkViolations } from './house/links.ts';
import { filesBelow, isTest, parse, readSources } from './house/source.ts';
import {
  cycleViolations,
  folderFilesMax,
  folderViolations,
  languageViolations,
  twiceExported,
} from './house/structure.ts';
import {
  clockViolations,
  consoleViolations,
  fileLinesMax,
  functionLinesMax,
  leftoverViolations,
  nameViolations,
  sizeViolations,
  vendorViolations,
} from './house/style.ts';
import { tableExceptions, tableViolations } from './house/tables.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const folders = ['src', 'web', 'sim', 'test', 'bench'].filter((folder) =>
  existsSync(join(root, folder)),
);
const sources = readSources(root, folders);
const exists = (path: string) => existsSync(join(root, path));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const pages = [
  ...readdirSync(root).filter((name) => /^README.*\.md$/.test(name)),
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'AGENTS.md',
  ...filesBelow(root, 'docs', '.md'),
];
/** Decisions are not edited: they tell of the code as it was. */
const present = [
  ...pages.filter((path) => !path.startsWith('docs/decisions/')),
  'sim/README.md',
  'test/net/README.md',
  'web/README.md',
];
const knownVendors =
  'openai azure anthropic claude gemini vertex bedrock cohere deepseek qwen dashscope moonshot zhipu minimax volcengine hunyuan xai mistral groq ' +
  'together fireworks openrouter perplexity cerebras huggingface siliconflow ollama vllm llamacpp replicate fal kling runway';
const vendorFiles = exists('src/providers/vendors')
  ? filesBelow(root, 'src/providers/vendors', '.ts')
  : [];
const vendors = new Set([
  ...knownVendors.split(' '),
  ...vendorFiles.map((path) => basename(path, '.ts')),
]);

const entries = [
  'src/cli/main.ts',
  'src/ledger/sqlite-thread.ts',
  'bench/main.ts',
  'bench/ledger.ts',
  'bench/scale.ts',
  'bench/console.ts',
  'bench/install-peers.ts',
  'bench/growth.ts',
  'bench/soak.ts',
  'bench/against.ts',
  'bench/floor.ts',
  'bench/profile.ts',
  'bench/ledger-worker.ts',
  'test/global-setup.ts',
  'test/setup.ts',
  'test/clients/main.ts',
  'test/judge/print-matrix.ts',
  'test/judge/print-turns.ts',
  'test/net/main.ts',
  'web/main.tsx',
  'web/reference/main.ts',
  'web/vite.config.ts',
];
const isRoot = (path: string) => isTest(path) || entries.includes(path);

describe('the house as it stands', () => {
  test('has files to check', () => {
    expect(sources.length).toBeGreaterThan(20);
    expect(sources.flatMap((source) => source.imports).length).toBeGreaterThan(20);
  });
  test('imports go down, never across or up', () =>
    expect(sources.flatMap(floorViolations)).toEqual([]));
  test('imports lead to files', () =>
    expect(sources.flatMap((source) => importViolations(source, exists))).toEqual([]));
  test('every file is reached from an entry or a test', () =>
    expect(unreachable(sources, isRoot)).toEqual([]));
  test('no two files of src/ import each other, directly or around', () =>
    expect(cycleViolations(sources)).toEqual([]));
  test('a name is exported once', () => expect(twiceExported(sources)).toEqual([]));
  test('a table is named in the SQL of its own room alone', () =>
    expect(tableViolations(sources, tableExceptions)).toEqual([]));
  test('a folder can be overlooked', () => expect(folderViolations(sources)).toEqual([]));
  test('sentences name their subject', () => {
    expect(sources.flatMap(languageViolations)).toEqual([]);
    expect(present.flatMap((path) => sentenceViolations(path, read(path)))).toEqual([]);
  });
  test('files and functions are short', () => expect(sources.flatMap(sizeViolations)).toEqual([]));
  test('time and chance come in by argument', () =>
    expect(sources.flatMap(clockViolations)).toEqual([]));
  test('only the command line writes to the terminal', () =>
    expect(sources.flatMap(consoleViolations)).toEqual([]));
  test('names say something', () => expect(sources.flatMap(nameViolations)).toEqual([]));
  test('vendors are named where vendors live', () =>
    expect(sources.flatMap((source) => vendorViolations(source, vendors))).toEqual([]));
  test('nothing is left unfinished', () => {
    const texts = [...sources, ...pages.map((path) => ({ path, text: read(path) }))];
    expect(texts.flatMap(({ path, text }) => leftoverViolations(path, text))).toEqual([]);
  });
  test('every refusal is explained to its reader', () =>
    expect(errorPageViolations(read('docs/reference/errors.md'), refusals)).toEqual([]));
  test('every dependency has its reason', () => {
    const { dependencies, optionalDependencies, devDependencies } = JSON.parse(
      read('package.json'),
    );
    const names = Object.keys({ ...dependencies, ...optionalDependencies, ...devDependencies });
    expect(dependencyViolations(read('docs/decisions/0002-dependencies.md'), names)).toEqual([]);
  });
  test('the lockfile names no host and lacks nothing', () => {
    expect(lockfileViolations(JSON.parse(read('package-lock.json')).packages)).toEqual([]);
  });
  test('links between pages lead somewhere', () =>
    expect(pages.flatMap((path) => linkViolations(path, read(path), exists, read))).toEqual([]));
  test('a picture is kept for a page that shows it', () => {
    const shown = new Set(
      pages.flatMap((path) => linksOf(read(path)).map((link) => posix.join(dirname(path), link))),
    );
    const kept = readdirSync(join(root, 'docs/pictures')).map((name) => `docs/pictures/${name}`);
    expect(kept.filter((path) => !shown.has(path))).toEqual([]);
    expect(kept.length).toBeLessThanOrEqual(16);
  });
  test('paths of code in pages lead somewhere', () => {
    const found = present.flatMap((path) => pathViolations(path, read(path), exists, /aurora/));
    expect(found).toEqual([]);
  });
  test('AGENTS.md can be read at once', () =>
    expect(read('AGENTS.md').trimEnd().split('\n').length).toBeLessThanOrEqual(80));
});

describe('each rule finds its violation', () => {
  const floors = (path: string, text: string) => floorViolations(parse(path, text));

  test('an import from the same floor, from above, or from the tests', () => {
    expect(floors('src/ledger/a.ts', "import { x } from '../usage/x.ts';")).toHaveLength(1);
    expect(floors('src/ledger/a.ts', "import type { x } from '../usage/x.ts';")).toHaveLength(1);
    expect(floors('src/ledger/a.ts', "export * from '../gateway/x.ts';")).toHaveLength(1);
    expect(floors('src/ledger/a.ts', "export { x } from '../../test/x.ts';")).toHaveLength(1);
    expect(floors('src/ledger/a.ts', "await import('../api/x.ts');")).toHaveLength(1);
    expect(floors('src/ledger/a.ts', "let x: import('../api/x.ts').X;")).toHaveLength(1);
    expect(floors('src/attic/a.ts', '')).toHaveLength(1);
    expect(floors('src/api/a.ts', "import '../app/gateway.ts';")).toHaveLength(1);
    expect(floors('src/main.ts', '')).toHaveLength(1);
    expect(
      floors(
        'src/ledger/a.ts',
        "import { x } from '../storage/x.ts'; import { y } from './y.ts'; import 'pg';",
      ),
    ).toEqual([]);
    expect(
      floors(
        'src/app/gateway.ts',
        "import { x } from '../api/x.ts'; import { y } from '../console/y.ts';",
      ),
    ).toEqual([]);
    expect(floors('src/ledger/a.test.ts', "import { x } from '../api/x.ts';")).toEqual([]);
  });

  test('a simulator that borrows our reading, and a room that starts it', () => {
    expect(floors('sim/a.ts', "import { x } from '../src/providers/x.ts';")).toHaveLength(1);
    expect(
      floors(
        'sim/a.ts',
        "import { x } from '../src/base/x.ts'; import { y } from '../src/http/y.ts';",
      ),
    ).toEqual([]);
    expect(floors('src/gateway/a.ts', "import { x } from '../../sim/x.ts';")).toHaveLength(1);
    expect(floors('src/cli/a.ts', "import { x } from '../../sim/x.ts';")).toEqual([]);
  });

  test('a console that knows more of the gateway than the shape of its JSON', () => {
    expect(
      floors('web/pages/a.tsx', "import type { x } from '../../src/ledger/x.ts';"),
    ).toHaveLength(1);
    expect(floors('src/console/a.ts', "import { x } from '../../web/x.ts';")).toHaveLength(1);
    expect(
      floors(
        'web/pages/a.tsx',
        "import type { x } from '../../src/console/contract.ts'; import { y } from '../api/y.ts';",
      ),
    ).toEqual([]);
  });

  test('an import without its ending, or of nothing', () => {
    const check = (text: string) =>
      importViolations(parse('src/base/a.ts', text), (path) => path === 'src/base/b.ts');
    expect(check("import './b';")).toHaveLength(1);
    expect(check("import './c.ts';")).toHaveLength(1);
    expect(check("import './b.ts'; import 'pg';")).toEqual([]);
  });

  test('a file that nothing leads to', () => {
    const files = [
      parse('src/main.ts', "import './base/a.ts';"),
      parse('src/base/a.ts', "import('./b.ts'); new URL('./d.ts', import.meta.url);"),
      parse('src/base/d.ts', ''),
      parse('src/base/b.ts', ''),
      parse('src/base/c.ts', ''),
    ];
    expect(unreachable(files, (path) => path === 'src/main.ts')).toEqual(['src/base/c.ts']);
  });

  test('files that import each other, by types or by later imports as well', () => {
    const check = (a: string, b: string, c = '') =>
      cycleViolations([parse('src/a/a.ts', a), parse('src/b/b.ts', b), parse('src/c/c.ts', c)]);
    expect(check("import '../b/b.ts';", "import '../a/a.ts';")).toEqual([
      'these import each other: src/a/a.ts, src/b/b.ts',
    ]);
    expect(check("import type { B } from '../b/b.ts';", "import('../a/a.ts');")).toHaveLength(1);
    expect(check("import '../b/b.ts';", "import '../c/c.ts';", "import '../a/a.ts';")).toHaveLength(
      1,
    );
    expect(check("import '../b/b.ts'; import '../c/c.ts';", "import '../c/c.ts';")).toEqual([]);
  });

  test('a name that two files export', () => {
    const check = (a: string, b: string, path = 'src/b/b.ts') =>
      twiceExported([parse('src/a/a.ts', a), parse(path, b)]);
    expect(check('export const x = 1;', 'export interface x {}')).toHaveLength(1);
    expect(check('export function x() {}', 'export class x {}')).toHaveLength(1);
    expect(check('export const x = 1;', 'const x = 1;')).toEqual([]);
    expect(check('export const x = 1;', 'export const x = 1;', 'src/b/b.test.ts')).toEqual([]);
    expect(twiceExported([parse('src/a/a.ts', 'export type x = 1; export const x = 1;')])).toEqual(
      [],
    );
  });

  test('SQL that names a table of another room', () => {
    const owners = [
      parse('src/ledger/a.ts', "x('CREATE TABLE hold (id TEXT)');"),
      parse('src/usage/a.ts', 'x(`CREATE TABLE IF NOT EXISTS usage (${columns})`);'),
    ];
    const check = (text: string, path = 'src/console/a.ts', exceptions = {}) =>
      tableViolations([...owners, parse(path, text)], exceptions);
    for (const text of [
      "x('SELECT id FROM hold');",
      "x('SELECT 1 FROM change c, hold');",
      'x(`SELECT ${y} FROM\n  t JOIN hold h ON h.id=${z}`);',
      "x('INSERT INTO hold (id) VALUES ($1)');",
      "x('UPDATE hold SET id=id');",
      'x(`${start} DELETE FROM hold`);',
      "x('ALTER TABLE hold ADD COLUMN x');",
    ]) {
      expect(check(text), text).toEqual([
        expect.stringMatching(/a\.ts:1: hold belongs to ledger\//),
      ]);
      expect(check(text, 'src/ledger/b.ts'), text).toEqual([]);
      expect(check(text, 'src/console/a.test.ts'), text).toEqual([]);
    }
    expect(check("x('SELECT hold FROM change');")).toEqual([]);
    expect(check("x('put on hold, from usage');")).toEqual([]);
    const exceptions = { 'src/console/a.ts': { tables: ['hold'], why: 'a test' } };
    expect(check("x('SELECT id FROM hold');", 'src/console/a.ts', exceptions)).toEqual([]);
    expect(check("x('SELECT id FROM usage');", 'src/console/a.ts', exceptions)).toEqual([
      'src/console/a.ts:1: usage belongs to usage/',
      'src/console/a.ts needs no exception for hold',
    ]);
  });

  test('a folder with too many files', () => {
    const files = (folder: string) =>
      Array.from({ length: folderFilesMax + 1 }, (_, i) => parse(`${folder}/a${i}.ts`, ''));
    expect(folderViolations(files('src/api'))).toHaveLength(1);
    expect(folderViolations(files('src/api').slice(1))).toEqual([]);
    expect(folderViolations(files('src/providers/vendors'))).toEqual([]);
  });

  test('a sentence about nobody', () => {
    const check = (text: string, path = 'src/api/a.ts') => languageViolations(parse(path, text));
    expect(check(`// Who${'ever'} asks.`)).toHaveLength(1);
    expect(check(`// To who${'m'} it is sent.`, 'sim/a.ts')).toHaveLength(1);
    expect(check(`// Who${'ever'} asks.`, 'test/a.ts')).toEqual([]);
    expect(check(`test('who${'ever'} asks', f);`, 'src/api/a.test.ts')).toHaveLength(1);
    expect(check(`x('Who${'ever'} makes it.');`)).toEqual([]);
    expect(check('// Who asks? wholly')).toEqual([]);
    expect(sentenceViolations('a.md', `It is for\nwho${'ever'} asks.`)).toHaveLength(1);
  });

  test('a long file and a long function of every kind', () => {
    const check = (text: string, path = 'src/base/a.ts') => sizeViolations(parse(path, text));
    const body = '\n'.repeat(functionLinesMax);
    expect(check('\n'.repeat(fileLinesMax) + 'x;')).toHaveLength(1);
    expect(check(`function f() {${body}}`)).toHaveLength(1);
    expect(check(`const f = async () => {${body}};`)).toHaveLength(1);
    expect(check(`class A { m() {${body}} }`)).toHaveLength(1);
    expect(check(`const o = { *m() {${body}} };`)).toHaveLength(1);
    expect(check(`function f() {${body}}`, 'src/base/a.test.ts')).toEqual([]);
    expect(check(`function f() {${'\n'.repeat(functionLinesMax - 1)}}`)).toEqual([]);
  });

  test('a clock or a die of its own', () => {
    const check = (text: string, path = 'src/api/a.ts') => clockViolations(parse(path, text));
    for (const text of [
      'Date.now()',
      'const now = Date.now',
      'Math.random()',
      'performance.now()',
      'process.hrtime.bigint()',
      'new Date()',
      'new Date',
      'Date()',
    ]) {
      expect(check(text), text).toHaveLength(1);
    }
    for (const text of ['new Date(at)', 'clock.now()', '"Date.now()"', '// Date.now()'])
      expect(check(text), text).toEqual([]);
    expect(check('Date.now()', 'src/base/a.ts')).toEqual([]);
  });

  test('a word to the terminal', () => {
    expect(consoleViolations(parse('src/api/a.ts', 'console.log(1)'))).toHaveLength(1);
    expect(consoleViolations(parse('src/cli/a.ts', 'console.log(1)'))).toEqual([]);
  });

  test('an empty name', () => {
    const check = (path: string, text = '') => nameViolations(parse(path, text));
    expect(check('src/base/utils.ts')).toHaveLength(1);
    expect(check('src/base/string-helpers.ts')).toHaveLength(1);
    expect(check('src/base/jsonEdit.ts')).toHaveLength(1);
    expect(check('src/base/a.ts', 'class KeyManager {}')).toHaveLength(1);
    expect(check('src/base/a.ts', 'const pathUtils = {};')).toHaveLength(1);
    expect(check('src/base/json.ts', 'const serviceTier = managed;')).toEqual([]);
  });

  test('a vendor in the pipeline', () => {
    const check = (text: string, path = 'src/gateway/a.ts') =>
      vendorViolations(parse(path, text), vendors);
    for (const text of [
      "if (vendor === 'groq') x();",
      'const isOpenai = 1;',
      'x(`${y}-deepseek`);',
      "x = 'together';",
      'x.anthropicVersion',
    ]) {
      expect(check(text), text).toHaveLength(1);
    }
    for (const text of ["x = 'put together again';", '// as OpenAI does', 'const coherent = 1;'])
      expect(check(text), text).toEqual([]);
    expect(check("x = 'groq';", 'src/providers/vendors/groq.ts')).toEqual([]);
  });

  test('something left behind', () => {
    for (const text of [
      `// TO${'DO'} later`,
      `// FIX${'ME'}`,
      `it.${'only'}('x')`,
      `describe.each([])['x'] || test.${'skip'}('y')`,
      `cd /${'work'}/x`,
    ]) {
      expect(leftoverViolations('a.ts', text), text).toHaveLength(1);
    }
    expect(leftoverViolations('a.ts', `test.skipIf(x)("y"); // see docs/${'root'}/x`)).toEqual([]);
  });

  test('a refusal without a page, a page without a refusal, and a page that says otherwise', () => {
    const table = { gone: { status: 404, type: 't', code: null, message: 'It is gone.' } };
    const good = `# Errors\n\n## gone\n\n${refusalFacts(table.gone)}\n\nTo do: nothing.\n`;
    expect(errorPageViolations(good, table)).toEqual([]);
    expect(errorPageViolations('', table)).toHaveLength(1);
    expect(errorPageViolations(good.replace('404', '410'), table)).toHaveLength(1);
    expect(errorPageViolations(good.replace('To do: nothing.', ''), table)).toHaveLength(1);
    expect(errorPageViolations(`${good}\n## other\n`, table)).toHaveLength(1);
  });

  test('a lockfile with a host, or without what another platform needs', () => {
    expect(
      lockfileViolations({ 'node_modules/x': { resolved: 'https://example.com/x.tgz' } }),
    ).toHaveLength(1);
    const parent = { optionalDependencies: { 'x-darwin': '1.0.0' } };
    expect(lockfileViolations({ 'node_modules/x': parent })).toHaveLength(1);
    expect(lockfileViolations({ 'node_modules/x': parent, 'node_modules/x-darwin': {} })).toEqual(
      [],
    );
  });

  test('a dependency without a reason, and a reason without its dependency', () => {
    expect(dependencyViolations('| `a` | x |', ['a', 'b'])).toHaveLength(1);
    expect(dependencyViolations('| `a`, `b` | uses `c` |', ['a'])).toHaveLength(1);
  });

  test('a link to nowhere', () => {
    const check = (text: string) =>
      linkViolations(
        'docs/a.md',
        text,
        (path) => /^docs\/[ab]\.md$/.test(path),
        () => '# B\n## There `it`, is\n## There it is',
      );
    expect(check('[x](c.md)')).toHaveLength(1);
    expect(check('<img src="c.png">')).toHaveLength(1);
    expect(check('[x](b.md#here)')).toHaveLength(1);
    expect(check('## There\n[x](#here)')).toHaveLength(1);
    expect(check('[x](b.md) [y](https://example.com) [z](b.md#there-it-is-1)')).toEqual([]);
    expect(check('## Here\n[x](#here) `[y](none.md)`')).toEqual([]);
  });

  test('a path of code to nowhere', () => {
    const check = (text: string) =>
      pathViolations('docs/a.md', text, (path) => /^src\/(?:b\.ts|b\/)$/.test(path), /new/);
    expect(check('see `src/c.ts`.')).toHaveLength(1);
    expect(check('`npx vitest run src/c`')).toHaveLength(1);
    expect(check('`src/b.ts`, `src/b/<name>.ts`, src/b.ts. `src/new.ts` x/src/c.ts')).toEqual([]);
  });
});
