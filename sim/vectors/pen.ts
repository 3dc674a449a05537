import type { Answer } from '../answer.ts';
import type { Json } from '../json.ts';
import { eventStream, type Pen } from '../play.ts';

/** A writer for endpoints without streams. */
export function wholePen(whole: (answer: Answer) => Json): Pen {
  return { ...eventStream, whole, events: () => [], error: () => '' };
}

/** The texts as a chat request: scenarios and retries are recognised by one. */
export const asQuestion = (texts: readonly string[]): Json => ({
  messages: [{ role: 'user', content: texts.join('\n') }],
});
