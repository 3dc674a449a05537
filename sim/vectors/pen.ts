import type { Answer } from '../answer.ts';
import type { Json } from '../json.ts';
import { eventStream, type Pen } from '../play.ts';

/** Writes what is never streamed. */
export function wholePen(whole: (answer: Answer) => Json): Pen {
  return { ...eventStream, whole, events: () => [], error: () => '' };
}

/** The scenario and the key of repetition need a request in chat's words. */
export const asQuestion = (texts: readonly string[]): Json => ({
  messages: [{ role: 'user', content: texts.join('\n') }],
});
