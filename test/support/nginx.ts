import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from './file-store.ts';
import { freePort } from './free-port.ts';

const startMsMax = 5_000;

export function findNginx(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const folders = [...(env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, 'nginx')).find((path) => existsSync(path));
}

export interface Nginx {
  readonly url: string;
  /** Loads another configuration; running requests continue under the old one. */
  reload(site: string): Promise<void>;
}

/**
 * A real nginx with the `upstream` and `server` of a documentation page, on a free port. Stopped
 * with the test.
 */
export async function startNginx(site: string): Promise<Nginx> {
  const program = findNginx();
  if (program === undefined) throw new Error('there is no nginx');
  const folder = await temporaryFolder();
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  const write = (text: string): void =>
    writeFileSync(
      file,
      configuration(folder, text.replace(/listen 80;/, `listen 127.0.0.1:${port};`)),
    );
  for (const name of temporary) mkdirSync(join(folder, name));
  write(site);
  const child = spawn(program, ['-p', folder, '-c', file, '-e', join(folder, 'error.log')], {
    stdio: 'ignore',
  });
  onTestFinished(() => ended(child));
  const url = `http://127.0.0.1:${port}`;
  for (
    let waitedMs = 0;
    (await fetch(`${url}/readyz`).catch(() => undefined)) === undefined;
    waitedMs += 20
  ) {
    if (waitedMs > startMsMax || child.exitCode !== null) throw new Error('nginx does not answer');
    await wait(20);
  }
  return {
    url,
    async reload(text) {
      write(text);
      child.kill('SIGHUP');
      // New workers take over within moments; nginx does not report when.
      await wait(200);
    },
  };
}

const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

const configuration = (folder: string, site: string): string => `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
worker_processes 1;
pid ${join(folder, 'nginx.pid')};
events { worker_connections 1024; }
http {
  access_log off;
  # A reload closes the connections that clients keep, in the middle of the next request if need be; that is between them and nginx.
  keepalive_timeout 0;
  ${temporary.map((name) => `${name}_temp_path ${join(folder, name)};`).join('\n  ')}
${site}
}
`;

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await gone;
}
