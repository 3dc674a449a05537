// Runs before `npm start` and `npm test`: brings node_modules and dist/ up to date, and prints its
// steps. Plain Node without dependencies, since there may be none yet; even an old Node gets as far
// as the message.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

requireNode(20, 19);
if (!isInstalled())
  step(
    'Installing the packages of package-lock.json (about a minute on a new machine)',
    ...npmCi(),
  );
if (!(await isBuilt()))
  step('Building dist/', process.execPath, [join(root, 'scripts', 'build.mjs')]);

function requireNode(major, minor) {
  const [haveMajor, haveMinor] = process.versions.node.split('.').map(Number);
  if (haveMajor > major || (haveMajor === major && haveMinor >= minor)) return;
  fail(
    `Tollgate needs Node ${major}.${minor} or newer; this is ${process.versions.node}. Get a newer one from https://nodejs.org and run the command again.`,
  );
}

/**
 * npm stores the installed versions in a lockfile of its own: equal entries mean that nothing has
 * to be done. npm writes it last, so an interrupted installation does not count.
 */
function isInstalled() {
  const wanted = packagesOf(join(root, 'package-lock.json'));
  const present = packagesOf(join(root, 'node_modules', '.package-lock.json'));
  if (wanted === undefined || present === undefined) return false;
  const missing = Object.keys(wanted).some(
    (path) => path !== '' && !sameEntry(wanted[path], present[path]),
  );
  return !missing && Object.keys(present).every((path) => path in wanted);
}

function sameEntry(wanted, present) {
  if (present === undefined) return wanted.optional === true; // built for another platform
  return wanted.version === present.version && wanted.integrity === present.integrity;
}

function packagesOf(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).packages : undefined;
}

function npmCi() {
  const npm = process.env.npm_execpath;
  return npm === undefined ? ['npm', ['ci']] : [process.execPath, [npm, 'ci']];
}

async function isBuilt() {
  const { builtHash, sourcesHash } = await import('./sources.mjs');
  return builtHash() === sourcesHash();
}

function step(what, command, args) {
  const startedAt = Date.now();
  process.stderr.write(`tollgate: ${what} …\n`);
  const result = spawnSync(command, args, { cwd: root, stdio: ['inherit', 2, 2] });
  if (result.status !== 0)
    fail(
      `${what}: failed (${result.error?.message ?? `exit code ${result.status}`}). Its own words are above.`,
    );
  process.stderr.write(
    `tollgate: ${what}: done in ${((Date.now() - startedAt) / 1000).toFixed(1)} s\n`,
  );
}

function fail(message) {
  process.stderr.write(`tollgate: ${message}\n`);
  process.exit(1);
}
