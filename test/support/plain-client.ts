import { type Agent, request } from 'node:http';

/** The result of one request. */
export interface Seen {
  readonly status: number;
  readonly id: string;
  readonly retryAfter: string | undefined;
  /** The last byte of a good response has arrived. */
  readonly whole: boolean;
  /** The end of a response that is no whole answer: its error, or where it broke off. */
  readonly rest: string | undefined;
  readonly durationMs: number;
}

/** So many characters of a response that is no whole answer tell why. */
const restCharsMax = 200;

/**
 * A chat request without any SDK, over an agent's connections; undefined when the connection broke
 * before there was a response.
 */
export function askPlainly(
  url: string,
  key: string,
  agent: Agent,
  stream: boolean,
  outputTokens: number,
): Promise<Seen | undefined> {
  const body = JSON.stringify({
    model: 'm1',
    messages: [{ role: 'user', content: 'Hello' }],
    max_tokens: outputTokens,
    stream,
  });
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  const sentMs = performance.now();
  return new Promise((resolve) => {
    const sent = request(
      `${url}/v1/chat/completions`,
      { method: 'POST', agent, headers },
      (response) => {
        const { statusCode: status = 0 } = response;
        let text = '';
        response.on('data', (piece: Buffer) => {
          text += piece.toString();
        });
        response.on('error', () => resolve(undefined));
        response.on('close', () => {
          const whole =
            status === 200 && response.complete && text.endsWith(stream ? 'data: [DONE]\n\n' : '}');
          resolve({
            status,
            id: String(response.headers['x-request-id']),
            retryAfter: response.headers['retry-after'],
            whole,
            rest: whole ? undefined : text.slice(-restCharsMax),
            durationMs: performance.now() - sentMs,
          });
        });
      },
    );
    sent.on('error', () => resolve(undefined));
    sent.end(body);
  });
}
