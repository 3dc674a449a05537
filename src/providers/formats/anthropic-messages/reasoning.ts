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
  /** The numbers of characters of text and of calls before it; each is absent where it is 0. */
  readonly at?: number;
  readonly calls?: number;
}

const placed = (at: number, calls: number): Pick<ReasoningDetail, 'at' | 'calls'> => ({
  ...(at === 0 ? {} : { at }),
  ...(calls === 0 ? {} : { calls }),
});
export const signedDetail = (
  index: number,
  text: string,
  signature: string,
  at: number,
  calls: number,
): ReasoningDetail => ({
  type: 'reasoning.text',
  text,
  signature,
  format,
  index,
  ...placed(at, calls),
});
export const redactedDetail = (
  index: number,
  data: string,
  at: number,
  calls: number,
): ReasoningDetail => ({
  type: 'reasoning.encrypted',
  data,
  format,
  index,
  ...placed(at, calls),
});

/** Whether a detail may be Claude's: other models sign and seal their thinking, too. */
export const isClaudes = (detail: Documented<ChatReasoningDetail>): boolean =>
  detail.format === undefined || detail.format === format;

/** A detail at the place where a client brings it back: other vendors' details have none. */
export function movedDetail(
  detail: Documented<ChatReasoningDetail>,
  at: number,
  calls: number,
): JsonObject {
  if (!isClaudes(detail)) return detail;
  const { at: _, calls: __, ...rest } = detail;
  return { ...rest, ...placed(at, calls) };
}

/** A piece of a signed detail as a member of a delta. */
export const detailsMember = (inside: string, index: number, at: number, calls: number): string =>
  `"reasoning_details":[{"type":"reasoning.text",${inside},"format":"${format}","index":${index}${at === 0 ? '' : `,"at":${at}`}${calls === 0 ? '' : `,"calls":${calls}`}}]`;

/**
 * The thinking blocks that an assistant's message brings back, unchanged: from `reasoning_details`,
 * or from LiteLLM's `thinking_blocks`. Clients that keep every streamed piece send text in pieces
 * and its signature in a piece of its own; these are joined.
 */
export const thinkingBlocks = (message: Documented<ChatMessage>): JsonObject[] =>
  positionedThinking(message).map(({ block }) => block);

/** How many characters of the message's text, and how many of its calls, stand before something. */
export interface TurnPlace {
  readonly at: number;
  readonly calls: number;
}

/** A thinking block at its place. */
export interface PositionedThinking extends TurnPlace {
  readonly block: JsonObject;
}

/** A detail without a place (other vendors', and those of older answers) stands at the start. */
export const placeOf = (detail: Documented<ChatReasoningDetail> | undefined): TurnPlace => ({
  at: countOf(detail?.at) ?? 0,
  calls: countOf(detail?.calls) ?? 0,
});

export function positionedThinking(message: Documented<ChatMessage>): PositionedThinking[] {
  const ready = objectsOf(message.thinking_blocks).filter(isSigned);
  if (ready.length) return ready.map((block) => ({ at: 0, calls: 0, block: plainBlock(block) }));
  const blocks: PositionedThinking[] = [];
  let text = '';
  let index: unknown;
  for (const detail of objectsOf(message.reasoning_details)) {
    if (!isClaudes(detail)) continue;
    if (detail.index !== index) text = '';
    index = detail.index;
    const data = textOf(detail.data);
    const place = placeOf(detail);
    if (detail.type === 'reasoning.encrypted' && data)
      blocks.push({ ...place, block: { type: 'redacted_thinking', data } });
    if (detail.type !== 'reasoning.text') continue;
    text += textOf(detail.text) ?? '';
    const signature = textOf(detail.signature);
    if (!signature) continue;
    blocks.push({ ...place, block: { type: 'thinking', thinking: text, signature } });
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

/** A piece of a turn: thinking, a part of its content, or a call. */
type TurnStep<Thought, Part, Call> =
  | { readonly kind: 'thinking'; readonly thought: Thought }
  | { readonly kind: 'part'; readonly part: Part }
  | { readonly kind: 'call'; readonly call: Call };

type ConversationStep = TurnStep<PositionedThinking, ContentPart, ToolCall>;

/**
 * The steps of one turn. Signed thinking keeps its position: within text, and between calls. Other
 * calls stand last: of a message, where thinking of a later message follows, else of the turn.
 * `thinks`: the model gets its thinking back.
 */
export function turnSteps(spans: readonly MessageSpan[], thinks: boolean): ConversationStep[] {
  const steps: ConversationStep[] = [];
  const waiting: ToolCall[] = [];
  const call = (): void => {
    for (const one of waiting.splice(0)) steps.push({ kind: 'call', call: one });
  };
  for (const { message, parts, calls } of spans) {
    const thoughts = thinks ? positionedThinking(message) : [];
    if (thoughts.length > 0) call();
    const { steps: own, left } = inOrder(thoughts, parts, calls);
    steps.push(...own);
    waiting.push(...left);
  }
  call();
  return steps;
}

/**
 * The pieces of a message in the order in which the model gave them: Claude refuses thinking that
 * stands elsewhere when it comes back ("blocks in the latest assistant message cannot be modified",
 * UKGovernmentBEIS/inspect_ai#4922, 2026-08). `left`: the calls after the last thinking.
 */
export function inOrder<
  Thought extends TurnPlace,
  Part extends { readonly kind: string; readonly text?: string },
  Call,
>(
  thoughts: readonly Thought[],
  parts: readonly Part[],
  calls: readonly Call[],
): { readonly steps: TurnStep<Thought, Part, Call>[]; readonly left: readonly Call[] } {
  const steps: TurnStep<Thought, Part, Call>[] = [];
  const cut = cutterAt(thoughts);
  let [thought, called, before] = [0, 0, 0];
  const think = (until: number): void => {
    for (let next = thoughts[thought]; next !== undefined && next.at <= until; ) {
      for (; called < Math.min(next.calls, calls.length); called += 1)
        steps.push({ kind: 'call', call: calls[called] as Call });
      steps.push({ kind: 'thinking', thought: next });
      next = thoughts[++thought];
    }
  };
  for (const part of parts) {
    think(before);
    if (part.kind !== 'text') {
      steps.push({ kind: 'part', part });
      continue;
    }
    for (const text of cut(part.text ?? '', before)) {
      think(before);
      before += characters(text);
      steps.push({ kind: 'part', part: { ...part, text } });
    }
  }
  think(Number.POSITIVE_INFINITY);
  return { steps, left: calls.slice(called) };
}

/**
 * Cuts the texts of a message, one after the other, where thinking stands within them. `from`: the
 * place at which the text begins. A client may send places in any order.
 */
function cutterAt(thoughts: readonly TurnPlace[]): (text: string, from: number) => string[] {
  const places = [...new Set(thoughts.map(({ at }) => at))].sort((one, other) => one - other);
  let next = 0;
  const placeFrom = (from: number): number => (places[next] ?? Number.POSITIVE_INFINITY) - from;
  return (text, from) => {
    while (placeFrom(from) <= 0) next += 1;
    if (next === places.length) return [text];
    const letters = [...text];
    const pieces: string[] = [];
    let start = 0;
    for (; placeFrom(from) < letters.length; next += 1) {
      pieces.push(letters.slice(start, placeFrom(from)).join(''));
      start = placeFrom(from);
    }
    return [...pieces, letters.slice(start).join('')];
  };
}
