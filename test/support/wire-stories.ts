import type { ServerResponse } from 'node:http';
import { eventFrame, exceptionFrame } from './event-stream.ts';
import { chunk } from './scripted-vendor.ts';

/**
 * The beginning of an answer in one wire format, and an error of the vendor's own in mid-stream.
 */
export interface WireStory {
  readonly wire: string;
  readonly vendor: string;
  /** The path of the vendor's base URL. */
  readonly path: string;
  readonly upstream: string;
  readonly streamType: string;
  /** Everything up to and including the first text, `said`. */
  readonly begins: string | Buffer;
  readonly breaks: string | Buffer;
  /** Input tokens that the beginning reports; else the gateway counts them. */
  readonly input?: bigint;
}

export const said = 'Hello wor';

const named = (data: { readonly type: string } & Record<string, unknown>): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const sse = 'text/event-stream';

const message = {
  id: 'msg_up',
  type: 'message',
  role: 'assistant',
  model: 'up',
  content: [],
  stop_reason: null,
  stop_sequence: null,
};
const response = {
  id: 'resp_up',
  object: 'response',
  created_at: 1_741_569_952,
  status: 'in_progress',
  model: 'up',
  output: [],
  error: null,
  incomplete_details: null,
  usage: null,
};
const at = { item_id: 'msg_up', output_index: 0, content_index: 0 };
const part = { type: 'output_text', text: '', annotations: [], logprobs: [] };
const item = {
  id: 'msg_up',
  type: 'message',
  status: 'in_progress',
  role: 'assistant',
  content: [],
};

export const wireStories: readonly WireStory[] = [
  {
    wire: 'openai-chat',
    vendor: 'deepseek',
    path: '',
    upstream: 'deepseek-chat',
    streamType: sse,
    begins: chunk({ role: 'assistant', content: '' }) + chunk({ content: said }),
    breaks: data({
      error: { message: 'The server had an error.', type: 'server_error', param: null, code: null },
    }),
  },
  {
    wire: 'openai-responses',
    vendor: 'openai',
    path: '/v1',
    // It calls functions only on /responses.
    upstream: 'gpt-5.6-terra',
    streamType: sse,
    begins:
      named({ type: 'response.created', sequence_number: 0, response }) +
      named({ type: 'response.in_progress', sequence_number: 1, response }) +
      named({ type: 'response.output_item.added', sequence_number: 2, output_index: 0, item }) +
      named({ type: 'response.content_part.added', sequence_number: 3, ...at, part }) +
      named({
        type: 'response.output_text.delta',
        sequence_number: 4,
        ...at,
        delta: said,
        logprobs: [],
      }),
    breaks: named({
      type: 'error',
      sequence_number: 5,
      code: 'server_error',
      message: 'The server had an error.',
      param: null,
    }),
  },
  {
    wire: 'anthropic-messages',
    vendor: 'anthropic',
    path: '/v1',
    upstream: 'claude-sonnet-4-5',
    streamType: sse,
    begins:
      named({
        type: 'message_start',
        message: { ...message, usage: { input_tokens: 10, output_tokens: 1 } },
      }) +
      named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }) +
      named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: said } }),
    breaks: named({
      type: 'error',
      error: { type: 'api_error', message: 'Internal server error' },
    }),
    input: 10n,
  },
  {
    wire: 'gemini',
    vendor: 'gemini',
    path: '/v1beta',
    upstream: 'gemini-2.5-flash',
    streamType: sse,
    begins: data({ candidates: [{ content: { parts: [{ text: said }], role: 'model' } }] }),
    breaks: data({
      error: { code: 500, message: 'An internal error has occurred.', status: 'INTERNAL' },
    }),
  },
  {
    wire: 'bedrock-converse',
    vendor: 'bedrock',
    path: '',
    upstream: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
    streamType: 'application/vnd.amazon.eventstream',
    begins: Buffer.concat([
      eventFrame('messageStart', { role: 'assistant' }),
      eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: said } }),
    ]),
    breaks: exceptionFrame('internalServerException', {
      message: 'The system encountered an unexpected error.',
    }),
  },
  {
    wire: 'cohere',
    vendor: 'cohere',
    path: '/v2',
    upstream: 'command-a-03-2025',
    streamType: sse,
    begins:
      named({
        type: 'message-start',
        id: 'up',
        delta: { message: { role: 'assistant', content: [] } },
      }) +
      named({
        type: 'content-start',
        index: 0,
        delta: { message: { content: { type: 'text', text: '' } } },
      }) +
      named({ type: 'content-delta', index: 0, delta: { message: { content: { text: said } } } }),
    breaks: data({ id: 'up', message: 'internal server error' }),
  },
];

/** The head of a stream and its beginning. */
export function begin(response: ServerResponse, { streamType, begins }: WireStory): ServerResponse {
  response.writeHead(200, { 'content-type': streamType });
  response.write(begins);
  return response;
}
