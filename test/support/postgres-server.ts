import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { answering, findBinaries, unprivileged } from '../postgres.ts';
import { freePort } from './free-port.ts';

/** A PostgreSQL server of the test's own, which the test may kill or stop. */
export interface PostgresServer {
  readonly url: string;
  /** Ends all of its processes at once. */
  kill(): Promise<void>;
  /** Starts again on the same files, unless it is running. */
  start(): Promise<void>;
  /** From now on it accepts connections and bytes, but does not answer. */
  pause(): void;
  resume(): void;
}

const binaries = findBinaries(process.env['PATH'] ?? '');
/** False without PostgreSQL's programs, and without Linux, which lists a server's processes. */
export const postgresCanBeHurt = binaries !== undefined && process.platform === 'linux';

const settings = [
  'fsync=off',
  'full_page_writes=off',
  'max_connections=100',
  'listen_addresses=127.0.0.1',
  'shared_buffers=16MB',
];
const small = ['min_wal_size=2MB', 'max_wal_size=4MB', 'wal_recycle=off', 'wal_init_zero=off'];

export async function startPostgresServer(parent: string = tmpdir()): Promise<PostgresServer> {
  if (binaries === undefined) throw new Error('there is no PostgreSQL');
  const owner = unprivileged();
  const folder = mkdtempSync(join(parent, 'tollgate-postgres-'));
  if (owner !== undefined) chownSync(folder, owner.uid, owner.gid);
  const data = join(folder, 'data');
  const place = { cwd: folder, stdio: 'ignore' as const, ...owner };
  const made = [
    '-D',
    data,
    '-U',
    'postgres',
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--locale=C',
    '--no-sync',
    '--wal-segsize=1',
  ];
  if (spawnSync(join(binaries, 'initdb'), made, place).status !== 0)
    throw new Error('initdb failed');
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const options = [...settings, ...small].flatMap((setting) => ['-c', setting]);
  let server: ChildProcess | undefined;
  const running = (): boolean =>
    server !== undefined && server.exitCode === null && server.signalCode === null;
  const signalAll = (signal: NodeJS.Signals): void => {
    const pid = running() ? server?.pid : undefined;
    if (pid !== undefined) for (const each of [pid, ...childrenOf(pid)]) send(each, signal);
  };
  const kill = async (): Promise<void> => {
    if (!running()) return;
    const gone = new Promise((resolve) => server?.once('exit', resolve));
    signalAll('SIGKILL');
    await gone;
  };
  const start = async (): Promise<void> => {
    if (!running())
      server = spawn(
        join(binaries, 'postgres'),
        ['-D', data, '-k', folder, '-p', String(port), ...options],
        place,
      );
    await answering(url);
  };
  const atExit = (): void => signalAll('SIGKILL');
  process.once('exit', atExit);
  onTestFinished(async () => {
    process.off('exit', atExit);
    await kill();
    rmSync(folder, { recursive: true, force: true });
  });
  await start();
  return {
    url,
    kill,
    start,
    pause: () => signalAll('SIGSTOP'),
    resume: () => signalAll('SIGCONT'),
  };
}

/** Each of a server's processes leads its own process group, so they must be listed one by one. */
function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended meanwhile.
  }
}
