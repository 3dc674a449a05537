// web/ → dist/console/: the page, and compressed files whose names change with their content. An
// existing build is kept when web/ has not changed.
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { consoleHash, root } from './sources.mjs';

/** Packages whose code or styles the console contains without importing a module of theirs. */
const alsoBundled = ['node_modules/tailwindcss', 'node_modules/@fontsource-variable/inter'];

/**
 * Resolves with the number of files and the entry's bytes (undefined when an earlier build was
 * kept), and with the folders of the bundled packages.
 */
export async function buildConsole(outdir, before) {
  const hash = consoleHash();
  if (
    existsSync(join(before, '.sources')) &&
    readFileSync(join(before, '.sources'), 'utf8') === hash
  ) {
    cpSync(before, outdir, { recursive: true });
    return {
      built: undefined,
      packages: JSON.parse(readFileSync(join(before, '.packages.json'), 'utf8')),
    };
  }
  const { build } = await import('vite');
  const { output } = await build({
    configFile: join(root, 'web', 'vite.config.ts'),
    logLevel: 'warn',
    build: { outDir: outdir },
  });
  rmSync(join(outdir, 'manifest.json'), { force: true });
  const index = join(outdir, 'index.html');
  writeFileSync(index, withPreloads(readFileSync(index, 'utf8'), output));
  const assets = join(outdir, 'assets');
  for (const name of readdirSync(assets))
    if (/\.(?:js|css|svg)$/.test(name)) pack(join(assets, name));
  const packages = packagesIn(output.flatMap((chunk) => chunk.moduleIds ?? []));
  writeFileSync(join(outdir, '.packages.json'), JSON.stringify(packages));
  writeFileSync(join(outdir, '.sources'), hash);
  return { built: { files: output.length, entry: entryBytes(output) }, packages };
}

/**
 * Adds what a page will import, so that browsers fetch it beside the first script. `data-for` names
 * the path or the language that needs it; `src/console/assets.ts` drops the other lines.
 */
function withPreloads(html, output) {
  const chunks = new Map(output.map((chunk) => [chunk.fileName, chunk]));
  const named = (name) => output.find((chunk) => chunk.name === name)?.fileName;
  const kit = named('kit');
  const line = (wanted, file) =>
    html.includes(file)
      ? ''
      : `<link data-for="${wanted}" rel="modulepreload" crossorigin href="/${file}">\n`;
  const ofPage = ({ path, file }) => {
    const { fileName } = output.find(({ facadeModuleId }) => facadeModuleId === file) ?? {};
    // A page that others import from has no file of its own.
    const files = fileName === undefined ? [] : [fileName, ...chunks.get(fileName).imports];
    return files.filter((each) => each !== kit).map((each) => line(path, each));
  };
  const ofLanguage = ([short, language]) => [
    line(language, named(`words-${short}`)),
    ...routes()
      .filter(({ path }) => path.startsWith('/operator'))
      .map(({ path }) => line(`${language} ${path}`, named(`words-${short}-operator`))),
  ];
  const languages = Object.entries({ en: 'en', zh: 'zh-CN' });
  const typeface = output.find(({ fileName }) => fileName.endsWith('.woff2'))?.fileName;
  const preload = `<link rel="preload" href="/${typeface}" as="font" type="font/woff2" crossorigin>\n`;
  const lines = [
    preload,
    line('', kit),
    ...routes().flatMap(ofPage),
    ...languages.flatMap(ofLanguage),
  ];
  return html.replace('  </head>', `${lines.join('')}  </head>`);
}

/** The pages of the router whose path has no parameter. */
function routes() {
  const router = readFileSync(join(root, 'web', 'router.tsx'), 'utf8');
  const page = /\b(page|operatorPage)\(\s*'([^'$]*)',\s*\(\) => import\('([^']+)'\)/g;
  return [...router.matchAll(page)].map(([, kind, path, file]) => ({
    path: `${kind === 'operatorPage' ? '/operator' : ''}${path}`.replace(/(.)\/$/, '$1'),
    file: join(root, 'web', file),
  }));
}

function pack(file) {
  const bytes = readFileSync(file);
  writeFileSync(
    `${file}.br`,
    brotliCompressSync(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY },
    }),
  );
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
}

/**
 * The gzip size of everything that a browser loads before it can show a page: the entry and its
 * static imports.
 */
function entryBytes(output) {
  const chunks = new Map(output.map((chunk) => [chunk.fileName, chunk]));
  const seen = new Set();
  const add = (name) => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const next of chunks.get(name)?.imports ?? []) add(next);
  };
  for (const chunk of output) if (chunk.isEntry) add(chunk.fileName);
  return [...seen].reduce(
    (sum, name) => sum + gzipSync(chunks.get(name)?.code ?? '', { level: 9 }).length,
    0,
  );
}

/** Folders of packages, from the root. */
function packagesIn(modules) {
  const folders = modules
    .map(
      (id) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(relative(root, id.replace('\0', '')))?.[0],
    )
    .filter(Boolean);
  return [...new Set([...folders, ...alsoBundled])].sort();
}
