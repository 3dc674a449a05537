import { type Change, jsonText } from '../../base/json-edit.ts';
import { isObject, type JsonObject, listOf, objectOf, textOf } from '../wire/json.ts';
import { openaisChoice } from './tools.ts';

const plainJson =
  'Answer with a single JSON object and nothing else: no explanation, no Markdown fence.';

/** A `response_format` as a sentence, for models that know no such format. */
export function formatWords(format: JsonObject, beside: 'tools' | 'nothing'): string {
  const when = beside === 'tools' ? 'When you do not call a tool: ' : '';
  const schema =
    format['type'] === 'json_schema'
      ? objectOf(objectOf(format['json_schema'])?.['schema'])
      : undefined;
  if (schema === undefined) return when + plainJson;
  return `${when}${plainJson} It must conform to this JSON schema: ${JSON.stringify(schema)}`;
}

/** A forced `tool_choice` as a sentence, for models that cannot be forced. */
export function choiceWords(choice: unknown): string {
  const named = objectOf(objectOf(choice)?.['function']) ?? objectOf(objectOf(choice)?.['custom']);
  const name = textOf(named?.['name']) ?? textOf(objectOf(choice)?.['name']);
  return name === undefined
    ? 'You must call at least one of your tools in your next answer.'
    : `You must call the tool "${name}" in your next answer.`;
}

/** Whether the client wants one call at a time, of tools that may be called. */
export const wantsSingleCall = (body: JsonObject): boolean =>
  body['parallel_tool_calls'] === false &&
  listOf(body['tools']).length > 0 &&
  body['tool_choice'] !== 'none';

/**
 * The sentence for a model that cannot be limited to one call at a time, where the client wants
 * that. Where one tool alone is forced, no sentence is needed: there is no other tool to call.
 */
export function singleCallWords(body: JsonObject): string[] {
  const choice = openaisChoice(body['tool_choice'], undefined);
  const isOne =
    choice === 'required'
      ? listOf(body['tools']).length === 1
      : isObject(choice) && choice['type'] !== 'allowed_tools';
  return wantsSingleCall(body) && !isOne ? ['Call at most one tool in your next answer.'] : [];
}

/**
 * Adds sentences to a conversation's instructions: to the system message with which it begins,
 * since many models take no second one, else as a new system message.
 */
export function instruct(messages: unknown, sentences: readonly string[], changes: Change[]): void {
  if (sentences.length === 0) return;
  const text = sentences.join('\n');
  const first = listOf(messages)[0];
  const content =
    isObject(first) && (first['role'] === 'system' || first['role'] === 'developer')
      ? first['content']
      : undefined;
  if (typeof content === 'string')
    changes.push({
      path: ['messages', 0, 'content'],
      json: jsonText(content === '' ? text : `${content}\n\n${text}`),
    });
  else if (listOf(content).length > 0)
    changes.push({ path: ['messages', 0, 'content', 0], before: jsonText({ type: 'text', text }) });
  else changes.push({ path: ['messages', 0], before: jsonText({ role: 'system', content: text }) });
}
