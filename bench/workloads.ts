import { body, words } from './contender.ts';
import { wholeAnswer } from './vendor.ts';

/** The request of a profile: its format, and the vendor's, which may be the same or another one. */
export interface Workload {
  /** The client's endpoint below `/v1`. */
  readonly endpoint: '/chat/completions' | '/responses' | '/messages';
  readonly vendor: 'chat' | 'messages';
  /** A stream has a chunk each 10 ms; its unit is a chunk. */
  readonly stream: boolean;
  /** Concurrent connections, for whole responses. */
  readonly connections: number;
  readonly request: object;
}

const small = { ...JSON.parse(body('m', false)), model: undefined };
const question = {
  max_tokens: 200,
  messages: [{ role: 'user', content: words.repeat(16).trim() }],
};
const asked = {
  instructions: 'Answer in one sentence.',
  input: words.repeat(16).trim(),
  max_output_tokens: 200,
  store: false,
};

/** A conversation of 100 KB, as an agent sends it with each turn. */
const long = {
  messages: Array.from({ length: 100 }, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: words.repeat(12).trim(),
  })),
  max_tokens: 200,
};

/** Three megabytes of image are four of base64. */
const picture = Buffer.from(
  Uint32Array.from({ length: 768 * 1024 }, (_, i) => Math.imul(i, 2_654_435_761)).buffer,
).toString('base64');
const parts = [
  { type: 'text', text: 'What is in this picture?' },
  { type: 'image_url', image_url: { url: `data:image/png;base64,${picture}` } },
];
const image = { messages: [{ role: 'user', content: parts }], max_tokens: 200 };

const chat = {
  endpoint: '/chat/completions',
  vendor: 'chat',
  stream: false,
  connections: 50,
} as const;
const responses = {
  endpoint: '/responses',
  vendor: 'chat',
  stream: false,
  connections: 50,
  request: asked,
} as const;
const messages = {
  endpoint: '/messages',
  vendor: 'messages',
  stream: false,
  connections: 50,
  request: question,
} as const;

export const workloads: Readonly<Record<string, Workload>> = {
  small: { ...chat, request: small },
  long: { ...chat, request: long },
  image: { ...chat, request: image, connections: 4 },
  'image-to-anthropic': { ...chat, vendor: 'messages', request: image, connections: 4 },
  stream: { ...chat, stream: true, request: small },
  'image-stream': { ...chat, stream: true, request: image },
  responses,
  'responses-stream': { ...responses, stream: true },
  messages,
  'messages-stream': { ...messages, stream: true },
  'to-anthropic': { ...chat, vendor: 'messages', request: small },
  'to-anthropic-stream': { ...chat, vendor: 'messages', stream: true, request: small },
  'messages-to-chat-stream': { ...messages, vendor: 'chat', stream: true },
};

/** The whole responses of the vendors. */
export const answers: Readonly<Record<Workload['vendor'], string>> = {
  chat: wholeAnswer,
  messages: JSON.stringify({
    id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
    type: 'message',
    role: 'assistant',
    model: 'instant',
    content: [{ type: 'text', text: 'The toll is paid, the gate is open. '.repeat(10).trim() }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: {
      input_tokens: 300,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 90,
      service_tier: 'standard',
    },
  }),
};
