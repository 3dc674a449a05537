import type { Asked } from './client.ts';
import { bodyIn, conversationOf, type Format, formats } from './conversation.ts';
import { digest, type Json, type Recording } from './recordings.ts';

/** One client request, its channel, and the vendor's response. */
export interface Case {
  readonly name: string;
  readonly kind: string;
  readonly vendor: string;
  /** The path of the channel's base URL, after the host and `/case/NAME`. */
  readonly prefix: string;
  readonly upstreamModel: string;
  readonly asked: Asked;
  readonly recording: Recording | undefined;
}

/**
 * The vendors of the recordings that the gateway supports, with the path of their usual base URL.
 */
const prefixes: Readonly<Record<string, string>> = {
  anthropic: '/v1',
  azure: '/openai/v1',
  bedrock: '',
  cerebras: '/v1',
  cohere: '/v2',
  deepgram: '/v1',
  deepseek: '',
  elevenlabs: '/v1',
  fireworks: '/inference/v1',
  gemini: '/v1beta',
  groq: '/openai/v1',
  huggingface: '/v1',
  llamacpp: '/v1',
  mistral: '/v1',
  moonshot: '/v1',
  ollama: '/v1',
  openai: '/v1',
  'openai-compatible': '/v1',
  openrouter: '/api/v1',
  perplexity: '',
  qwen: '/compatible-mode/v1',
  together: '/v1',
  vertex: '/v1/projects/p/locations/global',
  voyage: '/v1',
  xai: '/v1',
  zhipu: '/api/paas/v4',
};

/** Vendors with a format of their own: their recordings in OpenAI's format are of another API. */
const ownFormat = new Set(['anthropic', 'bedrock', 'cohere', 'gemini', 'vertex']);
/** Vendors with all client formats: other recordings test the translation of their chat answers. */
const severalFormats = new Set(['openai', 'azure', 'openrouter', 'xai']);

function vendorOf({ vendor, endpoint }: Recording, format: string): string {
  const known = prefixes[vendor] === undefined ? 'openai-compatible' : vendor;
  if (endpoint === 'messages') return vendor === 'vertex' ? 'vertex' : 'anthropic';
  if (endpoint === 'gemini') return vendor === 'vertex' ? 'vertex' : 'gemini';
  if (endpoint === 'responses') return severalFormats.has(vendor) ? vendor : 'openai';
  const elsewhere =
    endpoint === 'chat' &&
    (ownFormat.has(vendor) || (format !== 'chat' && severalFormats.has(vendor)));
  return elsewhere ? 'openai-compatible' : known;
}

const kinds: Readonly<Record<string, string>> = {
  completion: 'completion',
  embedding: 'embedding',
  moderation: 'moderation',
  rerank: 'rerank',
  image: 'image',
  tts: 'speech',
  audio: 'transcription',
};

const modelOf = ({ request, url }: Recording): string => {
  const inPath = /\/models?\/([^/:?]+(?:(?:%3A|:)\d+)?)[:/?]/.exec(url)?.[1];
  const model = request?.model ?? (inPath === undefined ? undefined : decodeURIComponent(inPath));
  return typeof model === 'string' && /^[\w.:/@-]{1,100}$/.test(model)
    ? model.replace(/^models\//, '')
    : 'recorded-model';
};

/**
 * The gateway never fetches from loopback, so the result is the same with and without a network.
 */
const nearby = (body: Json): Json =>
  JSON.parse(JSON.stringify(body), (name, value) =>
    typeof value === 'string' && /url|uri|data/i.test(name)
      ? value.replace(/^https?:\/\/[^/]+/, 'https://127.0.0.1')
      : value,
  );

const conversations = new Set<string>([
  'chat',
  'messages',
  'responses',
  'gemini',
  'converse',
  'nativechat',
]);

/**
 * The client requests that this recording answers: in the format of the recording, and in the
 * others.
 */
export function casesOf(recording: Recording): readonly Case[] {
  const { id, endpoint, vendor } = recording;
  if (endpoint === 'nativechat' && vendor !== 'cohere') return [];
  if (!conversations.has(endpoint)) return [caseOf(recording, endpoint, plainAsk(recording))];
  return (Object.keys(formats) as Format[]).map((format) => {
    const model = `${id}-${format}/${modelOf(recording)}`;
    const own =
      endpoint === format &&
      recording.request?.[format === 'responses' ? 'input' : 'messages'] !== undefined;
    const { streamed } = recording;
    const body = own
      ? { ...recording.request, model }
      : bodyIn(format, conversationOf(recording), { model, ...(streamed && { stream: true }) });
    // In half of the streams the client asks for the usage.
    if (!own && format === 'chat' && streamed && /[0-7]/.test(digest(id)[0] ?? ''))
      body.stream_options = { include_usage: true };
    return caseOf(recording, format, { path: formats[format].path, body: nearby(body) });
  });
}

function caseOf(recording: Recording, format: string, asked: Asked): Case {
  const vendor = vendorOf(recording, format);
  const name = `${recording.id}-${format}`;
  const kind = kinds[recording.endpoint] ?? 'chat';
  return {
    name,
    kind,
    vendor,
    prefix: prefixes[vendor] ?? '/v1',
    upstreamModel: modelOf(recording),
    asked,
    recording,
  };
}

/** Half a second of silence: mono, 8,000 samples a second of 16 bits, as a WAV file. */
function silence(): Buffer {
  const [head, samples] = [Buffer.alloc(44), Buffer.alloc(8_000)];
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + samples.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8_000, 24);
  head.writeUInt32LE(16_000, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}

/** A form with a model, a short audio file, and these members. */
export function soundForm(
  model: string,
  members: Readonly<Record<string, string>> = {},
): Pick<Asked, 'headers' | 'body'> {
  const fields = Object.entries({ model, ...members }).map(
    ([name, value]) =>
      `--net\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const file =
    '--net\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\ncontent-type: audio/wav\r\n\r\n';
  const body = Buffer.concat([
    Buffer.from(`${fields.join('')}${file}`),
    silence(),
    Buffer.from('\r\n--net--\r\n'),
  ]);
  return {
    headers: {
      'content-type': 'multipart/form-data; boundary=net',
      'content-length': String(body.length),
    },
    body,
  };
}

/** Endpoints without a conversation have one request. */
function plainAsk(recording: Recording): Asked {
  const { endpoint, id, vendor } = recording;
  const model = `${id}-${endpoint}/${modelOf(recording)}`;
  const request =
    typeof recording.request === 'object' && recording.request !== null ? recording.request : {};
  const given = Object.fromEntries(
    Object.entries<Json>(request).filter(([name]) => name !== 'model'),
  );
  const texts = JSON.stringify(request).match(
    /(?<="(?:text|content|inputText|inputs)":")[^"]*/g,
  ) ?? ['Hello'];
  switch (endpoint) {
    case 'completion':
      return { path: '/v1/completions', body: { prompt: 'Hello', ...given, model } };
    case 'embedding':
      return { path: '/v1/embeddings', body: { input: request.texts ?? texts, ...given, model } };
    case 'moderation':
      return { path: '/v1/moderations', body: { input: 'Hello', ...given, model } };
    case 'rerank':
      return {
        path: '/v1/rerank',
        body: { query: 'Hello', documents: ['a', 'b'], ...given, model },
      };
    case 'image':
      return { path: '/v1/images/generations', body: nearby({ prompt: 'a cat', ...given, model }) };
    case 'tts':
      return {
        path: '/v1/audio/speech',
        body: { input: 'Hello', voice: 'alloy', ...given, model },
      };
    case 'audio':
      return { path: '/v1/audio/transcriptions', ...soundForm(model) };
    default:
      return countAsk(model, vendor, given);
  }
}

function countAsk(model: string, vendor: string, given: Json): Asked {
  if (vendor === 'openai')
    return { path: '/v1/responses/input_tokens', body: { input: 'Hello', ...given, model } };
  const messages = Array.isArray(given.messages)
    ? given
    : { messages: [{ role: 'user', content: 'Hello' }] };
  return { path: '/v1/messages/count_tokens', body: { ...messages, model } };
}
