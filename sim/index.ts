import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { upstreamModels } from './catalog.ts';
import { chat, refuse } from './chat.ts';
import { completions } from './completions.ts';
import type { Dialect } from './dialect.ts';
import { answerOwn, blankProblem } from './own-format.ts';
import { bodyBytesKept, RequestLog, type SimRequest } from './request-log.ts';
import { responses } from './responses.ts';
import { besideResponses } from './responses-more.ts';
import { Once } from './scenario.ts';
import { sendJson } from './send.ts';
import { images } from './images/index.ts';
import { sendImage } from './media/address.ts';
import { SimSignin } from './signin/index.ts';
import { soundAlone } from './sound/catalog.ts';
import { sound } from './sound/index.ts';
import { imagesAlone } from './own-images/catalog.ts';
import { imageHandlerAt, handleImages } from './own-images/index.ts';
import { vectors } from './vectors/index.ts';
import { handlerAt, videos } from './video/index.ts';
import { videosAlone } from './video/vendors.ts';
import { ownFormatAt, ownFormats, route, vendors } from './vendors.ts';
import { SimWallets } from './wallets/index.ts';

export type { SimRequest } from './request-log.ts';

const bodyBytesMax = 64 * 1024 * 1024;
/** Longer than any client's, so that the client closes idle connections first. */
const keepAliveTimeoutMs = 120_000;
const none = Buffer.alloc(0);

export interface Sim {
  /** `http://127.0.0.1:PORT`; a vendor's base URL is this and its prefix. */
  readonly url: string;
  /** The last requests, oldest first (`requestsKept` of them). */
  readonly requests: readonly SimRequest[];
  /** WeChat Pay, Alipay, and the simulated payer. */
  readonly wallets: SimWallets;
  clear(): void;
  /** Ends all connections, hanging ones too. */
  close(): Promise<void>;
}

/** Starts the simulated vendors. `port` 0 takes a free one. */
export async function startSim({
  port = 0,
  host = '127.0.0.1',
}: {
  readonly port?: number;
  readonly host?: string;
} = {}): Promise<Sim> {
  const log = new RequestLog();
  const once = new Once();
  const signin = new SimSignin(() => Date.now());
  const wallets = new SimWallets(() => url);
  const server = createServer(
    { keepAliveTimeout: keepAliveTimeoutMs, requestTimeout: 0 },
    (incoming, response) => {
      answer(incoming, response, log, once, signin, wallets).catch((error: unknown) =>
        reportBug(error, response),
      );
    },
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${bound}`;
  return {
    url,
    wallets,
    get requests() {
      return log.last;
    },
    clear: () => log.clear(),
    close: () =>
      new Promise((resolve) => {
        wallets.close();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * A client that closes the connection in the middle of a response is expected; every other error is
 * a bug of the simulator, and is logged.
 */
function reportBug(error: unknown, response: ServerResponse): void {
  if (response.destroyed) return;
  if (response.headersSent) response.destroy();
  else
    sendJson(
      response,
      500,
      JSON.stringify({ bug_in_simulator: error instanceof Error ? error.stack : String(error) }),
    );
}

async function answer(
  incoming: IncomingMessage,
  response: ServerResponse,
  log: RequestLog,
  once: Once,
  signin: SimSignin,
  wallets: SimWallets,
): Promise<void> {
  const body = await read(incoming);
  const url = incoming.url ?? '/';
  if (await wallets.answer(incoming, response, body)) return;
  if (sendImage(response, url)) return;
  const own = ownFormatAt(url);
  const to = route(url);
  note(
    incoming,
    response,
    body,
    own?.vendor ??
      to?.dialect.vendor ??
      imageHandlerAt(url)?.vendor ??
      handlerAt(url)?.vendor ??
      '',
    log,
  );
  if (signin.answer(incoming, response, body)) return;
  if (await handleImages(incoming, response, body, once)) return;
  if (await videos(incoming, response, body, once)) return;
  if (await sound(incoming, response, body, once)) return;
  if (own !== undefined) return answerOwn(incoming, response, body, own, once);
  if (to === undefined) return index(response, url);
  if (incoming.method === 'POST' && to.path === '/chat/completions')
    return chat(incoming, response, body, to, once);
  if (
    incoming.method === 'POST' &&
    to.path.endsWith('/completions') &&
    (await completions(incoming, response, body, to, once))
  )
    return;
  if (incoming.method === 'POST' && (await images(incoming, response, body, to, once))) return;
  if (incoming.method === 'POST' && (await vectors(incoming, response, body, to, once))) return;
  if (incoming.method === 'POST' && to.path === '/responses' && to.dialect.responses !== undefined)
    return responses(incoming, response, body, to, once);
  if (
    incoming.method === 'POST' &&
    /^\/responses\/(?:input_tokens|compact)$/.test(to.path) &&
    to.dialect.responses === 'all'
  )
    return besideResponses(incoming, response, body, to);
  if (incoming.method === 'GET' && to.path === '/models') return listModels(response, to.dialect);
  refuse(response, to.dialect, { ...blankProblem(url), kind: 'unknown_url' });
}

function listModels(response: ServerResponse, { vendor }: Dialect): void {
  const data = ['sim-chat', ...upstreamModels(vendor)].map((id) => ({
    id,
    object: 'model',
    created: 0,
    owned_by: vendor,
  }));
  sendJson(response, 200, JSON.stringify({ object: 'list', data }));
}

/** The list of vendors, at the root. */
function index(response: ServerResponse, url: string): void {
  const bases = Object.fromEntries(
    [...vendors, ...ownFormats, ...videosAlone, ...soundAlone, ...imagesAlone].map(
      ({ vendor, prefix }) => [vendor, prefix],
    ),
  );
  sendJson(response, url === '/' ? 200 : 404, JSON.stringify({ vendors: bases }));
}

function note(
  { method = '', url = '', headers }: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  vendor: string,
  log: RequestLog,
): void {
  const kept = body.length <= bodyBytesKept ? body : none;
  const entry: SimRequest = {
    vendor,
    method,
    path: url,
    headers,
    body: kept,
    status: 0,
    left: false,
  };
  log.add(entry);
  response.once('finish', () => {
    entry.status = response.statusCode;
  });
  response.once('close', () => {
    entry.status = response.headersSent ? response.statusCode : 0;
    entry.left = !response.writableFinished;
  });
}

function read(incoming: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    incoming.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes > bodyBytesMax)
        incoming.destroy(new Error('the body is too large for the simulator'));
      else parts.push(part);
    });
    incoming.once('end', () =>
      resolve(parts.length === 1 ? (parts[0] ?? none) : Buffer.concat(parts)),
    );
    incoming.once('error', reject);
  });
}
