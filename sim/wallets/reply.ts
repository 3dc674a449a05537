import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendPage } from '../send.ts';
import type { WalletTrouble } from './trade.ts';

export interface WalletCall {
  readonly method: string;
  /** Without the simulator's prefix, with its query. */
  readonly path: string;
  /** As the client sent it, because the client signed it. */
  readonly target: string;
  readonly host: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface WalletReply {
  readonly status: number;
  readonly type: string;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Plays a fault instead of the wallet's response. True when nothing more is to be sent. */
export function spoil(response: ServerResponse, trouble: WalletTrouble | undefined): boolean {
  if (trouble?.kind === 'down') return drop(response);
  if (trouble?.kind === 'hang') return true;
  if (trouble?.kind === 'html') {
    sendPage(response, 200);
    return true;
  }
  return false;
}

export function send(
  response: ServerResponse,
  { status, type, body, headers = {} }: WalletReply,
  trouble: WalletTrouble | undefined,
): void {
  if (trouble?.kind === 'lost') return void drop(response);
  response
    .writeHead(status, {
      ...(body.length === 0 ? {} : { 'content-type': type }),
      'content-length': Buffer.byteLength(body),
      ...headers,
    })
    .end(body);
}

function drop(response: ServerResponse): true {
  response.socket?.resetAndDestroy();
  return true;
}
