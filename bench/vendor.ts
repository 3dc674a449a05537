import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../test/support/free-port.ts';
import { type Core, find, listening, run, type Started, start } from './process.ts';

/**
 * At once: `whole`, an answer of about 1 KB; `short`, one of 180 characters; `burst`, a stream of
 * `burstChunks` chunks. Later: `soon`, 180 characters after 60 ms; `later`, after 100 ms; `large`,
 * 10 KB after 60 ms; `late`, 10 KB after 1.5 s. Streams with a pace: `paced`, one chunk each 10 ms,
 * for a second; `messages`, the same in Anthropic's format; `spaced`, for a third of a second;
 * `open`, one chunk each second, for ten.
 */
const kinds = [
  'whole',
  'short',
  'burst',
  'soon',
  'later',
  'large',
  'late',
  'paced',
  'messages',
  'spaced',
  'open',
] as const;
export type Kind = (typeof kinds)[number];

const streams: readonly Kind[] = ['burst', 'paced', 'messages', 'spaced', 'open'];
export const isStream = (kind: Kind): boolean => streams.includes(kind);

/**
 * Vendors that are never the bottleneck: nginx for immediate responses, a small Go program for
 * paced ones.
 */
export interface Vendors {
  /** Base URL of the vendor of each kind. Without Go there are no delayed kinds. */
  readonly base: Readonly<Partial<Record<Kind, string>>>;
  /** The address of nginx, which also serves the files of the bench's folder. */
  readonly origin: string;
  /** Command of the Go program, for its client side. */
  readonly pace: string | undefined;
  readonly pids: readonly number[];
  /** Chunks that the paced vendors have sent so far. */
  chunksSent(): Promise<number>;
  stop(): Promise<void>;
}

/** The available kinds. */
export function kindsOf(vendors: Vendors): [Kind, string][] {
  return kinds.flatMap((kind) => {
    const base = vendors.base[kind];
    return base === undefined ? [] : [[kind, base] satisfies [Kind, string]];
  });
}

export const burstChunks = 100;
const pacedChunks = 100;

const answerOf = (content: string): string =>
  JSON.stringify({
    id: 'chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT',
    object: 'chat.completion',
    created: 1741569952,
    model: 'instant',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content, refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: {
      prompt_tokens: 300,
      completion_tokens: 90,
      total_tokens: 390,
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
      completion_tokens_details: {
        reasoning_tokens: 0,
        audio_tokens: 0,
        accepted_prediction_tokens: 0,
        rejected_prediction_tokens: 0,
      },
    },
    service_tier: 'default',
    system_fingerprint: 'fp_fc9f1d7035',
  });
const sentence = 'The toll is paid, the gate is open. ';
export const wholeAnswer = answerOf(sentence.repeat(10).trim());
const shortAnswer = answerOf(sentence.repeat(5).trim());

export async function startVendors(folder: string, nginx: string): Promise<Vendors> {
  const port = await freePort();
  writeFileSync(join(folder, 'burst.sse'), burst());
  const server = startNginx(folder, 'vendor', 'around', nginx, vendorServer(folder, port));
  await listening(port, server);
  const pace = buildPace(folder);
  const paced = pace === undefined ? undefined : await startPace(pace, pacedChunks, '10ms');
  const messages =
    pace === undefined ? undefined : await startPace(pace, pacedChunks, '10ms', 'messages');
  return {
    base: {
      whole: `http://127.0.0.1:${port}/v1`,
      short: `http://127.0.0.1:${port}/short/v1`,
      burst: `http://127.0.0.1:${port}/burst/v1`,
      ...(paced && messages
        ? { ...pacedBases(paced.origin), messages: `${messages.origin}/v1` }
        : {}),
    },
    origin: `http://127.0.0.1:${port}`,
    pace,
    pids: [server, paced?.server, messages?.server].flatMap((started) => started?.pid ?? []),
    chunksSent: async () =>
      paced && messages ? (await chunksSent(paced)) + (await chunksSent(messages)) : 0,
    stop: async () => {
      for (const vendor of [server, paced?.server, messages?.server]) await vendor?.stop();
    },
  };
}

/** One program for all delays: the path gives the delay, and the number of characters or chunks. */
const pacedBases = (origin: string) => ({
  soon: `${origin}/60ms/180/v1`,
  later: `${origin}/100ms/180/v1`,
  large: `${origin}/60ms/10240/v1`,
  late: `${origin}/1500ms/10240/v1`,
  paced: `${origin}/v1`,
  spaced: `${origin}/0s/33x10ms/v1`,
  open: `${origin}/0s/10x1s/v1`,
});

function burst(): string {
  const head = {
    id: 'chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG',
    object: 'chat.completion.chunk',
    created: 1741570283,
    model: 'instant',
  };
  const tail = { service_tier: 'default', system_fingerprint: 'fp_fc9f1d7035' };
  const event = (choices: unknown, rest: object = {}) =>
    `data: ${JSON.stringify({ ...head, ...tail, choices, ...rest })}\n\n`;
  const text = event([
    { index: 0, delta: { content: ' gate' }, logprobs: null, finish_reason: null },
  ]);
  const stop = event([{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }]);
  const usage = event([], {
    usage: { prompt_tokens: 300, completion_tokens: burstChunks, total_tokens: 300 + burstChunks },
  });
  return `${text.repeat(burstChunks)}${stop}${usage}data: [DONE]\n\n`;
}

/** nginx does not allow POST on a file, so the error page of that is the file itself. */
function vendorServer(folder: string, port: number): string {
  return `
  server {
    listen 127.0.0.1:${port} backlog=4096;
    root ${folder};
    location = /v1/chat/completions { default_type application/json; return 200 '${wholeAnswer}'; }
    location = /short/v1/chat/completions { default_type application/json; return 200 '${shortAnswer}'; }
    location = /burst/v1/chat/completions { error_page 405 =200 /burst.sse; try_files /burst.sse =500; }
    location = /burst.sse { types { text/event-stream sse; } }
  }`;
}

/** One nginx process with one worker; `servers` are its server and upstream blocks. */
export function startNginx(
  folder: string,
  name: string,
  core: Core,
  nginx: string,
  servers: string,
  connections = 8192,
): Started {
  const prefix = join(folder, name);
  mkdirSync(prefix, { recursive: true });
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${prefix}/${kind};`)
    .join(' ');
  const file = join(prefix, 'nginx.conf');
  const settings = `daemon off; master_process off; worker_processes 1; pid ${prefix}/pid; error_log stderr warn; worker_rlimit_nofile 16384;
events { worker_connections ${connections}; }
http {
  access_log off; ${temporary} keepalive_timeout 600s; keepalive_requests 1000000000; client_body_buffer_size 64k; tcp_nodelay on;
${servers}
}
`;
  writeFileSync(file, settings);
  return start(core, nginx, ['-e', 'stderr', '-p', prefix, '-c', file]);
}

export function buildPace(folder: string): string | undefined {
  const go = find('go');
  if (go === undefined) return undefined;
  const command = join(folder, 'pace');
  run(go, ['build', '-o', command, '.'], {}, join(import.meta.dirname, 'pace'));
  return command;
}

/** Chunks that it has sent so far. */
export async function chunksSent({ origin }: PacedVendor): Promise<number> {
  return Number(await (await fetch(`${origin}/sent`)).text());
}

export interface PacedVendor {
  readonly origin: string;
  readonly server: Started;
}

export async function startPace(
  command: string,
  chunks: number,
  every: string,
  format: 'chat' | 'messages' = 'chat',
): Promise<PacedVendor> {
  const port = await freePort();
  const server = start('around', command, [
    'serve',
    '-port',
    String(port),
    '-chunks',
    String(chunks),
    '-every',
    every,
    '-format',
    format,
  ]);
  await listening(port, server);
  return { origin: `http://127.0.0.1:${port}`, server };
}
