import { bufferOf } from '../../src/base/json.ts';
import { Refusal } from '../../src/base/refusal.ts';
import type { Adapter, VendorCall } from '../../src/providers/adapter.ts';
import { adaptersOf } from '../../src/providers/bridges/index.ts';
import { isFault } from '../../src/providers/formats/fault.ts';
import { vendors } from '../../src/providers/index.ts';
import { type Recording, recordingsAt } from '../recorded-traffic.ts';
import { violations } from '../vendor-schemas/index.ts';
import { isObject, type Json, objectsOf } from '../vendor-schemas/shape.ts';
import { asked, callFor, type Format, formats, type Sent } from './asking.ts';
import { chatTargets, type Target } from './targets.ts';

// The second turn: the vendor's adapter reads an answer into a client's format; the test appends it
// like the client's SDK, with the next message, and sends the conversation to every vendor with
// chat.

/** The vendor that reads a recording, by the endpoint of the recording. */
const readers: Readonly<Record<string, (vendor: string) => string>> = {
  chat: (vendor) => (chatHouses.has(vendor) ? vendor : 'openai-compatible'),
  messages: () => 'anthropic',
  gemini: (vendor) => (vendor === 'vertex' ? 'vertex' : 'gemini'),
  converse: () => 'bedrock',
  nativechat: () => 'cohere',
  responses: () => 'openai',
};
const chatHouses = new Set(
  [...vendors.values()]
    .filter(
      ({ id, adapters: speaks }) =>
        speaks.chat !== undefined &&
        !['anthropic', 'gemini', 'vertex', 'bedrock', 'cohere'].includes(id),
    )
    .map(({ id }) => id),
);

/** An answer in a client's format. */
export interface Told {
  readonly id: string;
  readonly format: Format;
  readonly answer: Json;
}

const modelOf = ({ url, request }: Recording): string =>
  /\/models?\/([^/:]+(?::\d)?)[:/]/.exec(decodeURIComponent(url))?.[1] ??
  String(request?.['model'] ?? 'model');

function readAs(format: Format, recording: Recording, adapter: Adapter): Json | undefined {
  const target = { vendor: '', model: modelOf(recording), media: [], thinks: false };
  const body = { ...questions[format]([]), stream: recording.streamed };
  const call: VendorCall = callFor(format, body, target);
  let bytes: Buffer;
  if (recording.streamed) {
    const collector = adapter.collect(call);
    collector.push(recording.reply);
    if (collector.meter.fault !== undefined || !collector.meter.finished) return undefined;
    bytes = bufferOf(collector.answer().body);
  } else {
    const answer = adapter.read(recording.reply, 'application/json', call);
    if (isFault(answer)) return undefined;
    bytes = bufferOf(answer.body);
  }
  const answer: unknown = JSON.parse(bytes.toString('utf8'));
  return isObject(answer) ? answer : undefined;
}

/** Every recorded answer, or a random share of them by the seed, in every client format. */
export function answersIn(folder: string, draw: (id: string) => boolean = () => true): Told[] {
  return Object.entries(readers).flatMap(([endpoint, house]) =>
    recordingsAt(folder, endpoint)
      .filter(
        ({ id, status, request, vendor }) =>
          draw(id) &&
          status < 300 &&
          request !== undefined &&
          vendor !== 'openai-compatible' &&
          readable(endpoint, vendor, request),
      )
      .flatMap((recording) => {
        const vendor = vendors.get(house(recording.vendor));
        if (vendor === undefined) throw new Error(`nobody plays ${recording.vendor}`);
        // Recordings of /responses are read in that format alone: the chat adapter reads only its
        // own.
        const told = endpoint === 'responses' ? (['responses'] as const) : formats;
        return told.flatMap((format) => {
          const adapter = adaptersOf(vendor)[format];
          const answer = adapter === undefined ? undefined : readAs(format, recording, adapter);
          return answer === undefined || second(format, answer) === undefined
            ? []
            : [{ id: recording.id, format, answer }];
        });
      }),
  );
}

/**
 * Without version 1 of Cohere's chat, which is another format, without several choices, and without
 * Responses of a vendor whose chat format Tollgate uses.
 */
const readable = (endpoint: string, vendor: string, request: Json): boolean =>
  (endpoint !== 'nativechat' || Array.isArray(request['messages'])) &&
  (endpoint !== 'responses' || vendor !== 'deepseek') &&
  Number(request['n'] ?? 1) === 1 &&
  !Array.isArray(request['prompt']);

/** The shape of an answer: members, kinds, and whether texts are empty. */
function shapeOf(value: unknown): string {
  if (typeof value === 'string') return /\S/.test(value) ? 's' : 'blank';
  if (Array.isArray(value))
    return `[${value
      .map(shapeOf)
      .filter((shape, index, all) => shape !== all[index - 1])
      .join()}]`;
  if (!isObject(value)) return typeof value;
  const told = typeof value['type'] === 'string' ? `${value['type']}:` : '';
  const members = Object.entries(value).filter(
    ([name]) =>
      !['usage', 'input', 'arguments', 'logprobs', 'metadata', 'tools', 'text'].includes(name) ||
      typeof value[name] === 'string',
  );
  return `{${told}${members
    .map(([name, below]) => `${name}=${shapeOf(below)}`)
    .toSorted()
    .join(' ')}}`;
}

/** One answer of each shape. */
export function oneOfEach(all: readonly Told[]): Told[] {
  const seen = new Map<string, Told>();
  for (const one of all) {
    const key = `${one.format} ${one.id.replace(/-\d+$/, '')} ${shapeOf(said(one.format, one.answer))}`;
    if (!seen.has(key)) seen.set(key, one);
  }
  return [...seen.values()];
}

const first = 'What is the first question, 8d2?';
const next = 'And what comes after it, 41c?';
const result = (id: string): string => `the result of ${id}, 9f3`;

const schema = { type: 'object', properties: { city: { type: 'string' } } };

const questions: Readonly<Record<Format, (names: readonly string[]) => Json>> = {
  chat: (names) => ({
    messages: [{ role: 'user', content: first }],
    ...(names.length > 0 && {
      tools: names.map((name) => ({ type: 'function', function: { name, parameters: schema } })),
    }),
  }),
  responses: (names) => ({
    input: [{ role: 'user', content: first }],
    ...(names.length > 0 && {
      tools: names.map((name) => ({ type: 'function', name, parameters: schema, strict: false })),
    }),
  }),
  messages: (names) => ({
    max_tokens: 4096,
    messages: [{ role: 'user', content: first }],
    ...(names.length > 0 && { tools: names.map((name) => ({ name, input_schema: schema })) }),
  }),
};

/** The part of an answer that the client sends back. */
const said = (format: Format, answer: Json): unknown => {
  if (format === 'chat') return objectsOf(answer['choices'])[0]?.['message'];
  return format === 'responses' ? answer['output'] : answer['content'];
};

interface Called {
  readonly id: string;
  readonly name: string;
  readonly args: string;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

function callsOf(format: Format, answer: Json): Called[] {
  if (format === 'chat') {
    const message = said(format, answer);
    return objectsOf(isObject(message) ? message['tool_calls'] : undefined).map((call) => {
      const made = isObject(call['function']) ? call['function'] : {};
      return { id: text(call['id']), name: text(made['name']), args: text(made['arguments']) };
    });
  }
  if (format === 'responses')
    return objectsOf(answer['output'])
      .filter(({ type }) => type === 'function_call')
      .map((item) => ({
        id: text(item['call_id']),
        name: text(item['name']),
        args: text(item['arguments']),
      }));
  return objectsOf(answer['content'])
    .filter(({ type }) => type === 'tool_use')
    .map((block) => ({
      id: text(block['id']),
      name: text(block['name']),
      args: JSON.stringify(block['input']),
    }));
}

function textsOf(format: Format, answer: Json): string[] {
  if (format === 'chat') {
    const message = said(format, answer);
    return isObject(message) && typeof message['content'] === 'string' ? [message['content']] : [];
  }
  if (format === 'messages')
    return objectsOf(answer['content'])
      .filter(({ type }) => type === 'text')
      .map((block) => text(block['text']));
  return objectsOf(answer['output'])
    .filter(({ type }) => type === 'message')
    .flatMap((item) => objectsOf(item['content']).map((part) => text(part['text'])));
}

/** The client's next request; undefined when the answer has nothing to send back. */
function second(format: Format, answer: Json): Json | undefined {
  const calls = callsOf(format, answer);
  const names = [...new Set(calls.map(({ name }) => name))];
  const asks = questions[format](names);
  const back = said(format, answer);
  if (calls.length === 0 && !textsOf(format, answer).some((one) => /\S/.test(one)))
    return undefined;
  // A call without a name or an id is an error of the recording; no result can refer to it.
  if (calls.some(({ id, name }) => !/\S/.test(id) || !/\S/.test(name))) return undefined;
  if (format === 'chat') {
    const results = calls.map(({ id }) => ({
      role: 'tool',
      tool_call_id: id,
      content: result(id),
    }));
    return {
      ...asks,
      messages: [
        ...objectsOf(asks['messages']),
        back,
        ...(calls.length > 0 ? results : [{ role: 'user', content: next }]),
      ],
    };
  }
  if (format === 'responses') {
    const results = calls.map(({ id }) => ({
      type: 'function_call_output',
      call_id: id,
      output: result(id),
    }));
    return {
      ...asks,
      input: [
        ...objectsOf(asks['input']),
        ...objectsOf(back),
        ...(calls.length > 0 ? results : [{ role: 'user', content: next }]),
      ],
    };
  }
  const results = calls.map(({ id }) => ({
    type: 'tool_result',
    tool_use_id: id,
    content: result(id),
  }));
  return {
    ...asks,
    messages: [
      ...objectsOf(asks['messages']),
      { role: 'assistant', content: back },
      { role: 'user', content: calls.length > 0 ? results : next },
    ],
  };
}

/** Calls of tools that the first vendor ran itself: no other vendor can take them unchanged. */
const ofHostedTools = (answer: unknown): boolean =>
  /"type":"(?:server_tool_use|mcp_|[a-z_]+_tool_result|web_search_call|code_interpreter_call|mcp_list|image_generation_call|file_search_call|computer_call|tool_search|shell|apply_patch|custom_tool|compaction|container|program)/.test(
    JSON.stringify(answer),
  );

const blank = (value: string): string =>
  value.replaceAll(/\\[nrtbf"\\/]|\\u[0-9a-f]{4}|\s|"/gi, '');
const bare = (value: string): string => blank(JSON.stringify(value).slice(1, -1));

/** The parts of the answer that are missing in the second request. */
export function missing({ format, answer }: Told, { body }: Sent): string[] {
  const conversation = blank(
    JSON.stringify([
      body['system'] ?? body['systemInstruction'] ?? '',
      body['messages'] ?? body['input'] ?? body['contents'] ?? '',
    ]),
  );
  const calls = callsOf(format, answer);
  const argued = calls.flatMap(({ args }) => strings(args));
  const told = [
    bare(first),
    ...textsOf(format, answer)
      .flatMap((one) => one.split('\n'))
      .map(bare),
    ...calls.map(({ name }) => bare(name)),
    ...argued.map(bare),
  ].filter((one) => one !== '');
  const after = calls.length > 0 ? ['theresultof'] : [bare(next)];
  const lost = [...told, ...after].filter((one) => !conversation.includes(one));
  const at = (one: string): number => conversation.lastIndexOf(one);
  const end = Math.min(...after.map((one) => at(one)));
  const begin = conversation.indexOf(bare(first));
  const disordered =
    lost.length === 0 &&
    (begin > end ||
      told.slice(1).some((one) => conversation.indexOf(one) > at(after[after.length - 1] ?? '')));
  const results = calls.length > 0 ? conversation.split('theresultof').length - 1 : 0;
  return [
    ...lost.map((one) => `lost: ${one.slice(0, 60)}`),
    ...(disordered ? ['out of order'] : []),
    ...(calls.length > 0 && results < calls.length
      ? [`lost: ${calls.length - results} of ${calls.length} results`]
      : []),
  ];
}

function strings(json: string): string[] {
  const all = (value: unknown): string[] =>
    typeof value === 'string'
      ? value.split('\n')
      : isObject(value) || Array.isArray(value)
        ? Object.values(value).flatMap(all)
        : [];
  try {
    return all(JSON.parse(json || '{}'));
  } catch {
    return [];
  }
}

export interface Turn {
  readonly id: string;
  readonly format: Format;
  readonly target: Target;
  /** Empty when the turn is fine. */
  readonly wrong: readonly string[];
}

/** The vendor's request for the turn after an answer. */
export const secondAsked = ({ format, answer }: Told, target: Target): Sent | Refusal =>
  asked(format, second(format, answer) ?? {}, target);

/** The second turn after one answer, at one vendor. Undefined where that vendor cannot have it. */
export function turn(told: Told, target: Target): Turn | undefined {
  const { id, format, answer } = told;
  // A model without tools never gets results of calls.
  if (noTools.has(target.vendor) && callsOf(format, answer).length > 0) return undefined;
  const sent = secondAsked(told, target);
  if (sent instanceof Refusal)
    return ofHostedTools(answer) || sent.refusal === 'unsupported_content'
      ? undefined
      : { id, format, target, wrong: [`refused: ${sent.param ?? ''} ${sent.message}`] };
  return {
    id,
    format,
    target,
    wrong: [
      ...violations(target.vendor, sent.ask.path, target.model, sent.ask.headers, sent.body),
      ...missing(told, sent),
    ],
  };
}
const noTools = new Set(['perplexity']);

export const turnsAfter = (told: readonly Told[]): Turn[] =>
  told.flatMap((one) => chatTargets.flatMap((target) => turn(one, target) ?? []));

export const turnsShare = (turns: readonly Turn[]): string => {
  const wrong = turns.filter((one) => one.wrong.length > 0).length;
  return `${(((turns.length - wrong) * 100) / Math.max(1, turns.length)).toFixed(1)} % fine (${turns.length} second turns, ${wrong} wrong)`;
};
