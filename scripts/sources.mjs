import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
/** The build writes the hash of its sources here. */
export const stampFile = join(root, 'dist', '.sources');
/** What the build reads. */
export const inputs = ['src', 'sim', 'web', 'docs', 'scripts', 'package-lock.json'];
const consoleInputs = ['web', 'scripts/build-console.mjs', 'package-lock.json'];
const guideInputs = ['docs', 'web/styles/inter.css', 'scripts/build-docs.mjs', 'package-lock.json'];
/** VitePress writes there while it builds. */
const passing = new Set(['docs/.vitepress/cache', 'docs/.vitepress/.temp']);

/**
 * One hash of everything that decides the content of dist/. Tests are left out, so that editing one
 * does not rebuild.
 */
export const sourcesHash = () => hashOf(inputs);

/** The same for dist/console/ alone, which is kept as long as only the gateway changes. */
export const consoleHash = () => hashOf(consoleInputs);

/** The same for dist/docs/guide/ alone. */
export const guideHash = () => hashOf(guideInputs);

function hashOf(paths) {
  const hash = createHash('sha256');
  for (const file of paths.flatMap((input) => filesUnder(input)).sort()) {
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(root, file)))
      .update('\0');
  }
  return hash.digest('hex');
}

function filesUnder(path) {
  const full = join(root, path);
  if (!existsSync(full) || passing.has(path)) return [];
  if (statSync(full).isFile()) return path.includes('.test.') ? [] : [path];
  return readdirSync(full, { withFileTypes: true }).flatMap((entry) => {
    const child = `${path}/${entry.name}`;
    if (entry.isDirectory()) return filesUnder(child);
    return entry.name.includes('.test.') ? [] : [child];
  });
}

/** The hash of the sources that dist/ was built from; undefined when there is none. */
export function builtHash() {
  return existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : undefined;
}
