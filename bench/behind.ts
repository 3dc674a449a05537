import { freePort } from '../test/support/free-port.ts';
import { find, listening } from './process.ts';
import { buildPace, chunksSent, startNginx, startPace } from './vendor.ts';
import { answers, type Workload } from './workloads.ts';

/** The vendor of one workload, and nginx as a proxy in front of it. */
export interface Behind {
  /** The vendor's base address. */
  readonly base: string;
  /** The vendor's endpoint through the proxy. */
  readonly proxied: string;
  readonly proxyPid: number;
  /** The Go program. */
  readonly pace: string;
  /** Chunks that the vendor has sent so far. */
  chunks(): Promise<number>;
  stop(): Promise<void>;
}

const pathOf = { chat: '/v1/chat/completions', messages: '/v1/messages' } as const;
/** Large bodies stay in memory, as in the gateway. */
const bodies = 'client_max_body_size 64m; client_body_buffer_size 16m;';

export async function startBehind(folder: string, { vendor, stream }: Workload): Promise<Behind> {
  const nginx = find('nginx');
  if (nginx === undefined)
    throw new Error(
      'nginx is the vendor and the measure: install it (Debian: apt-get install nginx-light wrk)',
    );
  const command = buildPace(folder);
  if (command === undefined) throw new Error('streams need Go');
  const path = pathOf[vendor];
  const paced = stream ? await startPace(command, 100, '10ms', vendor) : undefined;
  const whole = await freePort();
  const answer = `location = ${path} { default_type application/json; return 200 '${answers[vendor]}'; }`;
  const server = startNginx(
    folder,
    'vendor',
    'around',
    nginx,
    `server { listen 127.0.0.1:${whole} backlog=4096; ${bodies} ${answer} }`,
  );
  await listening(whole, server);
  const origin = paced?.origin ?? `http://127.0.0.1:${whole}`;
  const port = await freePort();
  const upstream = `upstream vendor { server ${new URL(origin).host}; keepalive 512; keepalive_requests 1000000000; }`;
  const pass = `proxy_pass http://vendor; proxy_http_version 1.1; proxy_set_header Connection ''; proxy_buffering ${stream ? 'off' : 'on'};`;
  const proxy = startNginx(
    folder,
    'proxy',
    'measured',
    nginx,
    `${upstream} server { listen 127.0.0.1:${port} backlog=4096; ${bodies} location / { ${pass} } }`,
  );
  await listening(port, proxy);
  return {
    base: `${origin}/v1`,
    proxied: `http://127.0.0.1:${port}${path}`,
    proxyPid: proxy.pid,
    pace: command,
    chunks: async () => (paced === undefined ? 0 : chunksSent(paced)),
    stop: async () => {
      for (const one of [proxy, server, paced?.server]) await one?.stop();
    },
  };
}
