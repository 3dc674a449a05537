import { type JsonObject, isObject, listOf, textOf } from './json.ts';

/** OpenRouter's name for thinking signed by Anthropic (openrouter.ai/docs/use-cases/reasoning-tokens, 2026-08). It tells whose signature a detail carries. */
const format = 'anthropic-claude-v1';

/** A thinking block as an extension of the convention: a client that sends it back gives the model its thoughts back. */
export interface ReasoningDetail {
  readonly type: 'reasoning.text' | 'reasoning.encrypted';
  readonly text?: string;
  readonly signature?: string;
  readonly data?: string;
  readonly format: typeof format;
  readonly index: number;
}

export const signedDetail = (index: number, text: string, signature: string): ReasoningDetail => ({
  type: 'reasoning.text',
  text,
  signature,
  format,
  index,
});
export const redactedDetail = (index: number, data: string): ReasoningDetail => ({
  type: 'reasoning.encrypted',
  data,
  format,
  index,
});

/** Other models sign and seal their thoughts, too. */
export const isClaudes = (detail: JsonObject): boolean =>
  detail['format'] === undefined || detail['format'] === format;

/** A piece of a signed detail: a member of a delta. */
export const detailsMember = (inside: string, index: number): string =>
  `"reasoning_details":[{"type":"reasoning.text",${inside},"format":"${format}","index":${index}}]`;

/**
 * The thinking blocks that an assistant's message brings back, unchanged: in `reasoning_details`, or in LiteLLM's `thinking_blocks`.
 * Streamed details are put together again by those clients that keep every piece: text in pieces, its signature in a piece of its own.
 */
export function thinkingBlocks(message: JsonObject): JsonObject[] {
  const ready = listOf(message['thinking_blocks']).filter(isObject).filter(isSigned);
  if (ready.length) return ready.map(plainBlock);
  const blocks: JsonObject[] = [];
  let text = '';
  let index: unknown;
  for (const detail of listOf(message['reasoning_details']).filter(isObject)) {
    if (!isClaudes(detail)) continue;
    if (detail['index'] !== index) text = '';
    index = detail['index'];
    const data = textOf(detail['data']);
    if (detail['type'] === 'reasoning.encrypted' && data)
      blocks.push({ type: 'redacted_thinking', data });
    if (detail['type'] !== 'reasoning.text') continue;
    text += textOf(detail['text']) ?? '';
    const signature = textOf(detail['signature']);
    if (!signature) continue;
    blocks.push({ type: 'thinking', thinking: text, signature });
    text = '';
  }
  return blocks;
}

const isSigned = (block: JsonObject): boolean =>
  block['type'] === 'thinking'
    ? Boolean(textOf(block['signature']))
    : block['type'] === 'redacted_thinking' && Boolean(textOf(block['data']));

const plainBlock = (block: JsonObject): JsonObject =>
  block['type'] === 'thinking'
    ? { type: 'thinking', thinking: textOf(block['thinking']) ?? '', signature: block['signature'] }
    : { type: 'redacted_thinking', data: block['data'] };
