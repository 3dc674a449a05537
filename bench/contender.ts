import { freePort } from '../test/support/free-port.ts';
import { run, type Started } from './process.ts';
import { isStream, type Kind, kindsOf, startNginx, type Vendors } from './vendor.ts';

/** The request of one kind, as a contender needs it. */
export interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Contender {
  readonly name: string;
  readonly version: string;
  /**
   * `request` (a chat of 1.5 KB) needs no model. Undefined when there is no vendor of that kind, or
   * none that the contender can call.
   */
  target(kind: Kind, request?: object): Target | undefined;
  start(): Promise<Started>;
  /** Ends what it needs beside its own process. */
  readonly close?: () => Promise<void>;
}

export const words =
  'A gate that asks for its toll before it opens, and gives back what was too much. ';

/** A chat of about 1.5 KB. */
const usual = {
  messages: [
    { role: 'system', content: 'You are a helpful assistant. Answer in one sentence.' },
    { role: 'user', content: words.repeat(8).trim() },
    { role: 'assistant', content: words.repeat(4).trim() },
    { role: 'user', content: words.repeat(4).trim() },
  ],
  temperature: 0.7,
  max_tokens: 200,
};

export function body(model: string, stream: boolean, request: object = usual): string {
  return JSON.stringify({ model, ...request, ...(stream ? { stream: true } : {}) });
}

export const json = { 'content-type': 'application/json' };

/** The vendors themselves, without a gateway. */
export function direct(vendors: Vendors): Pick<Contender, 'name' | 'target'> {
  return {
    name: 'no gateway',
    target: (kind, request) => {
      const base = vendors.base[kind];
      return base === undefined
        ? undefined
        : {
            url: `${base}/chat/completions`,
            headers: json,
            body: body('instant', isStream(kind), request),
          };
    },
  };
}

/** The target of a proxy that forwards `/KIND/…` to the vendor of that kind. */
export const forwardedTarget =
  (port: number, vendors: Vendors): Contender['target'] =>
  (kind, request) =>
    kind in vendors.base
      ? {
          url: `http://127.0.0.1:${port}/${kind}/chat/completions`,
          headers: json,
          body: body('instant', isStream(kind), request),
        }
      : undefined;

export async function nginxProxy(
  folder: string,
  nginx: string,
  vendors: Vendors,
): Promise<Contender> {
  const port = await freePort();
  const blocks = kindsOf(vendors).map(([kind, base]) => proxyBlocks(kind, new URL(base)));
  const servers = `${blocks.map((block) => block.upstream).join('\n')}\n  server {\n    listen 127.0.0.1:${port} backlog=4096;\n${blocks.map((block) => block.location).join('\n')}\n  }`;
  return {
    name: 'nginx',
    version: versionOfNginx(nginx),
    target: forwardedTarget(port, vendors),
    start: async () => startNginx(folder, 'proxy', 'measured', nginx, servers),
  };
}

function proxyBlocks(kind: Kind, vendor: URL): { upstream: string; location: string } {
  return {
    upstream: `  upstream ${kind} { server ${vendor.host}; keepalive 512; keepalive_requests 1000000000; }`,
    location: `    location /${kind}/ { proxy_pass http://${kind}${vendor.pathname}/; proxy_http_version 1.1; proxy_set_header Connection ''; proxy_buffering ${isStream(kind) ? 'off' : 'on'}; }`,
  };
}

function versionOfNginx(nginx: string): string {
  return /nginx\/([\d.]+)/.exec(run('sh', ['-c', `${nginx} -v 2>&1`]))?.[1] ?? '';
}

/** The target of a kind; throws without one. */
export function targetOf(contender: Pick<Contender, 'name' | 'target'>, kind: Kind): Target {
  const target = contender.target(kind);
  if (target === undefined) throw new Error(`${contender.name} has no ${kind}`);
  return target;
}
