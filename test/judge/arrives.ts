import { isObject, type Json, listOf, memberAt, objectsOf } from '../vendor-schemas/shape.ts';
import type { Sent } from './asking.ts';
import type { Target } from './targets.ts';

// The place of a client's member after translation: the same member, its equivalent in the vendor's
// format, or the list of dropped ones. This is the judge's own list, independent of the adapters.

/** The names of client parameters in vendors' formats. */
const elsewhere: Readonly<Record<string, readonly string[]>> = {
  max_tokens: [
    'max_completion_tokens',
    'max_output_tokens',
    'generationConfig.maxOutputTokens',
    'inferenceConfig.maxTokens',
  ],
  temperature: ['generationConfig.temperature', 'inferenceConfig.temperature'],
  top_p: ['p', 'generationConfig.topP', 'inferenceConfig.topP'],
  top_k: [
    'k',
    'generationConfig.topK',
    'additionalModelRequestFields.top_k',
    'additionalModelRequestFields.inferenceConfig.topK',
  ],
  stop: ['stop_sequences', 'generationConfig.stopSequences', 'inferenceConfig.stopSequences'],
  n: ['generationConfig.candidateCount'],
  seed: ['random_seed', 'generationConfig.seed'],
  frequency_penalty: ['generationConfig.frequencyPenalty'],
  presence_penalty: ['generationConfig.presencePenalty'],
  logprobs: ['generationConfig.responseLogprobs', 'include'],
  top_logprobs: ['generationConfig.logprobs'],
  response_format: [
    'text.format',
    'output_config.format',
    'output_format',
    'outputConfig.textFormat',
    'generationConfig.responseMimeType',
    'generationConfig.responseSchema',
  ],
  effort: [
    'reasoning_effort',
    'reasoning',
    'thinking',
    'output_config.effort',
    'generationConfig.thinkingConfig',
    'additionalModelRequestFields',
    'outputConfig.effort',
    'enable_thinking',
    'include_reasoning',
  ],
  verbosity: ['text.verbosity'],
  user: ['metadata.user_id', 'user_id', 'safety_identifier', 'requestMetadata', 'labels'],
  metadata: [
    'metadata.user_id',
    'user_id',
    'user',
    'safety_identifier',
    'requestMetadata',
    'labels',
  ],
  service_tier: ['serviceTier', 'serviceTier.type'],
  modalities: ['generationConfig.responseModalities'],
  instructions: ['system', 'systemInstruction', 'messages', 'input'],
  system: ['instructions', 'systemInstruction', 'messages', 'input'],
  include: ['logprobs', 'reasoning'],
};
/** The client's different names of one parameter. */
const alike: Readonly<Record<string, string>> = {
  max_completion_tokens: 'max_tokens',
  max_output_tokens: 'max_tokens',
  stop_sequences: 'stop',
  reasoning_effort: 'effort',
  reasoning: 'effort',
  thinking: 'effort',
  safety_identifier: 'user',
  output_format: 'response_format',
};

/** Values without effect: the defaults. */
const nothing: Readonly<Record<string, readonly unknown[]>> = {
  n: [1],
  temperature: [1],
  top_p: [1],
  frequency_penalty: [0],
  presence_penalty: [0],
  logprobs: [false],
  top_logprobs: [0],
  parallel_tool_calls: [true],
  tool_choice: ['auto'],
  service_tier: ['auto', 'default', 'standard_only', 'on_demand'],
  truncation: ['disabled'],
  background: [false],
  verbosity: ['medium'],
  store: [false, true],
  echo: [false],
};

const set = (value: unknown): boolean => value !== undefined && value !== null;
const empty = (value: unknown): boolean =>
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0) ||
  value === '';

/** All texts of a request, in which each expected text is searched. */
interface Haystack {
  readonly text: string;
  readonly base64: string;
}
const blank = (text: string): string => text.replaceAll(/\\[nrt"\\/]|\s|"/g, '');
const haystack = (value: unknown): Haystack => {
  const text = JSON.stringify(value);
  return { text: blank(text), base64: text };
};

/**
 * The texts of a conversation, the names and arguments of its calls, its media. White space and
 * order within a text do not count.
 */
function words(value: unknown, name = ''): string[] {
  if (typeof value === 'string') return wordy.has(name) ? [value] : [];
  if (Array.isArray(value)) return value.flatMap((one) => words(one, name));
  if (!isObject(value)) return [];
  if (
    value['type'] === 'thinking' ||
    value['type'] === 'reasoning' ||
    value['type'] === 'redacted_thinking'
  )
    return [];
  return Object.entries(value).flatMap(([key, below]) =>
    key === 'input' && isObject(below)
      ? Object.values(below).flatMap((one) => words(one, 'text'))
      : words(below, key),
  );
}
const wordy = new Set([
  'text',
  'content',
  'output',
  'arguments',
  'input',
  'instructions',
  'system',
  'data',
  'image_url',
  'url',
  'file_data',
  'refusal',
]);

function missingWords(said: unknown, name: string, { text, base64 }: Haystack): string[] {
  return words(said, name).flatMap((word) => {
    if (word.startsWith('data:'))
      return base64.includes(word.replace(/^data:[^,]*,/, '').slice(0, 200))
        ? []
        : [`the medium ${word.slice(0, 30)}…`];
    if (/^https?:/.test(word)) return [];
    const said = /^\s*[[{]/.test(word) ? values(word) : [word];
    return said
      .filter((one) => !text.includes(blank(JSON.stringify(one).slice(1, -1))))
      .map((one) => `the text ${JSON.stringify(one.slice(0, 60))}`);
  });
}

/** The strings of JSON arguments and results, which may arrive as an object. */
function values(json: string): string[] {
  try {
    const strings = (value: unknown): string[] =>
      typeof value === 'string'
        ? [value]
        : isObject(value) || Array.isArray(value)
          ? Object.values(value).flatMap(strings)
          : [];
    return strings(JSON.parse(json));
  } catch {
    return [json];
  }
}

/** A schema may also arrive as text or as a tool, if the vendor has no format member. */
function schemaArrives(format: unknown, { body, call }: Sent): boolean {
  const schema = memberAt(format, 'json_schema.schema') ?? memberAt(format, 'schema');
  const names =
    isObject(schema) && isObject(schema['properties']) ? Object.keys(schema['properties']) : [];
  const asking = new Set(['response_format', 'text', 'output_config', 'output_format']);
  const rest = JSON.stringify(
    Object.fromEntries(Object.entries(call.body).filter(([name]) => !asking.has(name))),
  );
  const sent = JSON.stringify(body);
  return (
    names.length > 0 && names.every((name) => sent.split(name).length > rest.split(name).length)
  );
}

const toolNames = (tools: unknown): string[] =>
  objectsOf(tools).flatMap((tool) => {
    const name = isObject(tool['function'])
      ? tool['function']['name']
      : (tool['name'] ?? (isObject(tool['custom']) ? tool['custom']['name'] : undefined));
    return typeof name === 'string' ? [name] : [];
  });

/**
 * The gateway cuts the answer at the client's stop sequence, if the vendor has no such parameter.
 */
function stopsByItself({ adapter, call, ask }: Sent, stops: readonly unknown[]): boolean {
  const [word] = stops;
  if (typeof word !== 'string') return true;
  const said = `before ${word} after`;
  const reply = ask.path.endsWith('responses')
    ? {
        id: 'resp_1',
        object: 'response',
        created_at: 1,
        status: 'completed',
        model: 'm',
        output: [
          {
            type: 'message',
            id: 'msg_1',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: said, annotations: [] }],
          },
        ],
        usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
      }
    : ask.path.endsWith('chat/completions')
      ? {
          id: 'c',
          object: 'chat.completion',
          created: 1,
          model: 'm',
          choices: [
            { index: 0, message: { role: 'assistant', content: said }, finish_reason: 'stop' },
          ],
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        }
      : undefined;
  if (reply === undefined) return false;
  const answer = adapter.read(Buffer.from(JSON.stringify(reply)), 'application/json', call);
  return (
    'body' in answer &&
    answer.body.toString('utf8').includes('before') &&
    !answer.body.toString('utf8').includes(' after')
  );
}

/**
 * Whether the gateway added a text for a request that the vendor has no member for (a schema, a
 * forced tool call).
 */
function toldInWords(sent: Sent, pattern: RegExp): boolean {
  const times = (value: unknown): number =>
    JSON.stringify(value).match(new RegExp(pattern.source, 'gi'))?.length ?? 0;
  return times(sent.body) > times(sent.call.body);
}

const somewhere = (sent: Json, member: string): boolean =>
  [
    member,
    ...(elsewhere[alike[member] ?? member] ?? []),
    ...(alike[member] === undefined ? [] : [alike[member]]),
  ].some((path) => set(memberAt(sent, path)));

/** Members of an object that are parameters of their own. */
const nested: Readonly<Record<string, readonly (readonly [path: string, as: string])[]>> = {
  text: [
    ['text.format', 'response_format'],
    ['text.verbosity', 'verbosity'],
  ],
  output_config: [
    ['output_config.format', 'response_format'],
    ['output_config.effort', 'effort'],
  ],
};

/** The parts of a client's member that did not reach the vendor. */
export function lost(member: string, sent: Sent, { thinks }: Target): string[] {
  const value = memberAt(sent.call.body, member);
  if (!set(value) || (nothing[member] ?? []).includes(value) || ours.has(member)) return [];
  if (!thinks && quiet(value)) return [];
  if (nested[member] !== undefined)
    return nested[member]
      .filter(([path]) => set(memberAt(sent.call.body, path)))
      .flatMap(([path, as]) => wish(path, as, memberAt(sent.call.body, path), sent));
  return wish(member, member, value, sent);
}

/** The value turns reasoning off, which some models do anyway. */
const quiet = (value: unknown): boolean =>
  value === 'none' ||
  (isObject(value) &&
    (value['type'] === 'disabled' || value['effort'] === 'none' || value['enabled'] === false));

/** Members that the gateway handles itself: the model, streaming, storage. */
const ours = new Set([
  'model',
  'stream',
  'stream_options',
  'store',
  'previous_response_id',
  'conversation',
  'anthropic_version',
  'usage',
  'include_reasoning',
]);

/** Members of which a part may be reported as dropped, while the rest arrives. */
const partly = new Set([
  'messages',
  'input',
  'system',
  'instructions',
  'response_format',
  'output_format',
  'reasoning',
  'thinking',
]);

/** The value without the member at this path, in each entry of a list. */
function without(value: unknown, [step, ...below]: readonly string[]): unknown {
  if (step === undefined) return undefined;
  if (Array.isArray(value))
    return value.map((one, i) =>
      /^\d+$/.test(step)
        ? i === Number(step)
          ? without(one, below)
          : one
        : without(one, [step, ...below]),
    );
  if (!isObject(value) || !(step in value)) return value;
  return { ...value, [step]: without(value[step], below) };
}

function wish(path: string, as: string, given: unknown, sent: Sent): string[] {
  const { body, ask } = sent;
  const named = (ask.dropped ?? []).filter(
    (name) => name === path || name.startsWith(`${path}.`) || name.startsWith(`${path}[`),
  );
  if (named.includes(path) || (named.length > 0 && !partly.has(as))) return [];
  const steps = (name: string): string[] =>
    name
      .slice(path.length)
      .split(/[.[\]]+/)
      .filter((step) => step !== '');
  const value = named.reduce((rest: unknown, name) => without(rest, steps(name)), given);
  switch (as) {
    case 'messages':
    case 'input':
    case 'system':
    case 'instructions':
      return missingWords(
        value,
        as === 'messages' || as === 'input' ? 'content' : 'text',
        haystack(body),
      ).map((what) => `${path}: ${what} is lost`);
    case 'tools':
      return toolNames(value)
        .filter(
          (name) =>
            !JSON.stringify(body['tools'] ?? body['toolConfig'] ?? '').includes(`"${name}"`),
        )
        .filter(() => !choosesNone(sent.call.body))
        .map((name) => `tools: ${name} is lost`);
    default:
      return arrives(path, as, value, sent) ? [] : [`${path}: is lost`];
  }
}

/** Whether a member arrived that cannot arrive in parts. */
function arrives(path: string, as: string, value: unknown, sent: Sent): boolean {
  const { body } = sent;
  switch (as) {
    case 'functions':
      return somewhere(body, 'functions') || somewhere(body, 'tools');
    case 'tool_choice':
      return chosen(value, sent);
    case 'parallel_tool_calls':
      return (
        body['parallel_tool_calls'] === false ||
        JSON.stringify(body).includes('"disable_parallel_tool_use":true') ||
        objectsOf(sent.call.body['tools']).length === 0
      );
    case 'stop':
    case 'stop_sequences':
      return (
        empty(value) ||
        somewhere(body, 'stop') ||
        stopsByItself(sent, Array.isArray(value) ? value : [value])
      );
    case 'response_format':
    case 'output_format':
      return (
        (isObject(value) && value['type'] === 'text') ||
        somewhere(body, 'response_format') ||
        schemaArrives(value, sent) ||
        toldInWords(sent, /json (?:schema|object)|valid json|as json/)
      );
    case 'reasoning_effort':
    case 'reasoning':
    case 'thinking':
    case 'effort':
      return (
        empty(value) ||
        (isObject(value) && !Object.values(value).some(set)) ||
        somewhere(body, 'effort')
      );
    case 'include':
      // The gateway carries signed content in its own way; it refuses sources and images of tools
      // with the tools.
      return (
        listOf(value).every((one) => one === 'reasoning.encrypted_content') ||
        somewhere(body, 'include')
      );
    case 'temperature':
      return somewhere(body, as) || (typeof value === 'number' && value > 1 && somewhere(body, as));
    case 'modalities':
      return (Array.isArray(value) && value.every((one) => one === 'text')) || somewhere(body, as);
    case 'web_search_options':
      return (
        somewhere(body, as) ||
        /web_search|google_?search/i.test(JSON.stringify(body['tools'] ?? ''))
      );
    default:
      return empty(value) || somewhere(body, path) || somewhere(body, as);
  }
}

const choosesNone = ({ tool_choice }: Json): boolean =>
  tool_choice === 'none' || (isObject(tool_choice) && tool_choice['type'] === 'none');

function chosen(choice: unknown, sent: Sent): boolean {
  const kind = isObject(choice) ? choice['type'] : choice;
  if (kind === 'auto' || objectsOf(sent.call.body['tools']).length === 0) {
    return (
      !isObject(choice) ||
      choice['disable_parallel_tool_use'] !== true ||
      /disable_parallel_tool_use":true|parallel_tool_calls":false/.test(
        JSON.stringify(sent.body),
      ) ||
      (sent.ask.dropped ?? []).some((name) => /parallel/.test(name))
    );
  }
  const told =
    set(sent.body['tool_choice']) ||
    set(memberAt(sent.body, 'toolConfig.toolChoice')) ||
    set(memberAt(sent.body, 'toolConfig.functionCallingConfig'));
  if (kind === 'none')
    return (
      told ||
      (!set(sent.body['tools']) && !set(sent.body['toolConfig'])) ||
      toldInWords(sent, /do not (?:call|use) (?:any )?(?:tool|function)/i)
    );
  return told || toldInWords(sent, /must (?:call|use)/i);
}
