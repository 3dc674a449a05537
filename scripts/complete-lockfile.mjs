// A registry that mirrors only some platforms leaves the optional packages of the others out of the
// lockfile, and `npm ci` then refuses it everywhere. Adds the missing ones, by the names and
// versions that their parents give; `npm install --package-lock-only` then puts it into npm's own
// order.
import { readFileSync, writeFileSync } from 'node:fs';

const file = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(file, 'utf8'));
const words = {
  os: [
    'aix',
    'android',
    'darwin',
    'freebsd',
    'linux',
    'netbsd',
    'openbsd',
    'openharmony',
    'sunos',
    'win32',
  ],
  cpu: [
    'arm',
    'arm64',
    'ia32',
    'loong64',
    'mips64el',
    'ppc64',
    'riscv64',
    's390x',
    'wasm32',
    'x64',
  ],
};

let added = 0;
for (const [path, parent] of Object.entries(lock.packages)) {
  if (path === '') continue;
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    if (isThere(path, name)) continue;
    lock.packages[`node_modules/${name}`] = entry(name, version, parent);
    added++;
  }
}
const sorted = Object.keys(lock.packages).sort((a, b) => a.localeCompare(b, 'en'));
lock.packages = Object.fromEntries(sorted.map((path) => [path, lock.packages[path]]));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
process.stdout.write(`${added} optional packages added\n`);

function isThere(path, name) {
  return `${path}/node_modules/${name}` in lock.packages || `node_modules/${name}` in lock.packages;
}

function entry(name, version, parent) {
  if (!/^\d/.test(version)) throw new Error(`${name}: ${version} is not one version`);
  const parts = name.split(/[/-]/);
  const [os, cpu] = [words.os, words.cpu].map((known) =>
    known.filter((word) => parts.includes(word)),
  );
  return {
    version,
    ...(cpu.length > 0 ? { cpu } : {}),
    ...(/musl/.test(name) ? { libc: ['musl'] } : {}),
    ...(parent.dev ? { dev: true } : {}),
    license: parent.license,
    optional: true,
    ...(os.length > 0 ? { os } : {}),
    engines: parent.engines,
  };
}
