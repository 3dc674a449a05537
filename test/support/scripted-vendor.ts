import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A vendor with responses from the test, on a real socket. */
export interface ScriptedVendor {
  readonly url: string;
  readonly received: readonly Received[];
  /** Sets the response to the next requests. */
  answer(how: (request: Received, response: ServerResponse) => unknown): void;
}

export const usage = { prompt_tokens: 19, completion_tokens: 10, total_tokens: 29 };

/** A whole chat completion in OpenAI's format. */
export function completion(content = 'Hello!', extra: object = {}): string {
  return JSON.stringify({
    id: 'chatcmpl-up',
    object: 'chat.completion',
    created: 1_741_569_952,
    model: 'up',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content, refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage,
    ...extra,
  });
}

/** One event of a streamed chat completion. */
export function chunk(
  delta: object,
  finishReason: string | null = null,
  extra: object = {},
): string {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  return `data: ${JSON.stringify({ id: 'chatcmpl-up', object: 'chat.completion.chunk', created: 1_741_569_952, model: 'up', choices, ...extra })}\n\n`;
}

export const usageChunk = `data: ${JSON.stringify({ id: 'chatcmpl-up', object: 'chat.completion.chunk', created: 1_741_569_952, model: 'up', choices: [], usage })}\n\n`;

/** The events of a whole stream with these words. */
export function streamOf(words: readonly string[]): string {
  return `${chunk({ role: 'assistant', content: '' })}${words.map((word) => chunk({ content: word })).join('')}${chunk({}, 'stop')}${usageChunk}data: [DONE]\n\n`;
}

export function json(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(body);
}

export function sse(response: ServerResponse): ServerResponse {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  return response;
}

/**
 * Starts a vendor that by default streams or answers whole, as the request wants. Stops with the
 * test.
 */
export async function startVendor(): Promise<ScriptedVendor> {
  const received: Received[] = [];
  let how: Parameters<ScriptedVendor['answer']>[0] = (request, response) => {
    if (/"stream":\s*true/.test(request.text)) sse(response).end(streamOf(['Hel', 'lo', '!']));
    else json(response, 200, completion());
  };
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    response.on('error', () => {});
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const one = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        text: Buffer.concat(pieces).toString('utf8'),
      };
      received.push(one);
      void how(one, response);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    answer(next) {
      how = next;
    },
  };
}
