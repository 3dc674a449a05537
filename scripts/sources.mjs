import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
/** The build writes the hash of its sources here. */
export const stampFile = join(root, 'dist', '.sources');
const inputs = ['src', 'sim', 'web', 'scripts', 'package-lock.json'];
const consoleInputs = ['web', 'scripts/build-console.mjs', 'package-lock.json'];

/**
 * One hash of everything that decides the content of dist/. Tests are left out, so that editing one
 * does not rebuild.
 */
export const sourcesHash = () => hashOf(inputs);

/** The same for dist/console/ alone, which is kept as long as only the gateway changes. */
export const consoleHash = () => hashOf(consoleInputs);

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
  if (!existsSync(full)) return [];
  if (/\.\w+$/.test(path)) return path.includes('.test.') ? [] : [path];
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
