import { createServer, type Socket } from 'node:net';

/** A vendor that sends each word of its streams on command. Whole responses come at once. */
export interface Prompter {
  readonly port: number;
  /** Streams that wait for their next chunk. */
  readonly open: () => number;
  /** Sends the same chunk to each open stream, or to the next `count` of them. */
  say(count?: number): void;
  /** Picks some of the open streams; the returned function sends a chunk to the next of these. */
  few(count: number): () => void;
  /** Ends each open stream, with its usage. */
  finish(): void;
  close(): void;
}

const wholeAnswer = JSON.stringify({
  id: 'chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT',
  object: 'chat.completion',
  created: 1741569952,
  model: 'instant',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: 'The toll is paid, the gate is open. '.repeat(10).trim(),
        refusal: null,
        annotations: [],
      },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: {
    prompt_tokens: 300,
    completion_tokens: 90,
    total_tokens: 390,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  },
  service_tier: 'default',
  system_fingerprint: 'fp_fc9f1d7035',
});
const wholeBytes = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(wholeAnswer)}\r\n\r\n${wholeAnswer}`;
const streamHead =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
/** The text of every chunk, and nothing else. */
export const word = ' gate';

const chunked = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const event = (choices: unknown, rest: object = {}): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG', object: 'chat.completion.chunk', created: 1741570283, model: 'instant', choices, ...rest })}\n\n`;
const said = chunked(
  event([{ index: 0, delta: { content: word }, logprobs: null, finish_reason: null }]),
);
const ending = [
  event([{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }]),
  event([], { usage: { prompt_tokens: 300, completion_tokens: 40, total_tokens: 340 } }),
  'data: [DONE]\n\n',
];
const end = `${chunked(ending.join(''))}0\r\n\r\n`;

export async function startPrompter(): Promise<Prompter> {
  const open = new Set<Socket>();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => [sockets, open].forEach((set) => set.delete(socket)));
    let heard = '';
    socket.on('data', (bytes) => {
      heard += bytes.toString('latin1');
      for (let length = requestLength(heard); length !== undefined; length = requestLength(heard)) {
        const streams = heard.slice(0, length).includes('"stream":true');
        heard = heard.slice(length);
        socket.write(streams ? streamHead : wholeBytes, 'latin1');
        if (streams) open.add(socket);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    open: () => open.size,
    say(count = open.size) {
      let left = count;
      for (const socket of open) {
        if (left-- <= 0) break;
        socket.write(said, 'latin1');
        // To the end of the row.
        open.delete(socket);
        open.add(socket);
      }
    },
    few(count) {
      const some = [...open].slice(0, count);
      let next = 0;
      return () => some[next++ % some.length]?.write(said, 'latin1');
    },
    finish() {
      for (const socket of open) socket.write(end, 'latin1');
      open.clear();
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Length of the first request in the text; undefined until it is complete. */
function requestLength(text: string): number | undefined {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return undefined;
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text.slice(0, head))?.[1] ?? 0);
  const whole = head + 4 + length;
  return text.length < whole ? undefined : whole;
}
