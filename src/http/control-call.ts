import type { IncomingHttpHeaders } from 'node:http';

/** One of Tollgate's own small calls, for a token, an order or a status. */
interface ControlCall {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** A larger reply is an error. Default: 256 KiB. */
  readonly bytesMax?: number;
  /** Aborts the call, as its own time limit does. */
  readonly signal?: AbortSignal;
  /** The time in which the whole reply has to arrive. Default: ten seconds. */
  readonly timeoutMs?: number;
}

/** A reply with what some callers have to verify: the bytes as they came, and the headers. */
interface ControlResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** The name by which Tollgate calls others. */
export const userAgent = 'tollgate';

const usualTimeoutMs = 10_000;
const replyBytesMax = 256 * 1024;

/**
 * Makes the call. Rejects when no whole reply arrives within its time limit, or when it is larger
 * than `bytesMax`. Redirects are not followed.
 */
export async function callControl(url: string, call: ControlCall): Promise<ControlResponse> {
  const { method, headers, body, bytesMax = replyBytesMax, signal } = call;
  // Not AbortSignal.any with AbortSignal.timeout: Node 20 may collect both while a call depends on
  // them, and the call then never ends.
  const over = new AbortController();
  const abort = (): void => over.abort(signal?.reason);
  const timer = setTimeout(
    () => over.abort(new DOMException('no whole reply in time', 'TimeoutError')),
    call.timeoutMs ?? usualTimeoutMs,
  );
  if (signal?.aborted === true) abort();
  signal?.addEventListener('abort', abort);
  try {
    const { request } = await import('./outgoing.ts');
    const reply = await request(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      signal: over.signal,
    });
    const bytes = await wholeBody(reply.body, bytesMax);
    return { status: reply.statusCode, headers: reply.headers, bytes };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

async function wholeBody(body: AsyncIterable<unknown>, bytesMax: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    if (!Buffer.isBuffer(piece)) continue;
    bytes += piece.length;
    if (bytes > bytesMax) throw new Error(`a reply of more than ${bytesMax} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** One small POST that is not on the hot path. Rejects as `callControl` does. */
export async function postControl(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const { status, bytes } = await callControl(url, { method: 'POST', headers, body });
  return { status, text: bytes.toString('utf8') };
}
