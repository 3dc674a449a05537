import {
  type JsonChange,
  jsonText,
  type JsonPath,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  textOf,
} from '../../base/json.ts';
import { refuse } from '../../base/refusal.ts';
import { answerMembers, type MessagesRule } from './rows.ts';
import {
  noteDropped,
  reportUnsupported,
  refuseParam,
  type ModelRules,
  type RequestEdits,
} from './rules.ts';

const known: ReadonlySet<string> = new Set(answerMembers);

/** Members that hold a model's reasoning. Its text has one of the two names. */
const thoughtTexts = ['reasoning_content', 'reasoning'] as const;
const thoughts: ReadonlySet<string> = new Set([
  ...thoughtTexts,
  'reasoning_details',
  'thinking_blocks',
  'thinking',
]);

/**
 * Replaces reasoning that the client did not keep: the vendor requires some, and takes no empty
 * string.
 */
const lostThoughts = '"."';

/** Types of parts that OpenAI's chat and formats like it define. Any other type passes. */
const knownParts = new Set([
  'text',
  'image_url',
  'input_audio',
  'file',
  'video_url',
  'video',
  'refusal',
]);

/**
 * Removes or renames the members of messages that the next vendor does not take. Any vendor may
 * have written the earlier answers.
 */
export function fitMessages(
  messages: unknown,
  model: string,
  rules: ModelRules,
  reasoning: boolean,
  edits: RequestEdits,
): void {
  const { developer, messages: turns, parts } = rules;
  if (!Array.isArray(messages)) return;
  for (let i = 0; i < messages.length; i++) {
    const message: unknown = messages[i];
    if (!isObject(message)) continue;
    const { role } = message;
    if (role === 'developer' && developer !== undefined)
      edits.changes.push({ path: ['messages', i, 'role'], json: `"${developer}"` });
    if (turns !== undefined) {
      if (role === 'assistant') {
        fitAssistantMessage(message, ['messages', i], turns, reasoning, edits);
        fitPrefix(message, ['messages', i], turns, i === messages.length - 1, edits);
      }
      if (turns.lacks !== undefined)
        removeMessageMembers(message, ['messages', i], turns.lacks, edits);
    }
    const { content } = message;
    if (!Array.isArray(content)) continue;
    if (parts !== undefined) checkParts(content, i, model, parts, rules.refusesParts, edits);
    if (turns?.partsLack !== undefined) fitParts(content, i, turns.partsLack, edits);
    if (turns?.documents !== undefined) fitDocuments(content, i, model, turns.documents, edits);
  }
  if (turns?.system === 'before') moveSystem(messages, edits);
}

/** Whether a message has instructions. */
export const isSystem = (message: unknown): message is JsonObject =>
  isObject(message) && (message['role'] === 'system' || message['role'] === 'developer');

/**
 * Moves system messages to positions that the vendor takes. Agents put reminders for their models
 * at the end of a conversation.
 */
function moveSystem(messages: readonly unknown[], { changes }: RequestEdits): void {
  let end = messages.length;
  while (end > 0 && isSystem(messages[end - 1])) end--;
  const host = messages[end - 1];
  for (let i = 1; i < messages.length; i++) {
    const before = messages[i - 1];
    if (isSystem(messages[i]) && isObject(before) && before['role'] === 'assistant')
      changes.push({ path: ['messages', i, 'role'], json: '"user"' });
  }
  if (end === messages.length || !isObject(host) || host['role'] === 'assistant') return;
  const words = messages
    .slice(end)
    .map((message) => messageText(isObject(message) ? message['content'] : undefined));
  const { content } = host;
  const said = Array.isArray(content)
    ? [...listOf(content), ...words.map((text) => ({ type: 'text', text }))]
    : [typeof content === 'string' ? content : '', ...words].join('\n\n');
  changes.push({ path: ['messages', end - 1, 'content'], json: jsonText(said) });
  for (let i = end; i < messages.length; i++) changes.push({ path: ['messages', i] });
}

/** The words between two messages that a vendor does not take directly after each other. */
const between = { user: '…', assistant: 'Understood.' } as const;

/**
 * The messages for a vendor that takes system messages at the beginning alone, and after them the
 * user's and the assistant's in turns. Messages of one side become one. The same list where it has
 * this order already.
 */
export function alternating(messages: unknown): unknown {
  const all: JsonObject[] = [];
  let kept = true;
  for (const message of listOf(messages)) {
    if (!isObject(message)) return messages;
    const last = all.at(-1);
    const opens = last === undefined || isSystem(last);
    const said = isSystem(message) && !opens ? { ...message, role: 'user' } : message;
    const word = wordBetween(opens ? undefined : last['role'], said['role']);
    if (last !== undefined && isOneTurn(last, said)) {
      const content = contentsTogether(last['content'], said['content']);
      all[all.length - 1] = { ...last, ...said, content };
      kept = false;
      continue;
    }
    if (word !== undefined) all.push({ role: word, content: between[word] });
    kept &&= said === message && word === undefined;
    all.push(said);
  }
  return kept ? messages : all;
}

const isOneTurn = (first: JsonObject, second: JsonObject): boolean =>
  (isSystem(first) ? isSystem(second) : first['role'] === second['role']) &&
  second['role'] !== 'tool' &&
  listOf(first['tool_calls']).length === 0;

/** Who has to speak between these two; `before` is undefined at the beginning. */
function wordBetween(before: unknown, role: unknown): keyof typeof between | undefined {
  if (before === undefined && role === 'assistant') return 'user';
  return before === 'tool' && role === 'user' ? 'assistant' : undefined;
}

function contentsTogether(first: unknown, second: unknown): unknown {
  if (!Array.isArray(first) && !Array.isArray(second))
    return [textOf(first), textOf(second)].filter(Boolean).join('\n\n');
  const parts = (content: unknown): readonly unknown[] =>
    Array.isArray(content) ? content : [{ type: 'text', text: textOf(content) ?? '' }];
  return [...parts(first), ...parts(second)];
}

const messageText = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : listOf(content)
        .map((part) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : ''))
        .join('');

/**
 * Fits one message of the assistant: members that its vendor gave with the answer stay where the
 * next vendor takes them.
 */
function fitAssistantMessage(
  message: JsonObject,
  at: JsonPath,
  rule: MessagesRule,
  reasoning: boolean,
  edits: RequestEdits,
): void {
  const renames = hasAnswerMembers(message) && fitAnswerMembers(message, at, rule, edits);
  fitToolCalls(listOf(message['tool_calls']), at, rule.callsLack ?? [], edits);
  if (rule.needsThoughts && reasoning && !renames && callsWithoutThoughts(message))
    edits.changes.push({ path: [...at, 'reasoning_content'], json: lostThoughts });
}

/** Whether the message has more than text and calls. Most messages have not. */
function hasAnswerMembers(message: JsonObject): boolean {
  for (const name in message) if (known.has(name)) return true;
  return false;
}

/**
 * Fits the members beside text and calls. True: the text of the reasoning is sent under another
 * name.
 */
function fitAnswerMembers(
  message: JsonObject,
  at: JsonPath,
  { assistant }: MessagesRule,
  edits: RequestEdits,
): boolean {
  const { changes } = edits;
  const takes = (name: string): boolean => assistant.some((one) => one === name);
  const text = thoughtTexts.find((name) => says(message[name]));
  const renamed =
    text === undefined || takes(text)
      ? undefined
      : thoughtTexts.find((name) => takes(name) && !says(message[name]));
  const thinks =
    renamed !== undefined || thoughtTexts.some((name) => takes(name) && says(message[name]));
  for (const name in message) {
    const value = message[name];
    // A call in the old form (`function_call`) is never left out: a vendor that does not take it
    // refuses it.
    if (!known.has(name) || value === undefined || (name === 'function_call' && isNamed(value)))
      continue;
    if (name === text && renamed !== undefined)
      changes.push({ path: [...at, name], name: renamed });
    else if (name === 'audio' && assistant.includes('audio.id'))
      fitAudio(value, [...at, name], changes);
    else if (!takes(name) || name === renamed || (name === 'function_call' && value !== null)) {
      changes.push({ path: [...at, name] });
      if (name === 'refusal' && says(value) && !says(message['content']))
        changes.push({ path: [...at, 'content'], json: jsonText(value) });
      else if (saysMember(name, value) && !(thinks && thoughts.has(name)))
        noteDropped(`messages[].${name}`, edits);
    }
  }
  return renamed !== undefined;
}

/**
 * The members of the assistant's messages that are left out where a conversation is rewritten in
 * another format: all but text, calls, and the reasoning that is carried over. `goesOn` says for
 * the index of a message whether its reasoning is. `extraContent`: signatures of calls are, too.
 */
export function droppedAnswerMembers(
  messages: unknown,
  goesOn: (index: number) => boolean,
  extraContent = false,
): string[] {
  const edits: RequestEdits = { changes: [], dropped: [] };
  listOf(messages).forEach((message, i) => {
    if (!isObject(message) || message['role'] !== 'assistant') return;
    const forgotten = !goesOn(i);
    for (const name in message) {
      if (!known.has(name) || (thoughts.has(name) && !forgotten)) continue;
      if (name === 'refusal' && !says(message['content'])) continue;
      if (saysMember(name, message[name])) noteDropped(`messages[].${name}`, edits);
    }
    for (const part of forgotten ? listOf(message['content']) : [])
      if (isObject(part) && (part['type'] === 'thinking' || part['type'] === 'redacted_thinking'))
        noteDropped(`messages[].content[].${part['type']}`, edits);
    if (!extraContent) fitToolCalls(listOf(message['tool_calls']), [], [], edits);
  });
  return edits.dropped;
}

const callsWithoutThoughts = (message: JsonObject): boolean =>
  typeof message['reasoning_content'] !== 'string' && listOf(message['tool_calls']).length > 0;

/** OpenAI stores the audio of an answer, and reads only its id (openai-openapi.yaml, 2026-08). */
function fitAudio(value: unknown, path: JsonPath, changes: JsonChange[]): void {
  if (!isObject(value)) return;
  if (!says(value['id'])) changes.push({ path });
  else if (Object.keys(value).length > 1)
    changes.push({ path, json: jsonText({ id: value['id'] }) });
}

/**
 * Removes another vendor's signature (`extra_content`, Gemini's) from calls, and the empty `custom`
 * that some answers have.
 */
function fitToolCalls(
  calls: readonly unknown[],
  at: JsonPath,
  lacks: readonly string[],
  edits: RequestEdits,
): void {
  const { changes } = edits;
  calls.forEach((call, i) => {
    if (!isObject(call)) return;
    if (call['extra_content'] !== undefined) {
      changes.push({ path: [...at, 'tool_calls', i, 'extra_content'] });
      if (says(call['extra_content'])) noteDropped('messages[].tool_calls[].extra_content', edits);
    }
    for (const name of lacks)
      if (call[name] !== undefined) changes.push({ path: [...at, 'tool_calls', i, name] });
    if (call['custom'] !== undefined && isNamed(call['function']) && !isNamed(call['custom']))
      changes.push({ path: [...at, 'tool_calls', i, 'custom'] });
  });
}

const isNamed = (value: unknown): boolean =>
  isObject(value) && typeof value['name'] === 'string' && value['name'] !== '';

/**
 * Whether a member has content. Some servers write every member of OpenAI's format, with empty
 * objects.
 */
const saysMember = (name: string, value: unknown): boolean =>
  says(value) &&
  name !== 'function_call' &&
  !(name === 'audio' && isObject(value) && !says(value['id']) && !says(value['data']));

const says = (value: unknown): boolean =>
  value !== undefined &&
  value !== null &&
  value !== '' &&
  !(Array.isArray(value) && value.length === 0);

/**
 * Marks of a message that the model is to continue: Mistral's and DeepSeek's, Moonshot's and
 * Qwen's.
 */
const prefixes = ['prefix', 'partial'] as const;

function fitPrefix(
  message: JsonObject,
  at: JsonPath,
  { prefix, needsPrefix }: MessagesRule,
  isLast: boolean,
  edits: RequestEdits,
): void {
  let marked = false;
  for (const name of prefixes) {
    const value = message[name];
    if (value === undefined) continue;
    if (name === prefix) marked = value === true;
    else if (value === true && prefix !== undefined && message[prefix] === undefined) {
      edits.changes.push({ path: [...at, name], name: prefix });
      marked = true;
    } else {
      edits.changes.push({ path: [...at, name] });
      if (value === true) noteDropped(`messages[].${name}`, edits);
    }
  }
  if (needsPrefix && prefix !== undefined && isLast && !marked)
    edits.changes.push({ path: [...at, prefix], json: 'true' });
}

function removeMessageMembers(
  message: JsonObject,
  at: JsonPath,
  lacks: NonNullable<MessagesRule['lacks']>,
  edits: RequestEdits,
): void {
  for (const name of lacks[String(message['role'])] ?? []) {
    if (message[name] === undefined) continue;
    edits.changes.push({ path: [...at, name] });
    if (says(message[name])) noteDropped(`messages[].${name}`, edits);
  }
}

/** Documents in the vendor's form. */
function fitDocuments(
  content: readonly unknown[],
  message: number,
  model: string,
  way: NonNullable<MessagesRule['documents']>,
  { changes }: RequestEdits,
): void {
  for (let i = 0; i < content.length; i++) {
    const part = content[i];
    const type = isObject(part) ? part['type'] : undefined;
    if (!isObject(part) || (type !== 'document_url' && type !== 'file')) continue;
    const param = `messages[${message}].content[${i}]`;
    const path = ['messages', message, 'content', i];
    if (type === 'document_url' && typeof way === 'object')
      refuse('unsupported_content', { param, model, content: 'file', accepted: way.instead });
    if (type === 'document_url' && way === 'file') {
      const url =
        textOf(part['document_url']) ?? textOf(objectOf(part['document_url'])?.['url']) ?? '';
      if (!url.startsWith('data:'))
        refuseParam(`${param}.document_url`, model, 'it reads a document as its bytes alone.');
      const file = { filename: textOf(part['document_name']) ?? 'document.pdf', file_data: url };
      changes.push({ path, json: jsonText({ type: 'file', file }) });
    }
    const file = type === 'file' && way === 'document_url' ? objectOf(part['file']) : undefined;
    const data = textOf(file?.['file_data']);
    if (data === undefined) continue;
    const name = textOf(file?.['filename']);
    changes.push({
      path,
      json: jsonText({
        type: 'document_url',
        document_url: data,
        ...(name === undefined ? {} : { document_name: name }),
      }),
    });
  }
}

function checkParts(
  content: readonly unknown[],
  message: number,
  model: string,
  parts: ReadonlySet<string>,
  byVendor: boolean,
  edits: RequestEdits,
): void {
  for (let i = 0; i < content.length; i++) {
    const part = content[i];
    const type = isObject(part) ? part['type'] : undefined;
    if (typeof type === 'string' && !parts.has(type) && knownParts.has(type))
      reportUnsupported(
        `messages[${message}].content[${i}].type`,
        model,
        `it reads no '${type}'.`,
        byVendor,
        edits,
      );
  }
}

function fitParts(
  content: readonly unknown[],
  message: number,
  lacks: readonly string[],
  edits: RequestEdits,
): void {
  content.forEach((part, i) => {
    if (!isObject(part)) return;
    for (const name of lacks) {
      if (part[name] === undefined) continue;
      edits.changes.push({ path: ['messages', message, 'content', i, name] });
      noteDropped(`messages[].content[].${name}`, edits);
    }
  });
}

/** The types of parts that hold media. */
const media = new Set<unknown>(['image_url', 'video_url', 'input_audio', 'file', 'document_url']);

export const isMedium = (part: unknown): boolean => isObject(part) && media.has(part['type']);

/** Whether a message is the result of a tool, and holds media. */
export const holdsMedia = (message: unknown): message is JsonObject =>
  isObject(message) && message['role'] === 'tool' && listOf(message['content']).some(isMedium);

/** `mediaAfterResults` moves these media for models that do not read them there. */
export const hasMediaInResults = (messages: unknown): boolean => listOf(messages).some(holdsMedia);
