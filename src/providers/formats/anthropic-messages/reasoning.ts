import {
  countOf,
  type Documented,
  type JsonObject,
  objectsOf,
  textOf,
} from '../../../base/json.ts';
import { characters } from '../../conversation/citations.ts';
import type { ContentPart, MessageSpan, ToolCall } from '../../conversation/conversation.ts';
import type { ChatMessage, ChatReasoningDetail, ChatThinkingBlock } from '../openai-chat/types.ts';

/**
 * OpenRouter's name for thinking signed by Anthropic
 * (openrouter.ai/docs/use-cases/reasoning-tokens, 2026-08). It shows which vendor signed a detail.
 */
const format = 'anthropic-claude-v1';

/**
 * A thinking block as an extension of chat: a client that sends it back lets the model go on with
 * its thinking.
 */
export interface ReasoningDetail {
  readonly type: 'reasoning.text' | 'reasoning.encrypted';
  readonly text?: string;
  readonly signature?: string;
  readonly data?: string;
  readonly format: typeof format;
  readonly index: number;
  /** The number of characters of text before it; absent at the start. */
  readonly at?: number;
}

const placed = (at: number): { at?: number } => (at === 0 ? {} : { at });
export const signedDetail = (
  index: number,
  text: string,
  signature: string,
  at = 0,
): ReasoningDetail => ({
  type: 'reasoning.text',
  text,
  signature,
  format,
  index,
  ...placed(at),
});
export const redactedDetail = (index: number, data: string, at = 0): ReasoningDetail => ({
  type: 'reasoning.encrypted',
  data,
  format,
  index,
  ...placed(at),
});

/** Whether a detail may be Claude's: other models sign and seal their thinking, too. */
export const isClaudes = (detail: Documented<ChatReasoningDetail>): boolean =>
  detail.format === undefined || detail.format === format;

/** A piece of a signed detail as a member of a delta. */
export const detailsMember = (inside: string, index: number, at = 0): string =>
  `"reasoning_details":[{"type":"reasoning.text",${inside},"format":"${format}","index":${index}${at === 0 ? '' : `,"at":${at}`}}]`;

/**
 * The thinking blocks that an assistant's message brings back, unchanged: from `reasoning_details`,
 * or from LiteLLM's `thinking_blocks`. Clients that keep every streamed piece send text in pieces
 * and its signature in a piece of its own; these are joined.
 */
export const thinkingBlocks = (message: Documented<ChatMessage>): JsonObject[] =>
  positionedThinking(message).map(({ block }) => block);

/** A thinking block, and how many characters of the message's text stand before it. */
export interface PositionedThinking {
  readonly at: number;
  readonly block: JsonObject;
}

export function positionedThinking(message: Documented<ChatMessage>): PositionedThinking[] {
  const ready = objectsOf(message.thinking_blocks).filter(isSigned);
  if (ready.length) return ready.map((block) => ({ at: 0, block: plainBlock(block) }));
  const blocks: PositionedThinking[] = [];
  let text = '';
  let index: unknown;
  for (const detail of objectsOf(message.reasoning_details)) {
    if (!isClaudes(detail)) continue;
    if (detail.index !== index) text = '';
    index = detail.index;
    const data = textOf(detail.data);
    const at = countOf(detail.at) ?? 0;
    if (detail.type === 'reasoning.encrypted' && data)
      blocks.push({ at, block: { type: 'redacted_thinking', data } });
    if (detail.type !== 'reasoning.text') continue;
    text += textOf(detail.text) ?? '';
    const signature = textOf(detail.signature);
    if (!signature) continue;
    blocks.push({ at, block: { type: 'thinking', thinking: text, signature } });
    text = '';
  }
  return blocks;
}

const isSigned = (block: Documented<ChatThinkingBlock>): boolean =>
  block.type === 'thinking'
    ? Boolean(textOf(block.signature))
    : block.type === 'redacted_thinking' && Boolean(textOf(block.data));

const plainBlock = (block: Documented<ChatThinkingBlock>): JsonObject =>
  block.type === 'thinking'
    ? { type: 'thinking', thinking: textOf(block.thinking) ?? '', signature: block.signature }
    : { type: 'redacted_thinking', data: block.data };

/**
 * A thinking block, a content part or a tool call of an assistant. Steps keep their original order.
 */
type TurnStep =
  | { readonly kind: 'thinking'; readonly block: JsonObject }
  | { readonly kind: 'part'; readonly part: ContentPart }
  | { readonly kind: 'call'; readonly call: ToolCall };

/**
 * The steps of one turn. Signed thinking keeps its position: within text, and between the calls of
 * a turn made of several messages. Other calls stand last. `thinks`: the model gets its thinking
 * back.
 */
export function turnSteps(spans: readonly MessageSpan[], thinks: boolean): TurnStep[] {
  const steps: TurnStep[] = [];
  let waiting: TurnStep[] = [];
  for (const { message, parts, calls } of spans) {
    const thoughts = thinks ? positionedThinking(message) : [];
    if (thoughts.length > 0) steps.push(...waiting.splice(0));
    steps.push(...interleaved(parts, thoughts));
    waiting = [...waiting, ...calls.map((call): TurnStep => ({ kind: 'call', call }))];
  }
  return [...steps, ...waiting];
}

function interleaved(
  parts: readonly ContentPart[],
  thoughts: readonly PositionedThinking[],
): TurnStep[] {
  const steps: TurnStep[] = [];
  const left = [...thoughts];
  let before = 0;
  const think = (until: number): void => {
    for (let next = left[0]; next !== undefined && next.at <= until; next = left[0]) {
      steps.push({ kind: 'thinking', block: next.block });
      left.shift();
    }
  };
  for (const part of parts) {
    think(before);
    if (part.kind !== 'text') {
      steps.push({ kind: 'part', part });
      continue;
    }
    for (const text of cutText(
      part.text,
      left.map(({ at }) => at - before),
    )) {
      think(before);
      before += characters(text);
      steps.push({ kind: 'part', part: { ...part, text } });
    }
  }
  think(Number.POSITIVE_INFINITY);
  return steps;
}

/** Cuts the text at the positions of the thinking within it. */
export function cutText(text: string, cuts: readonly number[]): string[] {
  if (cuts.length === 0) return [text];
  const letters = [...text];
  const inside = [...new Set(cuts)].filter((at) => at > 0 && at < letters.length);
  const ends = [0, ...inside, letters.length];
  return ends.slice(1).map((end, i) => letters.slice(ends[i], end).join(''));
}
