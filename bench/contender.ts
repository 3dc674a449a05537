import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, run, type Started, start } from './process.ts';
import { type Kind, startNginx, type Vendors } from './vendor.ts';

/** How one kind of request is sent to a contender. */
export interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Contender {
  readonly name: string;
  readonly version: string;
  /** Undefined when there is no vendor of that kind. */
  target(kind: Kind): Target | undefined;
  start(): Promise<Started>;
}

const words = 'A gate that asks for its toll before it opens, and gives back what was too much. ';

/** A chat request of about 1.5 KB. */
export function body(model: string, stream: boolean): string {
  const messages = [
    { role: 'system', content: 'You are a helpful assistant. Answer in one sentence.' },
    { role: 'user', content: words.repeat(8).trim() },
    { role: 'assistant', content: words.repeat(4).trim() },
    { role: 'user', content: words.repeat(4).trim() },
  ];
  return JSON.stringify({ model, messages, temperature: 0.7, max_tokens: 200, ...(stream ? { stream: true } : {}) });
}

const json = { 'content-type': 'application/json' };

/** The vendors themselves: what nothing in between would measure. */
export function direct(vendors: Vendors): Pick<Contender, 'name' | 'target'> {
  return {
    name: 'no gateway',
    target: (kind) => {
      const base = vendors.base[kind];
      return base === undefined ? undefined : { url: `${base}/chat/completions`, headers: json, body: body('instant', kind !== 'whole') };
    },
  };
}

export async function nginxProxy(folder: string, nginx: string, vendors: Vendors): Promise<Contender> {
  const port = await freePort();
  const blocks = Object.entries(vendors.base).map(([kind, base]) => proxyBlocks(kind, new URL(base)));
  const servers = `${blocks.map((block) => block.upstream).join('\n')}\n  server {\n    listen 127.0.0.1:${port} backlog=4096;\n${blocks.map((block) => block.location).join('\n')}\n  }`;
  return {
    name: 'nginx',
    version: versionOfNginx(nginx),
    target: (kind) =>
      kind in vendors.base
        ? { url: `http://127.0.0.1:${port}/${kind}/chat/completions`, headers: json, body: body('instant', kind !== 'whole') }
        : undefined,
    start: async () => startNginx(folder, 'proxy', 'measured', nginx, servers),
  };
}

function proxyBlocks(kind: string, vendor: URL): { upstream: string; location: string } {
  return {
    upstream: `  upstream ${kind} { server ${vendor.host}; keepalive 512; keepalive_requests 1000000000; }`,
    location: `    location /${kind}/ { proxy_pass http://${kind}${vendor.pathname}/; proxy_http_version 1.1; proxy_set_header Connection ''; proxy_buffering ${kind === 'whole' ? 'on' : 'off'}; }`,
  };
}

function versionOfNginx(nginx: string): string {
  return /nginx\/([\d.]+)/.exec(run('sh', ['-c', `${nginx} -v 2>&1`]))?.[1] ?? '';
}

const portkeyVersion = '1.15.2';

/** Installed once outside the project. Its server is pinned to the version that still works with it. */
export async function portkey(vendors: Vendors): Promise<Contender> {
  const folder = join(tmpdir(), `tollgate-bench-portkey-${portkeyVersion}`);
  const entry = join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js');
  if (!existsSync(entry)) installPortkey(folder);
  const port = await freePort();
  return {
    name: 'Portkey',
    version: portkeyVersion,
    target: (kind) => {
      const base = vendors.base[kind];
      if (base === undefined) return undefined;
      const headers = { ...json, authorization: 'Bearer bench', 'x-portkey-provider': 'openai', 'x-portkey-custom-host': base };
      return { url: `http://127.0.0.1:${port}/v1/chat/completions`, headers, body: body('instant', kind !== 'whole') };
    },
    start: async () =>
      start('measured', process.execPath, [entry, `--port=${port}`, '--headless'], { ...process.env, NODE_ENV: 'production' }),
  };
}

function installPortkey(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const about = {
    private: true,
    dependencies: { '@portkey-ai/gateway': portkeyVersion, '@hono/node-server': '1.13.5' },
    overrides: { '@hono/node-server': '1.13.5' },
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(about));
  run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], {}, folder);
}
