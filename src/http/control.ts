import { request } from 'undici';

/** A reply to a call of our own: a token, an order, a status. */
export interface ControlReply {
  readonly status: number;
  readonly text: string;
}

const timeoutMs = 10_000;
const replyBytesMax = 256 * 1024;

/** One small POST that is not on the hot path. Rejects when there is no whole reply within ten seconds, or one that is larger than such replies are. */
export async function postControl(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<ControlReply> {
  const { statusCode, body: reply } = await request(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(timeoutMs) });
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of reply) {
    if (!Buffer.isBuffer(piece)) continue;
    bytes += piece.length;
    if (bytes > replyBytesMax) throw new Error(`a reply of more than ${replyBytesMax} bytes`);
    pieces.push(piece);
  }
  return { status: statusCode, text: Buffer.concat(pieces).toString('utf8') };
}
