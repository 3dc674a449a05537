import { editJsonBytes, jsonText, isObject } from '../base/json.ts';
import { randomText } from '../base/random.ts';
import { refuse } from '../base/refusal.ts';
import { openedSummary } from '../providers/bridges/compact-over-responses.ts';
import type { StoredResponse, ResponseStore, StoredResponseStatus } from '../memory/responses.ts';
import { checkLength, type ParsedJson, type RequestBody } from './request-body.ts';

const idChars = 32;
/** The most bytes of a request with the stored conversation in it. */
const conversationBytesMax = 64 * 1024 * 1024;

/** More items than any conversation has, and few enough to be stored one by one. */
const itemsMax = 10_000;
/** Items that one request may refer to. */
const referencesMax = 1_000;

/** A request with stored items in place of its references. */
export interface StoredConversation extends ParsedJson {
  /** The items of this request alone, with ids: these are stored. */
  readonly own: () => readonly RequestBody[];
}

/**
 * Puts the stored conversation before the input, and stored items in place of references. A request
 * that refers to nothing stays as it is.
 */
export async function loadConversation(
  store: ResponseStore,
  account: string,
  sent: ParsedJson,
): Promise<StoredConversation> {
  const { body, bytes, skeleton } = sent;
  const { previous_response_id: previous } = body;
  const items = itemsOf(body['input']);
  checkLength(items, 'input', itemsMax, 'items');
  const references = items.flatMap((item) =>
    isReference(item) && typeof item['id'] === 'string' ? [item['id']] : [],
  );
  if (typeof previous !== 'string' && references.length === 0) {
    const own = (): readonly RequestBody[] => items.map(withItemId);
    if (!items.some(({ type }) => type === 'compaction')) return { body, bytes, skeleton, own };
    return withInput(sent, items.map(openedSummary), own);
  }
  checkLength(references, 'input', referencesMax, 'references to items');
  const before = typeof previous === 'string' ? await store.conversation(account, previous) : [];
  if (before === undefined)
    refuse('previous_response_not_found', { id: String(previous), param: 'previous_response_id' });
  const found = await store.items(account, references);
  const own = items.map((item, i) =>
    isReference(item) ? (found.get(String(item['id'])) ?? unknownItem(item, i)) : withItemId(item),
  );
  const whole = withInput(sent, [...before, ...own].map(asInput), () => own);
  if (whole.bytes.length > conversationBytesMax)
    refuse('context_length_exceeded', {
      param: 'previous_response_id',
      message: `The conversation is larger than ${conversationBytesMax} bytes.`,
    });
  return whole;
}

const withInput = (
  { body, bytes, skeleton }: ParsedJson,
  input: readonly RequestBody[],
  own: StoredConversation['own'],
): StoredConversation => ({
  body: { ...body, input },
  bytes: editJsonBytes(bytes, [{ path: ['input'], json: jsonText(input) }], skeleton),
  skeleton: undefined,
  own,
});

function unknownItem(item: RequestBody, i: number): never {
  return refuse('invalid_value', {
    param: `input[${i}].id`,
    why: `there is no item with id '${String(item['id'])}'.`,
  });
}

const isReference = (item: RequestBody): boolean =>
  item['type'] === 'item_reference' || (item['type'] == null && item['role'] === undefined);

function itemsOf(input: unknown): RequestBody[] {
  if (typeof input === 'string')
    return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }];
  return Array.isArray(input) ? input.filter(isObject) : [];
}

const prefixes: Readonly<Record<string, string>> = {
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
  compaction: 'cmp',
  reasoning: 'rs',
};

/** An item as it is listed: with its type, an id, and content in parts. */
function withItemId(item: RequestBody): RequestBody {
  const type = typeof item['type'] === 'string' ? item['type'] : 'message';
  const id =
    typeof item['id'] === 'string'
      ? item['id']
      : `${prefixes[type] ?? 'msg'}_${randomText(idChars)}`;
  if (type !== 'message')
    return {
      ...item,
      id,
      type,
      ...(type.startsWith('function_call') ? { status: item['status'] ?? 'completed' } : {}),
    };
  const word = item['role'] === 'assistant' ? 'output_text' : 'input_text';
  const content =
    typeof item['content'] === 'string'
      ? [
          {
            type: word,
            text: item['content'],
            ...(word === 'output_text' ? { annotations: [] } : {}),
          },
        ]
      : item['content'];
  return { ...item, id, type, status: item['status'] ?? 'completed', content };
}

/**
 * Removes the ids of messages and calls, which Tollgate made and vendors do not know. Encrypted
 * reasoning and the vendor's own tools keep theirs. Opens Tollgate's own summaries.
 */
function asInput(stored: RequestBody): RequestBody {
  const item = openedSummary(stored);
  const type = String(item['type']);
  if (
    type !== 'message' &&
    !type.startsWith('function_call') &&
    !type.startsWith('custom_tool_call')
  )
    return item;
  const { id: _, status: __, ...rest } = item;
  return rest;
}

const statuses: readonly StoredResponseStatus[] = ['completed', 'incomplete', 'failed'];

/**
 * What is stored of a response that has ended. `last`: the response, or a stream's last bytes.
 * Undefined when they hold no response.
 */
export function storedResponseOf(
  last: Buffer,
  own: readonly RequestBody[],
): StoredResponse | undefined {
  const text = last.toString('utf8');
  const json = text.startsWith('{')
    ? text
    : text.slice(text.lastIndexOf('\ndata: ') + '\ndata: '.length);
  const value: unknown = JSON.parse(json);
  const response = isObject(value) && isObject(value['response']) ? value['response'] : value;
  if (!isObject(response) || typeof response['id'] !== 'string') return undefined;
  const previous = response['previous_response_id'];
  return {
    id: response['id'],
    status: statuses.find((status) => status === response['status']) ?? 'completed',
    previous: typeof previous === 'string' ? previous : undefined,
    input: own,
    body: response,
  };
}
