import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { Writer } from './play.ts';
import type { Trouble } from './scenario.ts';
import type { StreamEvent } from './write.ts';

/** The speed of a response, and its fault. */
export interface Pace {
  readonly pieceMs: number;
  readonly trouble: Trouble | undefined;
  /** The vendor's error in mid-stream, or in place of a whole answer. */
  readonly error: () => string | Buffer;
}

const jsonHead = { 'content-type': 'application/json' };

export function sendJson(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response
    .writeHead(status, { ...jsonHead, ...headers, 'content-length': Buffer.byteLength(body) })
    .end(body);
}

export function sendPage(response: ServerResponse, status: number): void {
  const page = `<html><head><title>${status}</title></head><body><center><h1>${status === 200 ? 'Welcome' : 'Bad Gateway'}</h1></center><hr>nginx</body></html>`;
  response
    .writeHead(status, {
      'content-type': 'text/html; charset=utf-8',
      'content-length': page.length,
    })
    .end(page);
}

/**
 * Sends the events one by one. The fault comes after its number of pieces, or before the finish
 * when there are fewer.
 */
export async function sendStream(
  response: ServerResponse,
  { streamType, headers, end, broken }: Writer,
  events: Iterable<StreamEvent>,
  pace: Pace,
): Promise<void> {
  response.writeHead(200, { 'content-type': streamType, 'cache-control': 'no-cache', ...headers });
  let { trouble } = pace;
  let pieces = 0;
  const signal = closed(response);
  for (const event of events) {
    if (trouble !== undefined && (event.ends || (event.piece && pieces >= trouble.after))) {
      if (await strike(response, event.text, trouble, pace, broken)) return;
      trouble = undefined;
    }
    if (!response.write(event.text)) await once(response, 'drain', { signal });
    if (event.piece) pieces++;
    if (pace.pieceMs > 0) await wait(pace.pieceMs, undefined, { signal });
  }
  response.end(end);
}

/** Plays the fault; returns true when it ended the response. */
async function strike(
  response: ServerResponse,
  text: string | Buffer,
  { kind, forMs }: Trouble,
  pace: Pace,
  broken: string | Buffer,
): Promise<boolean> {
  if (kind === 'silence') {
    await wait(forMs, undefined, { signal: closed(response) });
    return false;
  }
  if (kind === 'bad json') {
    response.write(broken);
    return false;
  }
  if (kind === 'hang') return true;
  if (kind === 'reset') response.write('', () => response.socket?.resetAndDestroy());
  else
    response.end(
      kind === 'half'
        ? Buffer.from(text).subarray(0, text.length / 2)
        : kind === 'error'
          ? pace.error()
          : '',
    );
  return true;
}

/** A whole response; every fault has its counterpart here. */
export async function sendWhole(
  response: ServerResponse,
  body: string,
  { trouble, error }: Pace,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  if (trouble === undefined) return sendJson(response, 200, body, headers);
  if (trouble.kind === 'error') return sendJson(response, 200, String(error()));
  if (trouble.kind === 'bad json')
    return sendJson(response, 200, '{"id":"chatcmpl-1","choices":[{"index":0,"message":}]');
  const half = body.slice(0, body.length / 2);
  if (trouble.kind === 'silence') {
    response.writeHead(200, jsonHead).flushHeaders();
    await wait(trouble.forMs, undefined, { signal: closed(response) });
    response.end(body);
  } else if (trouble.kind === 'cut' || trouble.kind === 'half') {
    response.writeHead(200, jsonHead).end(half);
  } else {
    response.writeHead(200, { ...jsonHead, 'content-length': Buffer.byteLength(body) });
    response.write(half, () => trouble.kind === 'reset' && response.socket?.resetAndDestroy());
  }
}

/** Aborts when the client closes the connection. */
export function closed(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  if (response.destroyed) controller.abort();
  else response.once('close', () => controller.abort());
  return controller.signal;
}
