import type { Quantities } from '../../base/quantities.ts';
import { type JsonObject, objectOf } from './json.ts';
import { readUsage } from './openai-chat-usage.ts';

/**
 * A response's `usage` (wire-formats §1.7). It counts as chat does under other names, so that the
 * same corrections hold.
 */
export function responsesQuantities(usage: JsonObject | undefined): Quantities | undefined {
  if (usage === undefined) return undefined;
  const input = usage['input_tokens_details'] ?? usage['prompt_tokens_details'];
  const output = usage['output_tokens_details'] ?? usage['completion_tokens_details'];
  const asChat = {
    prompt_tokens: usage['input_tokens'],
    completion_tokens: usage['output_tokens'],
    total_tokens: usage['total_tokens'],
    ...(objectOf(input) && { prompt_tokens_details: input }),
    ...(objectOf(output) && { completion_tokens_details: output }),
  };
  return readUsage(JSON.stringify(asChat))?.quantities;
}
