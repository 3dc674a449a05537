import type { Answer } from '../answer.ts';
import type { Json } from '../json.ts';
import { eventStream, type Writer } from '../play.ts';

/** A writer for endpoints without streams. */
export function wholeWriter(whole: (answer: Answer) => Json): Writer {
  return { ...eventStream, whole, events: () => [], error: () => '' };
}

/** The texts as a chat request: scenarios and retries are recognised by one. */
export const asQuestion = (texts: readonly string[]): Json => ({
  messages: [{ role: 'user', content: texts.join('\n') }],
});
