import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import type { Placeholders } from './placeholders.ts';
import type { Sent } from './vendor.ts';

/** Records for comparison: the text of each case, readable for people. */
export type Records = Map<string, string>;

export interface Asked {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; a Buffer or text as it is. */
  readonly body?: unknown;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The connection broke before the end. */
  readonly broken: boolean;
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** One request, one at a time, over one connection. */
export function ask(
  url: string,
  { method = 'POST', path, headers = {}, body }: Asked,
): Promise<Answer> {
  const bytes =
    body === undefined
      ? undefined
      : Buffer.isBuffer(body)
        ? body
        : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const type =
    bytes === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(bytes.length) };
  return new Promise((resolve, reject) => {
    const asking = request(
      url + path,
      { method, agent, headers: { ...type, ...headers } },
      (response) => {
        const parts: Buffer[] = [];
        const end = (broken: boolean) => () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(parts),
            broken,
          });
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('end', end(false));
        response.on('error', end(true));
      },
    );
    asking.on('error', reject);
    asking.end(bytes);
  });
}

const hopOnly = new Set(['date', 'connection', 'keep-alive', 'host', 'user-agent']);

/** The vendor's request, and the client's response. */
export function exchangeText(
  names: Placeholders,
  sent: readonly Sent[],
  { status, headers, body, broken }: Answer,
): string {
  const asked = sent.map(
    (one) =>
      `vendor < ${one.method} ${one.path}\n${names.headers(one.headers, hopOnly)}\n${names.bytes(one.body)}\n`,
  );
  return `${asked.join('')}client > ${status}${broken ? ' broken' : ''}\n${names.headers(headers, hopOnly)}\n${names.bytes(body)}\n`;
}
