// src/, web/ and docs/ → dist/: the console, the documents, the command line, and the code of
// SQLite's thread. Everything is bundled but the native SQLite: one file opens faster than two
// thousand, and bin/tollgate.js keeps its compiled code (decision 0028).
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { isAscii } from 'node:buffer';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { buildConsole } from './build-console.mjs';
import { buildDocs, docsPackages } from './build-docs.mjs';
import { root, sourcesHash } from './sources.mjs';

const hash = sourcesHash();
const fresh = join(root, 'node_modules', '.cache', `dist-${process.pid}`);
const dist = join(root, 'dist');

const shared = {
  absWorkingDir: root,
  outdir: fresh,
  bundle: true,
  platform: 'node',
  target: 'node20',
  external: ['@photostructure/sqlite', 'pg-native'],
  sourcemap: true,
  sourcesContent: false,
  metafile: true,
  minifyWhitespace: true, // without comments: see `escapes`
  legalComments: 'none',
  logLevel: 'warning',
};
/** Large packages that few processes read: each is a file of its own. */
const apart = [
  'fastify',
  'gpt-tokenizer/encoding/cl100k_base',
  'gpt-tokenizer/encoding/o200k_base',
  'ioredis',
  'nodemailer',
  'pg',
  'undici',
];
const builds = [
  // bin/tollgate.js runs it as a script: Node 20 cannot keep the compiled code of a module.
  build({
    ...shared,
    entryPoints: { tollgate: 'src/cli/main.ts' },
    format: 'cjs',
    supported: { 'dynamic-import': false },
    plugins: [escapes(), leavesApart()],
    define: { 'import.meta.url': 'moduleUrl' },
    banner: { js: '(function(exports,require,module,moduleUrl){' },
    footer: { js: '})' },
  }),
  build({
    ...shared,
    entryPoints: Object.fromEntries([
      ['sqlite-thread', 'src/ledger/sqlite-thread.ts'],
      ...apart.map((name) => [basename(name), name]),
    ]),
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    plugins: [escapes()],
    define: { 'import.meta.url': '__filename' },
  }),
];
const docs = buildDocs(join(fresh, 'docs'), join(dist, 'docs'));
const { built, packages } = await buildConsole(join(fresh, 'console'), join(dist, 'console'));
await docs;
const metafiles = (await Promise.all(builds)).map(({ metafile }) => metafile);
const inputs = metafiles.flatMap((one) => Object.keys(one.inputs));
const outputs = metafiles.flatMap((one) => Object.values(one.outputs));
writeFileSync(join(fresh, 'LICENSES.txt'), licenses([...inputs, ...packages, ...docsPackages]));
if (!isAscii(readFileSync(join(fresh, 'tollgate.js'))))
  throw new Error('dist/tollgate.js has letters beyond ASCII');
writeFileSync(join(fresh, '.sources'), hash);
replace(dist, fresh);

const bytes = outputs.reduce((sum, output) => sum + output.bytes, 0);
process.stdout.write(`dist/: ${outputs.length} files, ${(bytes / 1e6).toFixed(1)} MB\n`);
const size =
  built === undefined
    ? 'kept, since web/ has not changed'
    : `${built.files} files, ${Math.round(built.entry / 1000)} kB of script to begin with`;
process.stdout.write(`dist/console/: ${size}\n`);

/**
 * bin/tollgate.js reads bytes as letters, and one letter beyond Latin-1 would double the memory of
 * the source. esbuild escapes those of strings, and leaves those of regular expressions.
 */
function escapes() {
  const escaped = (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const load = ({ path }) => ({
    contents: readFileSync(path, 'utf8').replace(/[^\0-\x7f]/g, escaped),
    loader: 'ts',
  });
  return {
    name: 'escapes',
    setup: (of) => of.onLoad({ filter: /[\\/](?:src|sim)[\\/][^.]+\.ts$/ }, load),
  };
}

function leavesApart() {
  const beside = ({ path }) =>
    apart.includes(path) ? { path: `./${basename(path)}.cjs`, external: true } : undefined;
  return {
    name: 'apart',
    setup: (of) => of.onResolve({ filter: /^[\w-]+(?:\/encoding\/\w+)?$/ }, beside),
  };
}

/** The licences of the bundled packages go with the build. */
function licenses(inputs) {
  const packages = new Set(
    inputs.map((input) => /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[0]).filter(Boolean),
  );
  return [...packages].sort().map(license).join('\n');
}

function license(folder) {
  const about = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  const file = readdirSync(join(root, folder)).find((name) => /^licen[cs]e/i.test(name));
  const text = file === undefined ? '' : readFileSync(join(root, folder, file), 'utf8');
  return `${about.name} ${about.version} (${about.license})\n\n${text}\n${'-'.repeat(80)}`;
}

/** By renaming, so that a running gateway or test never sees half a build. */
function replace(target, source) {
  const old = `${source}-old`;
  mkdirSync(join(root, 'node_modules', '.cache'), { recursive: true });
  if (existsSync(target)) renameSync(target, old);
  renameSync(source, target);
  rmSync(old, { recursive: true, force: true });
}
