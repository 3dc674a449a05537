import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const baseFile = join(root, 'bench', 'cost', 'base.txt');
const cache = join(root, 'node_modules', '.cache');

/** The commit that costs are compared with. */
export const baseCommit = (): string => readFileSync(baseFile, 'utf8').trim();

/**
 * A folder with the built gateway of the base commit, kept in `node_modules/.cache/`. Undefined
 * when this checkout does not have the commit, or its packages cannot be installed: a warning says
 * which.
 */
export function baseBuild(): string | undefined {
  const commit = baseCommit();
  const folder = join(cache, `base-${commit}`);
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const fresh = mkdtempSync(join(cache, 'base-'));
  try {
    const archive = join(fresh, 'base.tar');
    execFileSync('git', ['archive', `--output=${archive}`, commit], { cwd: root, stdio: 'pipe' });
    execFileSync('tar', ['-xf', archive, '-C', fresh]);
    rmSync(archive);
    install(fresh);
    execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: fresh, stdio: 'pipe' });
    renameSync(fresh, folder);
    return folder;
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    console.warn(`nothing to compare with: the build of ${commit} failed: ${String(error)}`);
    return undefined;
  }
}

/**
 * Begins with the packages of this checkout, as hard links: npm replaces those that the base has in
 * another version, and adds and removes the rest.
 */
function install(folder: string): void {
  const [own, packages] = [join(root, 'node_modules'), join(folder, 'node_modules')];
  const lock = (of: string): string => readFileSync(join(of, 'package-lock.json'), 'utf8');
  if (lock(folder) === lock(root)) return symlinkSync(own, packages);
  mkdirSync(packages);
  // Its dot files are npm's own and caches, which are written in place.
  const linked = readdirSync(own).filter((name) => !name.startsWith('.'));
  execFileSync('cp', ['-al', ...linked, packages], { cwd: own, stdio: 'pipe' });
  execFileSync('npm', ['install', '--no-save', '--prefer-offline', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: 'pipe',
  });
}
