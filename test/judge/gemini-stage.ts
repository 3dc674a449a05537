import { Agent, type IncomingMessage, request as ask } from 'node:http';
import type { ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { type Running, startRunning } from '../support/running.ts';
import { type Received, startVendor } from '../support/scripted-vendor.ts';

// Where the judge stands: on both sides of a real gateway, as its client and as its vendor.

/** What a client was answered. */
export interface Answered {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  /** The connection broke before the answer's end. */
  readonly broken: boolean;
  /** The gateway's id of the request. */
  readonly id: string;
}

/** What a vendor answers: its pieces are written one after the other. */
export interface Reply {
  readonly status: number;
  readonly type: string;
  readonly pieces: Iterable<Buffer>;
  /** How the connection ends after the last piece: in order, or by a reset. */
  readonly end: 'end' | 'reset';
}

export interface Exchange {
  readonly answered: Answered;
  /** The requests that reached the vendor. */
  readonly sent: readonly Received[];
}

export interface Stage {
  readonly running: Running;
  exchange(path: string, body: Buffer, reply: (received: Received) => Reply): Promise<Exchange>;
}

/** A key of the vendor, which no client may see. */
export const vendorKey = 'ya29.the-key-of-the-channel';

/** A gateway whose every channel leads to the judge's vendor. */
export async function openStage(configuration: (vendorUrl: string) => string): Promise<Stage> {
  const vendor = await startVendor();
  const running = await startRunning({
    databaseUrl: 'sqlite::memory:',
    configuration: configuration(vendor.url),
    yuan: '10000000',
  });
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  return {
    running,
    async exchange(path, body, reply) {
      vendor.answer((received, response) => void play(reply(received), response));
      const before = vendor.received.length;
      const answered = await asked(agent, running, path, body);
      return { answered, sent: vendor.received.slice(before) };
    },
  };
}

/** Writes the pieces, each by itself: the gateway reads between two of them. */
async function play({ status, type, pieces, end }: Reply, response: ServerResponse): Promise<void> {
  response.writeHead(status, { 'content-type': type });
  response.socket?.setNoDelay(true);
  for (const piece of pieces) {
    if (response.destroyed) return;
    response.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (end === 'end') response.end();
  else response.destroy();
}

function asked(agent: Agent, { url, key }: Running, path: string, body: Buffer): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-goog-api-key': key, 'content-type': 'application/json' };
    const sent = ask(`${url}${path}`, { method: 'POST', agent, headers }, (response) =>
      resolve(wholeOf(response)),
    );
    sent.once('error', reject);
    sent.end(body);
  });
}

async function wholeOf(response: IncomingMessage): Promise<Answered> {
  const pieces: Buffer[] = [];
  let broken = false;
  try {
    for await (const piece of response) pieces.push(Buffer.from(piece));
  } catch {
    broken = true;
  }
  return {
    status: response.statusCode ?? 0,
    type: response.headers['content-type'] ?? '',
    body: Buffer.concat(pieces).toString('utf8'),
    broken,
    id: String(response.headers['x-request-id']),
  };
}
