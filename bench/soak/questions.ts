import { FormData } from 'undici';
import { wav } from '../../sim/media/wav.ts';

/** One kind of request, and how often it comes. */
export interface Question {
  readonly name: string;
  /** Per thousand requests. */
  readonly share: number;
  readonly path: string;
  readonly body: (n: number) => string | FormData;
  /** The client disconnects after the first bytes. */
  readonly leaves?: boolean;
  /**
   * The response is a refusal, has an error in the stream, or breaks off: the vendor's fault is
   * intended.
   */
  readonly fails?: boolean;
}

/**
 * Faults of vendors. Each has a model at a vendor that no other request uses, so that a parked
 * channel affects only it.
 */
export const faults = [
  'sim-500',
  'sim-429',
  'sim-cut-after-3',
  'sim-reset-after-3',
  'sim-html-error',
  'sim-bad-json',
  'sim-context',
];
/** A slow scenario, for clients that disconnect. */
export const slow = 'sim-slow-40ms';

const words = 'A gate that asks for its toll before it opens, and gives back what was too much. ';
const messages = (n: number) => [
  { role: 'system', content: 'You are a helpful assistant.' },
  { role: 'user', content: `${words.repeat(1 + (n % 8))}${n}` },
];
const json =
  (of: (n: number) => object): Question['body'] =>
  (n) =>
    JSON.stringify(of(n));
const chat = (model: string, stream: boolean): Question['body'] =>
  json((n) => ({ model, messages: messages(n), max_tokens: 200, stream }));
const chatPath = '/v1/chat/completions';
const tool = {
  name: 'get_weather',
  description: 'The weather of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
};
const sound = Buffer.from(wav('The toll is paid.'));

/** All kinds of requests to a gateway, in about the shares of a busy day. */
export const questions: readonly Question[] = [
  { name: 'chat', share: 412, path: chatPath, body: chat('gpt-4o', false) },
  { name: 'chat, streamed', share: 180, path: chatPath, body: chat('deepseek-chat', true) },
  {
    name: 'chat to Claude, streamed',
    share: 60,
    path: chatPath,
    body: chat('claude-haiku-4-5', true),
  },
  {
    name: 'chat to Gemini with tools',
    share: 8,
    path: chatPath,
    body: json((n) => ({
      model: 'gemini-3.1-pro',
      messages: messages(n),
      tools: [{ type: 'function', function: tool }],
      tool_choice: 'required',
    })),
  },
  {
    name: 'messages, streamed',
    share: 60,
    path: '/v1/messages',
    body: json((n) => ({
      model: 'claude-haiku-4-5',
      messages: messages(n).slice(1),
      max_tokens: 200,
      stream: true,
    })),
  },
  {
    name: 'responses',
    share: 60,
    path: '/v1/responses',
    body: json((n) => ({ model: 'gpt-4o', input: `${words}${n}`, max_output_tokens: 200 })),
  },
  {
    name: 'embeddings',
    share: 60,
    path: '/v1/embeddings',
    body: json((n) => ({ model: 'text-embedding-3-small', input: `${words}${n}` })),
  },
  {
    name: 'image',
    share: 4,
    path: '/v1/images/generations',
    body: json((n) => ({ model: 'dall-e-2', prompt: `a gate ${n}`, size: '256x256' })),
  },
  {
    name: 'speech',
    share: 8,
    path: '/v1/audio/speech',
    body: json((n) => ({ model: 'tts-1', voice: 'alloy', input: `The toll is paid ${n} times.` })),
  },
  { name: 'transcription', share: 8, path: '/v1/audio/transcriptions', body: recording },
  {
    name: 'chat, client leaves',
    share: 60,
    path: chatPath,
    body: chat(`mistral-small-latest+${slow}`, true),
    leaves: true,
  },
  {
    name: 'whole chat, client leaves',
    share: 20,
    path: chatPath,
    body: chat(`mistral-small-latest+${slow}`, false),
    leaves: true,
  },
  ...faults.map((fault, n) => ({
    name: fault,
    share: 6,
    path: chatPath,
    body: chat(`llama-3.3-70b+${fault}`, n % 2 === 0),
    fails: true,
  })),
  { name: 'nonsense', share: 18, path: chatPath, body: () => '{"model":', fails: true },
];

function recording(): FormData {
  const form = new FormData();
  form.set('model', 'whisper-1');
  form.set('file', new File([sound], 'a.wav'));
  return form;
}

const total = questions.reduce((sum, { share }) => sum + share, 0);

/** The `n`-th request: the kinds are mixed, always in the same order. */
export function questionAt(n: number): Question {
  let at = (n * 617) % total;
  for (const question of questions) {
    if (at < question.share) return question;
    at -= question.share;
  }
  throw new Error('shares add up');
}
