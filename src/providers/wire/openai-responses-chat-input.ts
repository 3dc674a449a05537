import { refuse } from '../../base/refusal.ts';
import { countOf, isObject, type JsonObject, listOf, objectOf, textOf } from './json.ts';
import { reasoningItems } from './openai-responses-reasoning.ts';

/**
 * Chat's `messages` as a response's input items (wire-formats §5.2): instructions stay where they
 * stand, calls and results become items.
 */
export function inputItems(messages: unknown): JsonObject[] {
  const custom = new Set<string>();
  const items: JsonObject[] = [];
  listOf(messages).forEach((message, i) => {
    if (!isObject(message)) return;
    const param = `messages[${i}]`;
    const { role } = message;
    if (role === 'assistant') items.push(...assistantItems(message, param, custom));
    else if (role === 'tool' || role === 'function') items.push(resultItem(message, param, custom));
    else
      items.push({
        type: 'message',
        role: role === 'system' || role === 'developer' ? role : 'user',
        content: contentOf(message, param),
      });
  });
  return items;
}

function assistantItems(message: JsonObject, param: string, custom: Set<string>): JsonObject[] {
  const items: JsonObject[] = reasoningItems(message);
  const said = spoken(message, param);
  items.push(...spokenItems(message, said));
  for (const call of listOf(message['tool_calls']))
    if (isObject(call)) items.push(callItem(call, custom));
  const legacy = objectOf(message['function_call']);
  if (legacy && textOf(legacy['name']) !== '')
    items.push(functionCall(textOf(legacy['name']) ?? '', legacy));
  return items;
}

/** What was said, in the messages that the model made of it: each with its phase. */
function spokenItems(message: JsonObject, said: readonly JsonObject[]): JsonObject[] {
  if (said.length === 0) return [];
  const item = (phase: unknown, content: readonly JsonObject[]): JsonObject => ({
    type: 'message',
    role: 'assistant',
    ...(typeof phase === 'string' ? { phase } : {}),
    content,
  });
  const { content, phase } = message;
  const later = listOf(message['phases']).filter(isObject);
  if (later.length === 0 || typeof content !== 'string') return [item(phase, said)];
  const letters = [...content];
  const starts = [0, ...later.map(({ at }) => countOf(at) ?? 0)];
  return [phase, ...later.map((one) => one['phase'])].flatMap((one, i) => {
    const text = letters.slice(starts[i], starts[i + 1]).join('');
    return text === '' ? [] : [item(one, [{ type: 'output_text', text }])];
  });
}

const functionCall = (callId: string, called: JsonObject): JsonObject => ({
  type: 'function_call',
  call_id: callId,
  name: textOf(called['name']) ?? '',
  arguments: textOf(called['arguments']) ?? '{}',
});

function callItem(call: JsonObject, custom: Set<string>): JsonObject {
  const id = textOf(call['id']) ?? '';
  const own = objectOf(call['custom']);
  // Some servers write both, and the empty one says nothing.
  if (!own || textOf(own['name']) === '') return functionCall(id, objectOf(call['function']) ?? {});
  custom.add(id);
  return {
    type: 'custom_tool_call',
    call_id: id,
    name: textOf(own['name']) ?? '',
    input: textOf(own['input']) ?? '',
  };
}

function resultItem(message: JsonObject, param: string, custom: ReadonlySet<string>): JsonObject {
  const callId = textOf(message['tool_call_id']) ?? textOf(message['name']) ?? '';
  const type = custom.has(callId) ? 'custom_tool_call_output' : 'function_call_output';
  return { type, call_id: callId, output: contentOf(message, param) };
}

/** What an assistant said before, in the words of outputs. */
function spoken(message: JsonObject, param: string): JsonObject[] {
  const { content } = message;
  const parts: JsonObject[] = [];
  if (typeof content === 'string' && content !== '')
    parts.push({ type: 'output_text', text: content });
  listOf(content).forEach((part, i) => {
    if (!isObject(part)) return;
    if (part['type'] === 'text')
      parts.push({ type: 'output_text', text: textOf(part['text']) ?? '' });
    else if (part['type'] === 'refusal')
      parts.push({ type: 'refusal', refusal: textOf(part['refusal']) ?? '' });
    else if (part['type'] !== 'thinking' && part['type'] !== 'redacted_thinking')
      refuseType(part, `${param}.content[${i}]`);
  });
  const refusal = textOf(message['refusal']);
  if (refusal) parts.push({ type: 'refusal', refusal });
  return parts;
}

function contentOf({ content }: JsonObject, param: string): string | JsonObject[] {
  if (!Array.isArray(content)) return textOf(content) ?? '';
  return content.filter(isObject).map((part, i) => inputPart(part, `${param}.content[${i}]`));
}

function inputPart(part: JsonObject, param: string): JsonObject {
  const mark =
    part['prompt_cache_breakpoint'] === undefined
      ? {}
      : { prompt_cache_breakpoint: part['prompt_cache_breakpoint'] };
  if (part['type'] === 'text')
    return { type: 'input_text', text: textOf(part['text']) ?? '', ...mark };
  if (part['type'] === 'image_url') {
    const image = objectOf(part['image_url']);
    return {
      type: 'input_image',
      image_url: image?.['url'] ?? part['image_url'],
      detail: textOf(image?.['detail']) ?? 'auto',
      ...mark,
    };
  }
  if (part['type'] === 'file') return { type: 'input_file', ...objectOf(part['file']), ...mark };
  return refuseType(part, param);
}

function refuseType(part: JsonObject, param: string): never {
  return refuse('invalid_value', {
    param: `${param}.type`,
    why: `this model takes no content of type '${String(part['type'])}' beside tools.`,
  });
}
