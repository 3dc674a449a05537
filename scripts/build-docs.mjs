// → dist/docs/: the API reference and the guides that the gateway serves below /docs. Texts are
// stored packed alone: almost every client takes them so. An existing build of the guides is kept
// when docs/ has not changed.
import { execFile } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { guideHash, root } from './sources.mjs';

const scalar = 'node_modules/@scalar/fastify-api-reference';
/** Packages whose code these pages contain. */
export const docsPackages = [
  scalar,
  ...['vitepress', 'vue', 'minisearch', 'mark.js', 'shiki', '@fontsource-variable/inter'].map(
    (name) => `node_modules/${name}`,
  ),
];

const texts = new Set(['.html', '.js', '.css', '.json', '.svg']);

export async function buildDocs(outdir, before) {
  const guide = buildGuide(join(outdir, 'guide'), join(before, 'guide'));
  await build({
    absWorkingDir: root,
    entryPoints: { reference: 'web/reference/main.ts', style: 'web/reference/style.css' },
    outdir,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    loader: { '.woff2': 'file' },
    publicPath: '/docs/',
    logLevel: 'warning',
  });
  const copied = {
    'index.html': 'web/reference/index.html',
    'icon.svg': 'web/icon.svg',
    'scalar.js': `${scalar}/dist/js/standalone.js`,
  };
  for (const [name, source] of Object.entries(copied))
    cpSync(join(root, source), join(outdir, name));
  await guide;
  packTexts(outdir);
}

async function buildGuide(outdir, before) {
  const hash = guideHash();
  const stamp = join(before, '.sources');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) {
    cpSync(before, outdir, { recursive: true });
    return;
  }
  const command = join(root, 'node_modules', 'vitepress', 'bin', 'vitepress.js');
  await promisify(execFile)(process.execPath, [command, 'build', 'docs', '--outDir', outdir], {
    cwd: root,
    env: { ...process.env, SITE_BASE: '/docs/guide/' },
  });
  writeFileSync(join(outdir, '.sources'), hash);
}

function packTexts(folder) {
  for (const name of readdirSync(folder, { recursive: true }).map(String)) {
    const file = join(folder, name);
    if (!texts.has(extname(name))) continue;
    writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }));
    rmSync(file);
  }
}
