import { type Dict, dict, list, number, parsed, string } from '../support/loose-json.ts';

// What a request tells a model, read from Gemini's format and from OpenAI's chat into one shape:
// two readings of the vendors' pages that know no code of the gateway.

/** One side's words until the other side speaks. Texts are without white space. */
interface Turn {
  readonly role: 'user' | 'model';
  text: string;
  readonly calls: unknown[];
  readonly results: unknown[];
  /** The base64 text, or the address. */
  readonly media: string[];
}

export interface Said {
  readonly system: string;
  readonly turns: readonly Turn[];
  readonly tools: readonly unknown[];
  readonly choice: unknown;
  readonly format: unknown;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** Google reads names in camelCase and in snake_case. */
export const member = (of: Dict, name: string): unknown =>
  of[name] ?? of[name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`)];
const one = (value: unknown): unknown[] =>
  value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];
const blank = (text: string): string => text.replaceAll(/\s/g, '');
const known = (all: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== undefined && value !== null),
  );

function turnOf(turns: Turn[], role: Turn['role']): Turn {
  const last = turns.at(-1);
  if (last?.role === role) return last;
  const turn: Turn = { role, text: '', calls: [], results: [], media: [] };
  turns.push(turn);
  return turn;
}

/** What a request in Gemini's format tells. */
export function nativeSaid(native: Dict): Said {
  const turns: Turn[] = [];
  for (const content of one(native['contents']).map(dict))
    for (const part of one(content['parts']).map(dict))
      readPart(part, turns, content['role'] === 'model' ? 'model' : 'user');
  const system = one(dict(member(native, 'systemInstruction'))['parts'])
    .map((part) => string(dict(part)['text']))
    .join('');
  const config = dict(member(native, 'generationConfig'));
  const tools = one(native['tools']).flatMap((tool) =>
    one(member(dict(tool), 'functionDeclarations')).map(dict),
  );
  const choice = nativeChoice(native);
  const allowed = new Set(one(choice['allowed']));
  return {
    system: blank(system),
    turns,
    tools: tools
      .filter(({ name }) => choice['mode'] !== 'ANY' || allowed.size < 2 || allowed.has(name))
      .map((tool) => ({
        name: tool['name'],
        description: blank(string(tool['description'])),
        schema: core(member(tool, 'parametersJsonSchema') ?? tool['parameters']),
      })),
    choice: tools.length === 0 ? 'auto' : wordOf(choice),
    format: nativeFormat(config),
    settings: nativeSettings(config),
  };
}

function readPart(part: Dict, turns: Turn[], role: Turn['role']): void {
  if (part['thought'] === true) return;
  const call = dict(member(part, 'functionCall'));
  const result = dict(member(part, 'functionResponse'));
  const inline = dict(member(part, 'inlineData'));
  const file = dict(member(part, 'fileData'));
  if (typeof part['text'] === 'string') {
    if (blank(part['text']) !== '') turnOf(turns, role).text += blank(part['text']);
  } else if (typeof call['name'] === 'string')
    turnOf(turns, role).calls.push({ name: call['name'], args: call['args'] ?? {} });
  else if (typeof result['name'] === 'string') {
    const turn = turnOf(turns, role);
    turn.results.push({ name: result['name'], told: result['response'] ?? {} });
    for (const media of one(result['parts']).map(dict))
      readInline(dict(member(media, 'inlineData')), turn);
  } else if (inline['data'] !== undefined) readInline(inline, turnOf(turns, role));
  else if (typeof member(file, 'fileUri') === 'string')
    turnOf(turns, role).media.push(string(member(file, 'fileUri')));
}

/** Google takes both alphabets of base64; a text is a text to a chat model. */
function readInline(inline: Dict, turn: Turn): void {
  const data = string(inline['data']).replaceAll('-', '+').replaceAll('_', '/');
  if (string(member(inline, 'mimeType')).startsWith('text/'))
    turn.text += blank(Buffer.from(data, 'base64').toString('utf8'));
  else turn.media.push(data);
}

function nativeChoice(native: Dict): Dict {
  const calling = dict(member(dict(member(native, 'toolConfig')), 'functionCallingConfig'));
  return {
    mode: string(calling['mode']).toUpperCase(),
    allowed: member(calling, 'allowedFunctionNames'),
  };
}

/** Chat's word for Gemini's mode. */
function wordOf({ mode, allowed }: Dict): unknown {
  if (mode === 'NONE') return 'none';
  if (mode !== 'ANY') return 'auto';
  const names = one(allowed);
  return names.length === 1 ? { name: names[0] } : 'required';
}

function nativeFormat(config: Dict): unknown {
  const type = member(config, 'responseMimeType');
  const schema =
    member(config, 'responseJsonSchema') ??
    config['_responseJsonSchema'] ??
    member(config, 'responseSchema');
  if (type === undefined || type === 'text/plain' || type === null) return undefined;
  return schema === undefined || schema === null ? 'json' : core(schema);
}

function nativeSettings(config: Dict): Readonly<Record<string, unknown>> {
  const stops = one(member(config, 'stopSequences'));
  const count = member(config, 'candidateCount');
  return known({
    temperature: config['temperature'],
    top_p: member(config, 'topP'),
    limit: member(config, 'maxOutputTokens'),
    stop: stops.length === 0 ? undefined : stops,
    n: count === 1 ? undefined : count,
    seed: config['seed'],
    presence: member(config, 'presencePenalty'),
    frequency: member(config, 'frequencyPenalty'),
    logprobs: member(config, 'responseLogprobs') === true ? true : undefined,
    top_logprobs: member(config, 'responseLogprobs') === true ? config['logprobs'] : undefined,
    effort: effortOf(dict(member(config, 'thinkingConfig'))),
  });
}

const lowMax = 1_024;
const mediumMax = 8_192;

function effortOf(thinking: Dict): string | undefined {
  const level = member(thinking, 'thinkingLevel');
  if (typeof level === 'string') return level.toLowerCase();
  const budget = member(thinking, 'thinkingBudget');
  if (typeof budget !== 'number' || budget < 0) return undefined;
  if (budget === 0) return 'none';
  return budget <= lowMax ? 'low' : budget <= mediumMax ? 'medium' : 'high';
}

/** What a request in OpenAI's chat convention tells. */
export function chatSaid(chat: Dict): Said {
  const turns: Turn[] = [];
  const names = new Map<string, string>();
  let system = '';
  for (const message of list(chat['messages']).map(dict)) {
    const role = string(message['role']);
    if (role === 'system' || role === 'developer') system += chatText(message['content']);
    else if (role === 'tool') readResult(message, turns, names);
    else readMessage(message, turns, names);
  }
  const tools = list(chat['tools']).map((tool) => dict(dict(tool)['function']));
  const chosen = dict(dict(chat['tool_choice'])['allowed_tools'])['tools'];
  const allowed =
    chosen === undefined
      ? undefined
      : list(chosen).map((tool) => dict(dict(tool)['function'])['name']);
  return {
    system: blank(system),
    turns,
    tools: tools
      .filter(({ name }) => allowed === undefined || allowed.includes(name))
      .map((tool) => ({
        name: tool['name'],
        description: blank(string(tool['description'])),
        schema: core(tool['parameters']),
      })),
    choice: chatChoice(chat['tool_choice']),
    format: chatFormat(dict(chat['response_format'])),
    settings: chatSettings(chat),
  };
}

const chatText = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : list(content)
        .map((part) => string(dict(part)['text']))
        .join('');

function readMessage(message: Dict, turns: Turn[], names: Map<string, string>): void {
  const media = chatMedia(message['content']);
  // A medium of a tool's result comes after the results, under the name of its call.
  const text = blank(chatText(message['content'])).replaceAll(/Resultofthecall[^:]*:/g, '');
  const calls = list(message['tool_calls']).map(dict);
  if (text === '' && media.length + calls.length === 0) return;
  const turn = turnOf(turns, message['role'] === 'assistant' ? 'model' : 'user');
  turn.text += text;
  turn.media.push(...media);
  for (const call of calls) {
    const called = dict(call['function']);
    names.set(string(call['id']), string(called['name']));
    turn.calls.push({ name: called['name'], args: parsed(string(called['arguments'])) });
  }
}

function readResult(message: Dict, turns: Turn[], names: ReadonlyMap<string, string>): void {
  const turn = turnOf(turns, 'user');
  const text = chatText(message['content']);
  turn.results.push({
    name: names.get(string(message['tool_call_id'])),
    told: parsed(text) ?? text,
  });
  turn.media.push(...chatMedia(message['content']));
}

function chatMedia(content: unknown): string[] {
  return list(content)
    .map(dict)
    .flatMap((part) => {
      const url =
        string(dict(part['image_url'])['url']) ||
        string(dict(part['video_url'])['url']) ||
        string(dict(part['file'])['file_data']) ||
        string(dict(part['file'])['file_url']) ||
        string(dict(part['input_audio'])['data']);
      return url === '' ? [] : [url.replace(/^data:[^,]*,/, '')];
    });
}

function chatChoice(choice: unknown): unknown {
  if (choice === undefined || choice === null) return 'auto';
  if (typeof choice === 'string') return choice;
  const allowed = dict(dict(choice)['allowed_tools'])['mode'];
  return allowed ?? { name: dict(dict(choice)['function'])['name'] };
}

function chatFormat(format: Dict): unknown {
  if (format['type'] === 'json_schema') return core(dict(format['json_schema'])['schema']);
  return format['type'] === 'json_object' ? 'json' : undefined;
}

function chatSettings(chat: Dict): Readonly<Record<string, unknown>> {
  const { stop, n } = chat;
  return known({
    temperature: chat['temperature'],
    top_p: chat['top_p'],
    limit: chat['max_completion_tokens'] ?? chat['max_tokens'],
    stop: stop === undefined || stop === null ? undefined : one(stop),
    n: n === 1 ? undefined : n,
    seed: chat['seed'],
    presence: chat['presence_penalty'],
    frequency: chat['frequency_penalty'],
    logprobs: chat['logprobs'] === true ? true : undefined,
    top_logprobs: chat['top_logprobs'],
    effort: chat['reasoning_effort'] ?? dict(chat['reasoning'])['effort'],
  });
}

/** Google's types, which some clients write as numbers. */
const numbered = ['unknown', 'string', 'number', 'integer', 'boolean', 'array', 'object', 'null'];

/**
 * A schema by what it demands: types in lower case, `nullable` as the type null, members, choices
 * and items. Descriptions and titles do not count.
 */
function core(schema: unknown): unknown {
  const { nullable, ...all } = dict(schema);
  if (Object.keys(all).length === 0) return {};
  const none = nullable === true ? [{ types: ['null'] }] : [];
  const types = one(all['type']).map((type) =>
    typeof type === 'number' ? (numbered[type] ?? 'unknown') : String(type).toLowerCase(),
  );
  const choices = one(all['anyOf'] ?? all['any_of'] ?? all['oneOf']).map(core);
  const properties = Object.entries(dict(all['properties'])).map(
    ([name, value]) => [name, core(value)] as const,
  );
  const kept = known({
    types:
      types.length === 0
        ? undefined
        : [...new Set([...types, ...none.map(() => 'null')])].toSorted(),
    choices: choices.length === 0 ? undefined : [...choices, ...(types.length === 0 ? none : [])],
    properties: properties.length === 0 ? undefined : Object.fromEntries(properties),
    required:
      one(all['required']).length === 0 ? undefined : one(all['required']).map(String).toSorted(),
    enum:
      all['enum'] === undefined ? undefined : one(all['enum']).filter((value) => value !== null),
    items: all['items'] === undefined ? undefined : core(all['items']),
    ref: all['$ref'],
    defs: all['$defs'] === undefined ? undefined : Object.keys(dict(all['$defs'])).toSorted(),
    ...bounds(all),
  });
  return kept;
}

/** Google writes 64-bit numbers as texts. */
function bounds(schema: Dict): Dict {
  const names = ['minItems', 'maxItems', 'minLength', 'maxLength', 'minimum', 'maximum'];
  return Object.fromEntries(
    names
      .filter((name) => member(schema, name) !== undefined)
      .map((name) => [name, Number(member(schema, name))]),
  );
}

/** Token counts of an answer in Gemini's format, as its sums. */
export function usageAddsUp(usage: Dict): boolean {
  const parts = [
    'promptTokenCount',
    'candidatesTokenCount',
    'thoughtsTokenCount',
    'toolUsePromptTokenCount',
  ].map((name) => number(usage[name]));
  return parts.reduce((sum, part) => sum + part, 0) === number(usage['totalTokenCount']);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, below]) => below !== undefined)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, below]) => [name, sorted(below)]),
  );
}
/** The same JSON, whatever the order of members. */
export const sameJson = (got: unknown, want: unknown): boolean =>
  JSON.stringify(sorted(got)) === JSON.stringify(sorted(want));
