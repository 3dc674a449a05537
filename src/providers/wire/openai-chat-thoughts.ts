import type { Change } from '../../base/json-edit.ts';
import type { Call } from '../adapter.ts';
import { isObject, listOf } from './json.ts';

/** Stands for thoughts that nobody kept: something has to be there, and an empty string is nothing. */
const lost = '"."';

/**
 * Some models that think refuse a turn of the assistant that called tools and comes back without its thoughts. Packages made for OpenAI drop them,
 * and a conversation that another model began never had any.
 */
export function standInForThoughts(call: Call, models: RegExp, changes: Change[]): void {
  const { thinking, messages } = call.body;
  if (!models.test(call.upstreamModel) || (isObject(thinking) && thinking['type'] === 'disabled'))
    return;
  listOf(messages).forEach((message, i) => {
    if (
      !isObject(message) ||
      message['role'] !== 'assistant' ||
      listOf(message['tool_calls']).length === 0
    )
      return;
    if (!message['reasoning_content'])
      changes.push({ path: ['messages', i, 'reasoning_content'], json: lost });
  });
}
