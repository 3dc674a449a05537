import { randomText } from '../../base/random.ts';
import {
  editJsonBytes,
  jsonText,
  type Documented,
  type JsonObject,
  objectOf,
  objectsOf,
  parse,
  textOf,
} from '../../base/json.ts';
import type { Adapter, VendorAnswer, VendorCall } from '../adapter.ts';
import { protocolFault, isFault } from '../formats/fault.ts';
import { compactMembers } from '../formats/openai-responses/adapter.ts';
import type {
  CreateResponse,
  ResponseItem,
  ResponseResource,
} from '../formats/openai-responses/types.ts';
import { bridgeOver } from './bridge.ts';

/**
 * `/responses/compact` for vendors that do not have it: the model itself summarizes the
 * conversation. Like OpenAI's (developers.openai.com/api/docs/guides/compaction, 2026-08), the
 * answer keeps the user's messages word for word, and replaces all other items by one `compaction`
 * item.
 */
export function compactOverResponses(responses: Adapter): Adapter {
  const bridged = bridgeOver(responses, {
    toChat: summaryCallOf,
    answer: compactionAnswer,
    stream: (_, translator) => translator,
  });
  return {
    ...bridged,
    read(reply, contentType, call) {
      const read = bridged.read(reply, contentType, call);
      return isFault(read) || !read.body.toString('latin1').includes(emptySummary)
        ? read
        : protocolFault('no summary of the conversation');
    },
  };
}

const idChars = 29;
/**
 * The prefix of Tollgate's summaries in `encrypted_content`. A summary is not encrypted: it is the
 * client's own conversation.
 */
const mark = 'tollgate.summary.1.';
const emptySummary = `"encrypted_content":"${mark}"`;
/** The instruction that is sent with the conversation. */
export const summaryTask =
  'Sum up the conversation below for a model that goes on with it and cannot see it. Keep every decision, fact, name, number, ' +
  'file path, result of a tool and open question. Answer with the summary alone.';
const introduction = 'What stood here before was replaced by this summary of it:';

/**
 * The conversation as one message with a transcript, which any vendor reads, whatever calls,
 * reasoning or media the conversation has.
 */
function summaryCallOf(call: VendorCall<CreateResponse>): VendorCall {
  const { body } = call;
  const lines = [textOf(body.instructions) ?? '', ...itemsOf(body.input).map(line)].filter(
    (each) => each !== '',
  );
  const input = [
    message('user', `${summaryTask}\n\n<conversation>\n${lines.join('\n\n')}\n</conversation>`),
  ];
  const taken = new Set(compactMembers);
  const kept = Object.fromEntries(
    Object.entries(body).filter(([name]) => taken.has(name) && name !== 'instructions'),
  );
  const left = Object.keys(body).filter((name) => !(name in kept));
  const changes = [
    { path: ['input'], json: jsonText(input) },
    ...left.map((name) => ({ path: [name] })),
  ];
  return {
    ...call,
    body: { ...kept, input },
    bytes: editJsonBytes(call.bytes, changes, call.skeleton),
  };
}

function compactionAnswer(answer: VendorAnswer, call: VendorCall<CreateResponse>): VendorAnswer {
  const response: Documented<ResponseResource> =
    objectOf(parse(answer.body.toString('utf8'))) ?? {};
  const output = objectsOf(response.output);
  const summary = output
    .filter(({ type }) => type === 'message')
    .map(wordsOf)
    .join('\n');
  const users = itemsOf(call.body.input).filter(isUsers);
  const sealed = mark + Buffer.from(summary).toString('base64url');
  const compaction = {
    id: call.answerId,
    object: 'response.compaction',
    created_at: response.created_at ?? call.created,
    output: [
      ...users.map(listed),
      { id: `cmp_${randomText(idChars)}`, type: 'compaction', encrypted_content: sealed },
    ],
    usage: response.usage ?? null,
  };
  return { ...answer, body: Buffer.from(JSON.stringify(compaction)), signatures: undefined };
}

/**
 * The item for the next turn: one of Tollgate's summaries becomes a message of the user, any other
 * item stays.
 */
export function openedSummary(item: Documented<ResponseItem>): JsonObject {
  const seal = textOf(item.encrypted_content);
  if (item.type !== 'compaction' || seal?.startsWith(mark) !== true) return item;
  return message(
    'user',
    `${introduction}\n${Buffer.from(seal.slice(mark.length), 'base64url').toString('utf8')}`,
  );
}

/**
 * Whether the item is a message of the user. An earlier summary is not: the new summary covers it.
 */
function isUsers(item: Documented<ResponseItem>): boolean {
  return (
    (item.type ?? 'message') === 'message' &&
    item.role === 'user' &&
    !wordsOf(item).startsWith(introduction)
  );
}

const message = (role: string, text: string): JsonObject => ({
  type: 'message',
  role,
  content: [{ type: 'input_text', text }],
});

function itemsOf(input: Documented<CreateResponse>['input']): readonly Documented<ResponseItem>[] {
  return typeof input === 'string' ? [message('user', input)] : objectsOf(input);
}

/** A message as an answer lists it. */
function listed(item: Documented<ResponseItem>): JsonObject {
  const { content } = item;
  const parts = typeof content === 'string' ? [{ type: 'input_text', text: content }] : content;
  return {
    id: `msg_${randomText(idChars)}`,
    type: 'message',
    status: 'completed',
    role: 'user',
    content: parts,
  };
}

/** One item of a conversation as a line of the transcript. */
function line(item: Documented<ResponseItem>): string {
  switch (item.type ?? 'message') {
    case 'message':
      return `${textOf(item.role) ?? 'user'}: ${wordsOf(item)}`;
    case 'function_call':
    case 'custom_tool_call':
      return `assistant calls ${textOf(item.name) ?? ''}: ${textOf(item.arguments) ?? textOf(item.input) ?? ''}`;
    case 'function_call_output':
    case 'custom_tool_call_output':
      return `tool answers: ${wordsOf({ content: item.output })}`;
    default:
      return '';
  }
}

function wordsOf({ content }: Documented<Pick<ResponseItem, 'content'>>): string {
  if (typeof content === 'string') return content;
  const parts = objectsOf(content);
  return parts
    .map(
      (part) => textOf(part.text) ?? textOf(part.refusal) ?? `[${textOf(part.type) ?? 'a part'}]`,
    )
    .join('');
}
