// src/, web/ and docs/ → dist/: the console, the documents, the command line, and the code of
// SQLite's thread. Everything is bundled but the native SQLite: one file opens faster than two
// thousand.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { buildConsole } from './build-console.mjs';
import { buildDocs, docsPackages } from './build-docs.mjs';
import { root, sourcesHash } from './sources.mjs';

const hash = sourcesHash();
const fresh = join(root, 'node_modules', '.cache', `dist-${process.pid}`);
const dist = join(root, 'dist');

const gateway = build({
  absWorkingDir: root,
  entryPoints: { tollgate: 'src/cli/main.ts', 'sqlite-thread': 'src/ledger/sqlite-thread.ts' },
  outdir: fresh,
  bundle: true,
  splitting: true, // a command does not read code that it does not use
  format: 'esm',
  platform: 'node',
  target: 'node20',
  external: ['@photostructure/sqlite', 'pg-native'],
  sourcemap: true,
  sourcesContent: false,
  metafile: true,
  minifyWhitespace: true, // without comments: see `escapes`
  plugins: [escapes()],
  legalComments: 'none',
  logLevel: 'warning',
  banner: {
    js: "import { createRequire as bundleRequire } from 'node:module'; const require = bundleRequire(import.meta.url);",
  },
});
const docs = buildDocs(join(fresh, 'docs'), join(dist, 'docs'));
const { built, packages } = await buildConsole(join(fresh, 'console'), join(dist, 'console'));
const [result] = await Promise.all([gateway, docs]);
writeFileSync(
  join(fresh, 'LICENSES.txt'),
  licenses([...Object.keys(result.metafile.inputs), ...packages, ...docsPackages]),
);
writeFileSync(join(fresh, '.sources'), hash);
replace(dist, fresh);

const bytes = Object.values(result.metafile.outputs).reduce((sum, output) => sum + output.bytes, 0);
process.stdout.write(
  `dist/: ${Object.keys(result.metafile.outputs).length} files, ${(bytes / 1e6).toFixed(1)} MB\n`,
);
const size =
  built === undefined
    ? 'kept, since web/ has not changed'
    : `${built.files} files, ${Math.round(built.entry / 1000)} kB of script to begin with`;
process.stdout.write(`dist/console/: ${size}\n`);

/**
 * One letter beyond Latin-1 doubles the memory of a source. esbuild escapes those of strings, and
 * leaves those of regular expressions.
 */
function escapes() {
  const escaped = (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const load = ({ path }) => ({
    contents: readFileSync(path, 'utf8').replace(/[^\0-\xff]/g, escaped),
    loader: 'ts',
  });
  return {
    name: 'escapes',
    setup: (of) => of.onLoad({ filter: /[\\/](?:src|sim)[\\/][^.]+\.ts$/ }, load),
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
