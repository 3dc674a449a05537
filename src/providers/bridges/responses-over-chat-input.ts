import { refuse } from '../../base/refusal.ts';
import type { Call } from '../adapter.ts';
import { refuseMember } from '../takes/rules.ts';
import { isObject, type JsonObject, listOf, textOf } from '../wire/json.ts';
import { opened } from './responses-over-chat-seal.ts';
import { bringsTools, chatName, customInput } from './responses-over-chat-tools.ts';

/**
 * Items of tools that a vendor ran for an earlier answer, whose text holds their results. A
 * conversation that continues on another vendor is sent without them
 * (developers.openai.com/api/docs/guides/tools, 2026-08).
 */
const told = new Set([
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'tool_search_call',
  'mcp_list_tools',
  'mcp_call',
  'mcp_approval_request',
  'mcp_approval_response',
]);

/** The items of the input that are left out, by name. */
export function itemsLeftOut(input: unknown): string[] {
  const paths = new Set<string>();
  for (const item of listOf(input)) {
    if (!isObject(item)) continue;
    if (told.has(String(item['type']))) paths.add(`input[].${String(item['type'])}`);
    if (typeof item['phase'] === 'string') paths.add('input[].phase');
    // This vendor cannot read content that another vendor has encrypted.
    const sealed = item['type'] === 'reasoning' ? textOf(item['encrypted_content']) : undefined;
    if (sealed && opened(sealed).length === 0) paths.add('input[].encrypted_content');
  }
  return [...paths];
}

/** A message of an assistant while items are added to it. */
type Draft = Record<string, unknown> & { readonly role: string };

/**
 * `instructions` and `input` as chat's messages: what an assistant thought, said and called between
 * two words of others is one message.
 */
export function chatMessages({
  body,
  publicModel,
}: Pick<Call, 'body' | 'publicModel'>): JsonObject[] {
  const messages: Draft[] = [];
  const instructions = textOf(body['instructions']);
  if (instructions) messages.push({ role: 'system', content: instructions });
  const { input } = body;
  if (typeof input === 'string') messages.push({ role: 'user', content: input });
  listOf(input).forEach((item, i) => {
    if (isObject(item)) add(messages, item, `input[${i}]`, publicModel);
  });
  return messages;
}

function add(messages: Draft[], item: JsonObject, param: string, model: string): void {
  const type = textOf(item['type']) ?? (item['role'] === undefined ? 'item_reference' : 'message');
  switch (type) {
    case 'message':
      return addMessage(messages, item, param);
    case 'reasoning':
      return addReasoning(messages, item);
    case 'function_call':
      return addCall(assistant(messages), item, textOf(item['arguments']) ?? '{}');
    case 'custom_tool_call':
      return addCall(
        assistant(messages),
        item,
        JSON.stringify({ [customInput]: textOf(item['input']) ?? '' }),
      );
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const { output } = item;
      const content =
        typeof output === 'string'
          ? output
          : listOf(output).map((part, i) => chatPart(part, `${param}.output[${i}]`));
      messages.push({ role: 'tool', tool_call_id: textOf(item['call_id']) ?? '', content });
      return;
    }
    default:
      if (!told.has(type) && !bringsTools.has(type))
        refuseMember(`${param}.type`, model, `it knows no items of type '${type}'.`);
  }
}

/**
 * The assistant's message that is being put together. What it thinks after it has called begins a
 * new one.
 */
function assistant(messages: Draft[], thinks = false): Draft {
  const last = messages.at(-1);
  if (
    last?.role === 'assistant' &&
    !(thinks && (last['tool_calls'] !== undefined || last['content'] != null))
  )
    return last;
  const made: Draft = { role: 'assistant', content: null };
  messages.push(made);
  return made;
}

function addMessage(messages: Draft[], item: JsonObject, param: string): void {
  const role = textOf(item['role']) ?? 'user';
  const { content } = item;
  if (role !== 'assistant') {
    messages.push({
      // Not everybody knows a developer in chat (api-docs.deepseek.com, create-chat-completion,
      // 2026-11: refused); a system is known to all.
      role: role === 'developer' ? 'system' : role,
      content:
        typeof content === 'string'
          ? content
          : listOf(content).map((part, i) => chatPart(part, `${param}.content[${i}]`)),
    });
    return;
  }
  const into = assistant(messages);
  const parts =
    typeof content === 'string' ? [{ text: content }] : listOf(content).filter(isObject);
  const said = parts.map((part) => textOf(part['text']) ?? '').join('');
  const refusal = parts
    .map((part) => textOf('refusal' in part ? part['refusal'] : undefined) ?? '')
    .join('');
  if (said) into['content'] = (textOf(into['content']) ?? '') + said;
  if (refusal) into['refusal'] = refusal;
  else into['content'] ??= '';
}

function addCall(into: Draft, item: JsonObject, args: string): void {
  const extra = item['extra_content'] === undefined ? {} : { extra_content: item['extra_content'] };
  const call = {
    id: textOf(item['call_id']) ?? '',
    type: 'function',
    function: { name: chatName(item), arguments: args },
    ...extra,
  };
  into['tool_calls'] = [...listOf(into['tool_calls']), call];
}

/** What a model of ours thought comes back to it. */
function addReasoning(messages: Draft[], item: JsonObject): void {
  const parts = [...listOf(item['content']), ...listOf(item['summary'])].filter(isObject);
  const text = parts.map((part) => textOf(part['text']) ?? '').join('\n\n');
  // Where a thought stood is told by the place of its item.
  const details = opened(textOf(item['encrypted_content'])).map(
    ({ at: _, ...detail }): JsonObject => detail,
  );
  if (text === '' && details.length === 0) return;
  const into = assistant(messages, true);
  if (text) into['reasoning_content'] = (textOf(into['reasoning_content']) ?? '') + text;
  if (details.length)
    into['reasoning_details'] = [...listOf(into['reasoning_details']), ...details];
}

function chatPart(value: unknown, param: string): JsonObject {
  const part = isObject(value) ? value : {};
  const { type } = part;
  if (type === 'input_text' || type === 'output_text' || type === 'text')
    return { type: 'text', text: textOf(part['text']) ?? '' };
  if (type === 'input_image') {
    if (part['image_url'] == null)
      refuse('invalid_value', {
        param: `${param}.file_id`,
        why: 'this model takes images as `image_url` only.',
      });
    const detail = textOf(part['detail']);
    return {
      type: 'image_url',
      image_url: { url: part['image_url'], ...(detail && detail !== 'auto' ? { detail } : {}) },
    };
  }
  if (type === 'input_file') {
    const data = part['file_data'] ?? part['file_url'];
    if (data == null)
      refuse('invalid_value', {
        param: `${param}.file_id`,
        why: 'this model takes files as `file_data` or `file_url` only.',
      });
    return {
      type: 'file',
      file: {
        file_data: data,
        ...(part['filename'] == null ? {} : { filename: part['filename'] }),
      },
    };
  }
  if (type === 'input_audio') return { type, input_audio: part['input_audio'] };
  return refuse('invalid_value', {
    param: `${param}.type`,
    why: `content of type '${String(type)}' is not available for this model.`,
  });
}
