import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Packages } from './client.ts';
import { run } from './program.ts';

/** The folder of installed clients: `TOLLGATE_CLIENTS`, or the user's cache. */
export const clientsFolder =
  process.env['TOLLGATE_CLIENTS'] ??
  join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'tollgate-clients');

const installMsMax = 600_000;
export const python = process.env['PYTHON'] ?? 'python3';
/** Claude Code, AI SDK 7 and LangChain's packages of November 2026 need this Node. */
const nodeMajorMin = 22;
const nodeVersion = '22.23.3';

export type Installed = { readonly folder: string } | { readonly missing: string };

/** Installs packages into a folder of their own, once; reports the missing ones. */
export async function install(id: string, needs: Packages): Promise<Installed> {
  const folder = join(clientsFolder, id);
  const mark = join(folder, 'installed.json');
  const wanted = JSON.stringify(needs);
  if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) return { folder };
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const missing = await (needs.registry === 'npm' ? fromNpm : fromPypi)(folder, needs.packages);
  if (missing !== undefined) return { missing };
  writeFileSync(mark, wanted);
  return { folder };
}

/** This Node, if it is new enough for the newest packages; else one from the registry. */
export async function newerNode(): Promise<string | undefined> {
  if (Number(process.versions.node.split('.')[0]) >= nodeMajorMin) return process.execPath;
  const name = `node-${process.platform}-${process.arch}`;
  const installed = await install('node', { registry: 'npm', packages: { [name]: nodeVersion } });
  return 'folder' in installed
    ? join(installed.folder, 'node_modules', name, 'bin', 'node')
    : undefined;
}

async function fromNpm(
  folder: string,
  packages: Packages['packages'],
): Promise<string | undefined> {
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ private: true, type: 'module', dependencies: packages }),
  );
  return step('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], folder);
}

async function fromPypi(
  folder: string,
  packages: Packages['packages'],
): Promise<string | undefined> {
  const wanted = Object.entries(packages).map(([name, version]) => `${name}==${version}`);
  return (
    (await step(python, ['-m', 'venv', 'venv'], folder)) ??
    (await step(
      join(folder, 'venv/bin/pip'),
      ['install', '--quiet', '--disable-pip-version-check', ...wanted],
      folder,
    ))
  );
}

async function step(
  command: string,
  args: readonly string[],
  folder: string,
): Promise<string | undefined> {
  const { code, output } = await run(command, args, {
    folder,
    env: installEnvironment,
    timeoutMs: installMsMax,
  });
  if (code === 0) return undefined;
  return `${code === undefined ? 'not installed in time' : 'not installed'}: ${output.trim().split('\n').slice(-2).join(' ').slice(-400)}`;
}

/** The caller's environment, without npm's variables that hold a registry's address or a proxy. */
const installEnvironment: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined || /^npm_(?!config_)/.test(name) ? [] : [[name, value]],
  ),
);
