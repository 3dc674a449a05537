import { answerMeaning, type Meaning, streamMeaning } from '../chat-meaning.ts';
import { geminiMeaning } from '../gemini-meaning.ts';
import type { Recording } from '../recorded-traffic.ts';
import { type Dict, dict, list, parsed, string } from '../support/loose-json.ts';
import type { Form, GeminiCase } from './gemini-cases.ts';
import { isStream, piecesOf } from './gemini-cases.ts';
import { chatSaid, member, nativeSaid, type Said, sameJson, usageAddsUp } from './gemini-said.ts';
import { type Answered, type Exchange, type Reply, type Stage, vendorKey } from './gemini-stage.ts';
import { firstOf, wrongError, wrongRefusal } from './gemini-passed-on.ts';

// Gemini's format on the client's side and OpenAI's chat on the vendor's: what either side is told
// is compared by its meaning.

/** Vendors of OpenAI's format whose answers were recorded, each with a model of theirs. */
export const answering: Readonly<Record<string, string>> = {
  openai: 'gpt-4o',
  deepseek: 'deepseek-chat',
  groq: 'llama-3.3-70b-versatile',
  mistral: 'mistral-small-latest',
  xai: 'grok-4',
  zhipu: 'glm-4.6',
  openrouter: 'openai/gpt-4o',
};
/** The vendor of the recorded requests: OpenAI's format without any house's rules. */
const plainVendor = 'openai-compatible';

const bridgeId = (vendor: string): string => `bridge/${vendor}`;

/** A gateway that sells one model of each of these vendors. */
export function bridgedConfiguration(url: string): string {
  const all = { ...answering, [plainVendor]: 'some-model' };
  const models = Object.keys(all).map(
    (vendor) =>
      `  - { id: "${bridgeId(vendor)}", owned_by: judge, kind: chat, price: { input: 1, output: 1 } }`,
  );
  const channels = Object.entries(all).map(
    ([vendor, model]) =>
      `  - { name: ${vendor}, vendor: ${vendor}, base_url: "${url}/v1", api_key: "${vendorKey}", groups: [default], models: [{ id: "${bridgeId(vendor)}", upstream: "${model}" }] }`,
  );
  return `
groups:
  - { name: default, price_multiplier: 1.0 }
models:
${models.join('\n')}
channels:
${channels.join('\n')}
`;
}

const path = (vendor: string, stream: boolean, form: Form): string =>
  `/v1beta/models/${bridgeId(vendor)}:${
    stream ? `streamGenerateContent${form === 'events' ? '?alt=sse' : ''}` : 'generateContent'
  }`;

const created = 1_741_569_952;
const plainAnswer = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: '{}' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 19, completion_tokens: 10, total_tokens: 29 },
});
const plainStream = [
  { choices: [{ index: 0, delta: { role: 'assistant', content: '{}' }, finish_reason: null }] },
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  { choices: [], usage: { prompt_tokens: 19, completion_tokens: 10, total_tokens: 29 } },
]
  .map((more) => ({ id: 'c', object: 'chat.completion.chunk', created, model: 'm', ...more }))
  .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
  .join('');

const plainReply = (stream: boolean): Reply => ({
  status: 200,
  type: stream ? 'text/event-stream' : 'application/json',
  pieces: [Buffer.from(stream ? `${plainStream}data: [DONE]\n\n` : plainAnswer)],
  end: 'end',
});

/** Sends a recorded request to a chat model: what of it did not arrive. */
export async function bridgedRequest(stage: Stage, one: GeminiCase): Promise<readonly string[]> {
  const stream = isStream(one);
  const exchange = await stage.exchange(path(plainVendor, stream, 'events'), one.body, () =>
    plainReply(stream),
  );
  const native = dict(parsed(one.body.toString('utf8')));
  const { answered, sent } = exchange;
  const why = unsayable(native);
  if (why !== undefined) return wrongRefusal(exchange, why);
  const [received] = sent;
  if (received === undefined || answered.status !== 200)
    return [`status ${answered.status}: ${answered.body.slice(0, 300)}`];
  const chat = dict(parsed(received.text));
  return [
    ...((chat['stream'] === true) === stream ? [] : ['stream: another way of answering']),
    ...wrongSaid(chatSaid(chat), nativeSaid(native)),
  ];
}

/** What chat has no word for: such a request is refused, and reaches no vendor. */
function unsayable(native: Dict): string | undefined {
  const own = [native['tools']]
    .flat()
    .flatMap((tool) => Object.entries(dict(tool)))
    .find(([name, value]) => value !== null && !/^function_?[dD]eclarations$/.test(name));
  if (own !== undefined) return `the tool ${own[0]}`;
  if ((member(native, 'cachedContent') ?? null) !== null) return 'cachedContent';
  const config = dict(member(native, 'generationConfig'));
  const modalities = list(member(config, 'responseModalities'));
  if (modalities.some((one) => !/^text$/i.test(string(one)))) return 'an answer beyond text';
  const parts = [native['contents']]
    .flat()
    .flatMap((content) => [dict(content)['parts']].flat())
    .map(dict);
  for (const name of ['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse'])
    if (parts.some((part) => member(part, name) !== undefined)) return `the part ${name}`;
  for (const part of parts) {
    const file = dict(member(part, 'fileData'));
    const uri = string(member(file, 'fileUri'));
    if (uri === '') continue;
    if (!/^https?:/.test(uri) || /youtu\.?be|generativelanguage/.test(uri))
      return `the file ${uri.slice(0, 40)}`;
    if (string(member(file, 'mimeType')).startsWith('audio')) return `the address ${uri}`;
  }
  const results = parts.flatMap((part) => list(dict(member(part, 'functionResponse'))['parts']));
  if (results.some((part) => member(dict(part), 'fileData') !== undefined))
    return 'an address in a result';
  return undefined;
}

/** What one request tells a model, and another does not. */
export function wrongSaid(got: Said, want: Said): string[] {
  const wrong = (['system', 'tools', 'choice', 'format'] as const).flatMap((name) =>
    sameJson(got[name], want[name]) ? [] : [`${name}: ${shown(got[name], want[name])}`],
  );
  if (got.turns.length !== want.turns.length)
    wrong.push(`turns: ${got.turns.length} instead of ${want.turns.length}`);
  for (const [i, turn] of want.turns.entries())
    if (!sameJson(got.turns[i], turn)) wrong.push(`turns[${i}]: ${shown(got.turns[i], turn)}`);
  for (const name of new Set([...Object.keys(got.settings), ...Object.keys(want.settings)])) {
    const [is, was] = [got.settings[name], want.settings[name]];
    // A model that does not think has no word for not thinking.
    if (name === 'effort' && is === undefined && was === 'none') continue;
    if (!sameJson(is, was)) wrong.push(`${name}: ${shown(is, was)}`);
  }
  return wrong;
}

const shown = (got: unknown, want: unknown): string =>
  `${(JSON.stringify(got) ?? 'nothing').slice(0, 240)} instead of ${(JSON.stringify(want) ?? 'nothing').slice(0, 240)}`;

const question = (calls: readonly string[]): Buffer =>
  Buffer.from(
    JSON.stringify({
      contents: [{ role: 'user', parts: [{ text: 'Go on.' }] }],
      generationConfig: { thinkingConfig: { includeThoughts: true } },
      ...(calls.length === 0
        ? {}
        : {
            tools: [{ functionDeclarations: calls.map((name) => ({ name, description: name })) }],
          }),
    }),
  );

/** The meaning of a recorded chat answer, read without the gateway, as Gemini can say it. */
export function chatMeaning({ streamed, reply }: Recording): Meaning {
  const text = reply.toString('utf8');
  const said = streamed ? streamMeaning(text) : answerMeaning(text);
  const refusal = refusalIn(text);
  const refused = said.text === '' && refusal !== '';
  return {
    ...said,
    text: refused ? refusal : said.text,
    finish: refused ? 'content_filter' : said.finish,
    usage: said.usage && usageOf(said.usage, text),
  };
}

/** What an answer says in place of its content. */
function refusalIn(text: string): string {
  const whole = parsed(text);
  const chunks =
    whole === undefined
      ? text.split('\n').map((line) => parsed(line.replace(/^data: ?/, '')))
      : [whole];
  return chunks
    .map((chunk) => dict(list(dict(chunk)['choices'])[0]))
    .map((choice) => string(dict(choice['message'] ?? choice['delta'])['refusal']))
    .join('');
}

/**
 * Vendors differ in what their completion and prompt count, and where they tell what was cached;
 * thoughts are no more than what was written.
 */
function usageOf(told: NonNullable<Meaning['usage']>, text: string): Meaning['usage'] {
  const beside = told.prompt + told.completion + told.reasoning === told.total;
  const completion = beside ? told.completion + told.reasoning : told.completion;
  const cached = /"num_cached_tokens"\s*:\s*(\d+)/.exec(text)?.[1];
  const audio = Number(/"audio_tokens"\s*:\s*(\d+)/.exec(text)?.[1] ?? 0);
  const heard = told.prompt + told.completion + audio === told.total ? audio : 0;
  return {
    ...told,
    prompt: told.prompt + heard,
    completion,
    cached: cached === undefined ? told.cached : Number(cached),
    reasoning: Math.min(told.reasoning, completion),
  };
}

/** Asks the vendor of a recording, in whose answer the client's functions are called. */
export function askBridged(
  stage: Stage,
  recording: Recording,
  form: Form,
  reply: Reply,
): Promise<Exchange> {
  const { calls } = chatMeaning(recording);
  return stage.exchange(
    path(recording.vendor, recording.streamed, form),
    question([...new Set(calls.map(({ name }) => name))]),
    () => reply,
  );
}

/** Plays a recorded chat answer to a client of Gemini's format: what it is told wrongly. */
export async function bridgedAnswer(
  stage: Stage,
  recording: Recording,
  form: Form,
  pieces: Iterable<Buffer>,
): Promise<readonly string[]> {
  const want = chatMeaning(recording);
  const { answered } = await askBridged(stage, recording, form, {
    status: recording.status,
    type: recording.streamed ? 'text/event-stream' : 'application/json',
    pieces,
    end: 'end',
  });
  if (want.error !== undefined || want.finish === undefined) return wrongFailure(answered);
  if (answered.status !== 200) return [`status ${answered.status}: ${answered.body.slice(0, 300)}`];
  if (answered.broken) return ['the connection broke'];
  return wrongMeaning(answered.body, want);
}

/** A vendor that failed: an error of its own status, or one at the end of a broken stream. */
function wrongFailure({ status, body, broken }: Answered): string[] {
  if (status !== 200) return wrongError(firstOf(parsed(body)), status);
  if (!broken) return ['the vendor failed, and the stream ends in order'];
  const last = piecesOf(body).at(-1) ?? '';
  return last.startsWith('{"error"') ? [] : [`the last piece is ${last.slice(0, 100)}`];
}

const finishes: Readonly<Record<string, string>> = {
  stop: 'STOP',
  tool_calls: 'STOP',
  function_call: 'STOP',
  length: 'MAX_TOKENS',
  content_filter: 'SAFETY',
};

/** Calls whose arguments are whole; `null` is no argument. */
function wholeCalls({ calls }: Meaning): { readonly all: boolean; readonly calls: unknown[] } {
  const read = calls.map(({ name, args }) => ({ name, args: parsed(args === '' ? '{}' : args) }));
  const whole = read.filter(({ args }) => args !== undefined);
  return {
    all: whole.length === read.length,
    calls: whole.map(({ name, args }) => ({ name, args: args ?? {} })),
  };
}

/** The first candidate's chunks alone: of several answers only the first is compared. */
export function firstAnswer(body: string): {
  readonly text: string;
  readonly chunks: readonly Dict[];
} {
  const pieces = piecesOf(body.trimStart().startsWith('{') ? `[${body}]` : body);
  const chunks = pieces.map((piece) => dict(parsed(piece)));
  const first = chunks.map((chunk) => ({
    ...chunk,
    candidates: list(chunk['candidates']).filter(
      (candidate) => (dict(candidate)['index'] ?? 0) === 0,
    ),
  }));
  return { text: JSON.stringify(first), chunks };
}

/** What an answer of this door tells, and the meaning of the vendor's does not. */
export function wrongMeaning(body: string, want: Meaning): string[] {
  const { text, chunks } = firstAnswer(body);
  const got = geminiMeaning(text);
  const wrong: string[] = [];
  const compare = (name: string, is: unknown, was: unknown): void => {
    if (!sameJson(is, was)) wrong.push(`${name}: ${shown(is, was)}`);
  };
  compare('text', got.text, want.text);
  compare('reasoning', got.reasoning, want.reasoning);
  const wanted = wholeCalls(want);
  compare('calls', wholeCalls(got).calls, wanted.calls);
  const reasons = chunks.flatMap((chunk) =>
    list(chunk['candidates']).flatMap((candidate) => {
      const { index = 0, finishReason } = dict(candidate);
      return index === 0 && finishReason !== undefined ? [finishReason] : [];
    }),
  );
  const reason = finishes[want.finish ?? ''] ?? 'OTHER';
  compare('finish', reasons, [
    wanted.all || reason === 'MAX_TOKENS' ? reason : 'MALFORMED_FUNCTION_CALL',
  ]);
  if (want.usage !== undefined && want.usage.total > 0) {
    const { total: _, ...told } = want.usage;
    const { total: __, ...is } = got.usage ?? { total: 0 };
    compare('usage', is, told);
  }
  const usage = chunks
    .map((chunk) => dict(chunk['usageMetadata']))
    .findLast((one) => Object.keys(one).length > 0);
  if (usage === undefined || !usageAddsUp(usage)) wrong.push(`usage: ${JSON.stringify(usage)}`);
  for (const chunk of chunks)
    if (!Array.isArray(chunk['candidates'])) wrong.push('a piece has no candidates');
  return wrong;
}
