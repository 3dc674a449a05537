import type { Random } from '../../src/base/random.ts';
import { fewCuts } from '../cuts.ts';
import { type Dict, dict, parsed, string } from '../support/loose-json.ts';
import type { Received } from '../support/scripted-vendor.ts';
import { type Form, type GeminiCase, isStream, piecesOf, streamIn } from './gemini-cases.ts';
import { member, sameJson } from './gemini-said.ts';
import { type Answered, type Exchange, type Reply, type Stage, vendorKey } from './gemini-stage.ts';

// Gemini's format on both sides: what reached the vendor and what reached the client are compared
// with the recording, byte by byte but for the names of the model.

/**
 * The id that clients call a case's model by. A refusal may park its channel: each recorded one has
 * a model and a channel of its own.
 */
const publicId = ({ id, vendor, model, status }: GeminiCase): string =>
  status < 400 ? `${vendor}-judge/${model}` : `refused-${id}/${model}`;

/** A gateway that sells every recorded model, with a fee for each tool that a vendor runs. */
export function nativeConfiguration(cases: readonly GeminiCase[]): (url: string) => string {
  const fees =
    'grounding_query: 0.1, code_session: 0.1, file_search: 0.1, web_search: 0.1, web_fetch: 0.1';
  const sold = [...new Map(cases.map((one) => [publicId(one), one])).values()];
  const modelLines = sold.map((one) => {
    const vector = /^(?:batchE|e)mbed/.test(one.method);
    const price = vector ? '{ input: 1 }' : `{ input: 1, output: 1, ${fees} }`;
    return `  - { id: "${publicId(one)}", owned_by: google, kind: ${vector ? 'embedding' : 'chat'}, price: ${price} }`;
  });
  const channel = (url: string, name: string, all: readonly GeminiCase[]): string => {
    const [{ vendor } = { vendor: 'gemini' }] = all;
    const base = vendor === 'gemini' ? '/v1beta' : '/v1/projects/p/locations/global';
    const listed = all.map((one) => `{ id: "${publicId(one)}", upstream: "${one.model}" }`);
    return `  - { name: ${name}, vendor: ${vendor}, base_url: "${url}${base}", api_key: "${vendorKey}", groups: [default], models: [${listed.join(', ')}] }`;
  };
  const good = sold.filter(({ status }) => status < 400);
  return (url) => `
groups:
  - { name: default, price_multiplier: 1.0 }
models:
${modelLines.join('\n')}
channels:
${(['gemini', 'vertex'] as const)
  .map((name) =>
    channel(
      url,
      name,
      good.filter(({ vendor }) => vendor === name),
    ),
  )
  .join('\n')}
${sold
  .filter(({ status }) => status >= 400)
  .map((one) => channel(url, one.id, [one]))
  .join('\n')}
`;
}

/** The path at which a client asks for a case. */
export function pathOf(one: GeminiCase, form: Form): string {
  const query = isStream(one) && form === 'events' ? '?alt=sse' : '';
  return `/v1beta/models/${publicId(one)}:${one.method}${query}`;
}

/** What the client sends: the recorded bytes, in which it names the model by its public id. */
export function clientBody(one: GeminiCase): Buffer {
  const named = one.body
    .toString('utf8')
    .replaceAll(`"models/${one.model}"`, `"models/${publicId(one)}"`);
  return Buffer.from(named);
}

/** The vendor of a case: it answers in the form in which it is asked. */
function replyOf(one: GeminiCase, cut: (reply: Buffer) => Iterable<Buffer>, end: Reply['end']) {
  return ({ url }: Received): Reply => {
    if (one.status >= 400 || !isStream(one) || one.reply.length === 0)
      return { ...one, type: typeOf(one), pieces: cut(one.reply), end };
    const form = url.includes('alt=sse') ? 'events' : 'array';
    const type = form === 'events' ? 'text/event-stream' : 'application/json; charset=UTF-8';
    return { status: one.status, type, pieces: cut(streamIn(form, one.reply)), end };
  };
}

const typeOf = ({ headers, reply }: GeminiCase): string =>
  headers['content-type'] ??
  (/^\s*data:/.test(reply.toString('utf8', 0, 20)) ? 'text/event-stream' : 'application/json');

/** Asks for a case as it was recorded; what is wrong with it. */
export async function passedOn(
  stage: Stage,
  one: GeminiCase,
  form: Form,
  random: Random | undefined,
): Promise<readonly string[]> {
  const cut = (reply: Buffer): Iterable<Buffer> =>
    random === undefined ? [reply] : ([...fewCuts(reply, random)].at(-1) ?? [reply]);
  const body = clientBody(one);
  const kept = keptThere(dict(parsed(one.body.toString('utf8'))));
  const exchange = await stage.exchange(pathOf(one, form), body, replyOf(one, cut, 'end'));
  if (kept !== undefined) return wrongRefusal(exchange, kept);
  return [
    ...wrongRequest(one, form, exchange),
    ...wrongAnswer(one, form, exchange.answered),
    ...leaks(exchange, stage.running.key),
  ];
}

/**
 * What lies at the vendor, in the account of all clients: it is nobody's, and a request that names
 * it is refused.
 */
function keptThere(native: Dict): string | undefined {
  if ((member(native, 'cachedContent') ?? null) !== null) return 'cachedContent';
  const turns = [native['contents']].flat().map(dict);
  const parts = turns.flatMap((turn) => [turn['parts']].flat()).map(dict);
  const inResults = parts.flatMap((part) =>
    [dict(member(part, 'functionResponse'))['parts']].flat(),
  );
  const all = [...parts, ...inResults.map(dict)];
  const uris = all.map((part) => string(member(dict(member(part, 'fileData')), 'fileUri')));
  if (uris.some((uri) => /^gs:|generativelanguage\.googleapis\.com/.test(uri))) return 'fileUri';
  const tools = [native['tools']].flat().map(dict);
  return tools.some((tool) => (member(tool, 'fileSearch') ?? null) !== null)
    ? 'fileSearch'
    : undefined;
}

/** A request that has to be refused reaches no vendor, and costs nothing. */
export function wrongRefusal({ answered, sent }: Exchange, why: string): string[] {
  if (answered.status !== 400)
    return [`${why} is answered with ${answered.status}: ${answered.body.slice(0, 200)}`];
  return [
    ...(sent.length > 0 ? [`${why} is refused, and has reached the vendor`] : []),
    ...wrongError(firstOf(parsed(answered.body)), 400),
  ];
}

/** The members of a request that may differ: the most that the model may write. */
const limited = /"(maxOutputTokens|max_output_tokens)"\s*:\s*\d+/g;

function wrongRequest(one: GeminiCase, form: Form, { sent, answered }: Exchange): string[] {
  const [received] = sent;
  // What every vendor refuses may be refused before one is asked.
  if (received === undefined && one.status === 400 && answered.status === 400) return [];
  if (received === undefined) return ['request: nothing reached the vendor'];
  const wrong: string[] = [];
  // Vertex counts only some members, of which a new body is made.
  const remade = one.vendor === 'vertex' && one.method === 'countTokens';
  const recorded = one.body.toString('utf8');
  const plain = (text: string): string => text.replaceAll(limited, '"$1":0');
  const same = remade
    ? sameJson(parsed(received.text), parsed(recorded))
    : plain(received.text) === plain(recorded);
  if (!same) wrong.push(`request: ${difference(received.text, recorded)}`);
  const [path = '', query = ''] = received.url.split('?');
  if (!path.endsWith(`/models/${one.model}:${one.method}`)) wrong.push(`request: went to ${path}`);
  if (isStream(one) && form === 'events' && !query.includes('alt=sse'))
    wrong.push('request: the vendor was asked for an array where the client wants events');
  return wrong;
}

/** No key of one side reaches the other. */
function leaks({ sent, answered }: Exchange, key: string): string[] {
  const told = JSON.stringify(sent);
  return [
    ...(told.includes(key) ? ['the client’s key reached the vendor'] : []),
    ...(answered.body.includes(vendorKey) ? ['the vendor’s key reached the client'] : []),
  ];
}

const canonical: Readonly<Record<number, readonly string[]>> = {
  400: ['INVALID_ARGUMENT', 'FAILED_PRECONDITION'],
  404: ['NOT_FOUND'],
  429: ['RESOURCE_EXHAUSTED'],
  500: ['INTERNAL'],
  503: ['UNAVAILABLE'],
};

/** What is wrong with an error of this door: its shape, or its status. */
export function wrongError(body: unknown, status: number): string[] {
  const error = dict(dict(body)['error']);
  const { code, message, status: name } = error;
  const wrong: string[] = [];
  if (code !== status) wrong.push(`error: code ${String(code)} with status ${status}`);
  if (typeof message !== 'string' || message === '') wrong.push('error: no message');
  if (typeof name !== 'string' || !(canonical[status] ?? [name]).includes(name))
    wrong.push(`error: ${String(name)} with status ${status}`);
  return wrong;
}

/** What is wrong with an answer that was passed on. */
export function wrongAnswer(one: GeminiCase, form: Form, answered: Answered): string[] {
  const reply = one.reply.toString('utf8');
  // A vendor that does not count leaves it to the gateway.
  if (one.status >= 400 && one.method === 'countTokens' && answered.status === 200)
    return typeof dict(parsed(answered.body))['totalTokens'] === 'number' ? [] : ['no count'];
  if (one.status >= 400 || reply === '') {
    const wanted = refusedWith(one, reply);
    return answered.status === wanted
      ? wrongError(firstOf(parsed(answered.body)), wanted)
      : [`answer: status ${answered.status} instead of ${wanted}: ${answered.body.slice(0, 200)}`];
  }
  if (answered.status !== 200)
    return [`answer: status ${answered.status}: ${answered.body.slice(0, 300)}`];
  if (answered.broken) return ['answer: the connection broke'];
  const named = (text: string): string =>
    text.replaceAll(/("(?:modelVersion|responseId)"\s*:\s*)"([^"]*)"/g, '$1"…"');
  const wrongName = /"modelVersion"\s*:\s*"([^"]*)"/.exec(answered.body)?.[1];
  const wrong =
    wrongName === undefined || reply.includes(`"${wrongName}"`) || wrongName === publicId(one)
      ? []
      : [`answer: the model is called ${wrongName}`];
  // Vectors without a count get the one that is charged.
  const counted = /embed/i.test(one.method) && !reply.includes('"usageMetadata"');
  const told = counted
    ? answered.body.replace(/,"usageMetadata":\{"promptTokenCount":\d+\}/, '')
    : answered.body;
  const [got, want] = [named(told), named(reply)];
  if (!isStream(one)) return got === want ? wrong : [...wrong, `answer: ${difference(got, want)}`];
  return [...wrong, ...wrongStream(got, want, form, answered.type)];
}

/** An array stream's error is the only element of an array. */
export const firstOf = (body: unknown): unknown => (Array.isArray(body) ? body[0] : body);

/** A vendor's refusal as this gateway's clients see it. */
function refusedWith({ status }: GeminiCase, reply: string): number {
  if (reply === '') return 503;
  if (status !== 400) return 503;
  return /API_KEY_INVALID|API key not valid|API key expired/.test(reply) ? 503 : 400;
}

function wrongStream(got: string, want: string, form: Form, type: string): string[] {
  const wrong: string[] = [];
  if (!type.startsWith(form === 'events' ? 'text/event-stream' : 'application/json'))
    wrong.push(`answer: a stream of the type ${type}`);
  const pieces = piecesOf(want);
  const recorded = want.trimStart().startsWith('[') ? 'array' : 'events';
  if (form === 'events') {
    // The door writes its own line ends.
    const lines = want.replaceAll('\r\n', '\n');
    if (recorded === 'events' && got !== lines) wrong.push(`answer: ${difference(got, lines)}`);
    const stray = got.split(/\r?\n/).find((line) => line !== '' && !line.startsWith('data: '));
    if (stray !== undefined) wrong.push(`answer: the line ${stray.slice(0, 60)}`);
    if (!/\n\r?\n$/.test(got)) wrong.push('answer: the stream does not end with its delimiter');
  } else if (!Array.isArray(parsed(got))) wrong.push('answer: no JSON array');
  const arrived = piecesOf(got);
  if (arrived.length !== pieces.length)
    wrong.push(`answer: ${arrived.length} pieces instead of ${pieces.length}`);
  for (const [i, piece] of arrived.entries())
    if (piece !== pieces[i] && !rewritten(piece, pieces[i] ?? '', recorded === 'events'))
      wrong.push(`answer: piece ${i}: ${difference(piece, pieces[i] ?? '')}`);
  return wrong;
}

/** Vendors are asked for events. A recorded array was rewritten into them: its JSON counts. */
const rewritten = (got: string, want: string, exact: boolean): boolean =>
  !exact && JSON.stringify(parsed(got)) === JSON.stringify(parsed(want));

/** Where two texts part, with a few characters of each. */
function difference(got: string, want: string): string {
  let at = 0;
  while (at < got.length && got[at] === want[at]) at += 1;
  const from = Math.max(0, at - 20);
  return `at ${at} ${JSON.stringify(got.slice(from, at + 60))} instead of ${JSON.stringify(want.slice(from, at + 60))}`;
}

/** A complete answer has the reason of its end. */
export const ended = (piece: string): boolean => /"finishReason"\s*:/.test(piece);
