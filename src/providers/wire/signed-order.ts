import { type PlacedThinking, placedThinking } from './anthropic-messages-signed.ts';
import type { Part, Span, ToolCall } from './chat-conversation.ts';
import { characters } from './citations.ts';
import type { JsonObject } from './json.ts';

/** A thought, a part or a call of an assistant. Steps keep the order in which they were made. */
export type Step =
  | { readonly kind: 'thinking'; readonly block: JsonObject }
  | { readonly kind: 'part'; readonly part: Part }
  | { readonly kind: 'call'; readonly call: ToolCall };

/**
 * The steps of one turn. Signed thoughts keep their positions: within text, and between the calls
 * of a turn that several messages make up. Other calls stand last. `thinks`: the model gets its
 * thoughts back.
 */
export function stepsOf(spans: readonly Span[], thinks: boolean): Step[] {
  const steps: Step[] = [];
  let waiting: Step[] = [];
  for (const { message, parts, calls } of spans) {
    const thoughts = thinks ? placedThinking(message) : [];
    if (thoughts.length > 0) steps.push(...waiting.splice(0));
    steps.push(...interleaved(parts, thoughts));
    waiting = [...waiting, ...calls.map((call): Step => ({ kind: 'call', call }))];
  }
  return [...steps, ...waiting];
}

function interleaved(parts: readonly Part[], thoughts: readonly PlacedThinking[]): Step[] {
  const steps: Step[] = [];
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
    for (const text of pieces(
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

/** The text, cut at the positions of the thoughts within it. */
export function pieces(text: string, cuts: readonly number[]): string[] {
  if (cuts.length === 0) return [text];
  const letters = [...text];
  const inside = [...new Set(cuts)].filter((at) => at > 0 && at < letters.length);
  const ends = [0, ...inside, letters.length];
  return ends.slice(1).map((end, i) => letters.slice(ends[i], end).join(''));
}
