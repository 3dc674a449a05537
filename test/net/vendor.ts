import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { Recording } from './recordings.ts';

/** What the gateway sent to the vendor. */
export interface Sent {
  /** The name of the case. */
  readonly name: string;
  readonly method: string;
  /** The path after the channel's prefix. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The scripted vendor: a request below `/case/NAME` gets the response of this case. */
export interface Vendor {
  readonly url: string;
  /** Plays only these cases from now on, by name. */
  play(cases: Readonly<Record<string, Recording | undefined>>): void;
  /** The requests since the last call, in order. */
  sent(): readonly Sent[];
  close(): void;
}

/** The endpoint of a vendor's address, by the names of the recordings. */
const addresses: readonly (readonly [endpoint: string, pattern: RegExp])[] = [
  ['gemini', /:(stream)?generateContent/i],
  ['count_tokens', /count_?-?tokens|input_tokens/i],
  ['embedding', /embed|:predict$/i],
  ['converse', /\/converse(-stream)?$/],
  ['messages', /\/messages$|rawPredict$/i],
  ['chat', /\/chat\/completions$/],
  ['completion', /\/completions$/],
  ['nativechat', /\/v2\/chat$/],
  ['responses', /\/responses$/],
  ['moderation', /\/moderations$/],
  ['rerank', /rerank/],
  ['image', /\/images\//],
  ['tts', /\/speech$|\/speak|\/text-to-speech|\/tts$/],
  ['audio', /\/transcriptions$|\/translations$|\/listen|\/stt$/],
];
const endpointAt = (path: string): string | undefined =>
  addresses.find(([, pattern]) => pattern.test(path.split('?')[0] ?? ''))?.[0];

const kept =
  /^(content-type|x-request-id|request-id|retry-after.*|x-should-retry|x-amzn-.*|x-ratelimit-.*|anthropic-ratelimit-.*)$/;

/**
 * `all`: the source of responses where the gateway calls another endpoint than the recorded one:
 * the first successful whole response, or stream, of that endpoint.
 */
export async function openVendor(all: readonly Recording[]): Promise<Vendor> {
  const playing = new Map<string, Recording>();
  const sent: Sent[] = [];
  const usable = ({ endpoint, status, headers, answer }: Recording): boolean => {
    if (status !== 200 || answer.length === 0) return false;
    if (endpoint === 'tts') return headers['content-type']?.startsWith('audio/') === true;
    return endpoint !== 'image' || answer.includes('"b64_json"');
  };
  const usual = (endpoint: string, streamed: boolean): Recording | undefined => {
    const found = all.filter((one) => one.endpoint === endpoint && usable(one));
    return found.find((one) => one.streamed === streamed) ?? found[0];
  };

  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const [, name = '', path = request.url ?? ''] =
        /^\/case\/([^/]+)(.*)$/.exec(request.url ?? '') ?? [];
      const body = Buffer.concat(parts);
      sent.push({
        name: decodeURIComponent(name),
        method: request.method ?? '',
        path,
        headers: request.headers,
        body,
      });
      const endpoint = endpointAt(path);
      const recorded = playing.get(decodeURIComponent(name));
      const streamed = /stream/i.test(path) || /"stream": ?true/.test(body.toString('latin1'));
      const answer =
        endpoint === undefined || recorded?.endpoint === endpoint
          ? recorded
          : usual(endpoint, streamed);
      if (answer === undefined) {
        // An error of the client: the gateway does not park a channel for it.
        response.writeHead(400, { 'content-type': 'application/json' });
        response.end(
          '{"error":{"message":"nothing is played here","type":"invalid_request_error"}}',
        );
        return;
      }
      const headers = Object.fromEntries(
        Object.entries(answer.headers).filter(([header]) => kept.test(header)),
      );
      response
        .writeHead(answer.status, { 'content-type': 'application/json', ...headers })
        .end(answer.answer);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    play(cases) {
      playing.clear();
      for (const [name, recording] of Object.entries(cases))
        if (recording !== undefined) playing.set(name, recording);
    },
    sent: () => sent.splice(0),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
