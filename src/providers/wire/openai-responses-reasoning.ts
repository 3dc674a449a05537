import { isObject, type JsonObject, listOf, textOf } from './json.ts';

/**
 * OpenRouter's name for reasoning that OpenAI has sealed
 * (openrouter.ai/docs/use-cases/reasoning-tokens, 2026-08).
 */
const format = 'openai-responses-v1';

/**
 * The sealed part of a reasoning item as `reasoning_details`: a chat client that sends it back
 * gives the model its thoughts back. What can be read of them is told as reasoning.
 */
export function reasoningDetails(item: JsonObject, index: number): JsonObject[] {
  const id = textOf(item['id']);
  const data = textOf(item['encrypted_content']);
  return data ? [{ type: 'reasoning.encrypted', data, id, format, index }] : [];
}

/**
 * The reasoning items that an assistant's message brings back, in their order; what nobody sealed
 * says nothing to the model.
 */
export function reasoningItems(message: JsonObject): JsonObject[] {
  const items: JsonObject[] = [];
  let summary: JsonObject[] = [];
  for (const detail of listOf(message['reasoning_details'])) {
    if (!isObject(detail) || detail['format'] !== format) continue;
    if (detail['type'] === 'reasoning.summary')
      summary.push({ type: 'summary_text', text: textOf(detail['summary']) ?? '' });
    const data = textOf(detail['data']);
    if (detail['type'] !== 'reasoning.encrypted' || !data) continue;
    const id = textOf(detail['id']);
    items.push({ type: 'reasoning', ...(id ? { id } : {}), summary, encrypted_content: data });
    summary = [];
  }
  return items;
}
