import { isObject, type JsonObject, listOf, stringOf, textOf } from '../../base/json.ts';
import { hasMediaInResults, holdsMedia, isMedium } from '../support/messages.ts';

/**
 * The messages for a model that reads text alone in the results of tools: their media stand in a
 * user's message, after all results of a step.
 */
export function mediaAfterResults(messages: unknown): unknown {
  if (!hasMediaInResults(messages)) return messages;
  const all: unknown[] = [];
  let moved: unknown[] = [];
  for (const message of listOf(messages)) {
    if (holdsMedia(message)) {
      const parts = listOf(message['content']);
      const id = stringOf(message['tool_call_id']);
      moved.push(textPart(`Result of the call ${id}:`));
      for (const part of parts) if (isMedium(part)) moved.push(part);
      all.push({ ...message, content: resultText(parts) });
    } else if (moved.length === 0 || (isObject(message) && message['role'] === 'tool'))
      all.push(message);
    else {
      all.push(...withParts(moved, message));
      moved = [];
    }
  }
  return moved.length === 0 ? all : [...all, { role: 'user', content: moved }];
}

/** What is left of a result as one text: not every vendor takes parts here. */
function resultText(parts: readonly unknown[]): string {
  const texts = parts.flatMap((part) => (isObject(part) ? (textOf(part['text']) ?? []) : []));
  return texts.join('\n\n') || '(see below)';
}

/** The parts at the beginning of a user's message, or in one of their own before another's. */
function withParts(parts: readonly unknown[], message: unknown): unknown[] {
  if (!isObject(message) || message['role'] !== 'user')
    return [{ role: 'user', content: parts }, message];
  const { content } = message;
  const said = textOf(content);
  const own = said ? [textPart(said)] : listOf(content);
  return [{ ...message, content: [...parts, ...own] }];
}

const textPart = (text: string): JsonObject => ({ type: 'text', text });
