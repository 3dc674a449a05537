import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from './free-port.ts';

const names = ['valkey-server', 'redis-server'];
const startMsMax = 10_000;

/** A real, empty server for a test. */
export interface RedisServer {
  readonly url: string;
  /** Kills it at once, with its data. */
  kill(): Promise<void>;
  /** Starts it again at the same address, empty. */
  start(): Promise<void>;
  /** From now on it accepts connections and bytes, but does not answer. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

/** The server's program, Valkey's or Redis's; undefined where neither is installed. */
export function findRedis(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const folders = [...(env['PATH'] ?? '').split(delimiter), '/usr/bin', '/usr/local/bin'];
  return names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => existsSync(path));
}

export async function startRedis(): Promise<RedisServer> {
  const program = findRedis();
  if (program === undefined) throw new Error('there is no redis-server');
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-redis-'));
  const port = await freePort();
  let child: ChildProcess | undefined;
  const kill = async (): Promise<void> => {
    const ending = child;
    child = undefined;
    if (ending === undefined) return;
    const gone = new Promise((resolve) => ending.once('exit', resolve));
    ending.kill('SIGKILL');
    await gone;
  };
  const atExit = (): void => {
    child?.kill('SIGKILL');
  };
  const start = async (): Promise<void> => {
    child = spawn(
      program,
      [
        '--port',
        String(port),
        '--bind',
        '127.0.0.1',
        '--save',
        '',
        '--appendonly',
        'no',
        '--dir',
        folder,
      ],
      {
        stdio: 'ignore',
      },
    );
    await answering(port);
  };
  process.once('exit', atExit);
  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    kill,
    start,
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    async stop() {
      process.off('exit', atExit);
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function answering(port: number): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += 10) {
    const there = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
      socket.once('data', () => resolve(socket.destroy() !== undefined));
      socket.once('error', () => resolve(false));
    });
    if (there) return;
    if (waitedMs > startMsMax) throw new Error('redis-server does not answer');
    await wait(10);
  }
}
