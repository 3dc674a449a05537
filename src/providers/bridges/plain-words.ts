import { stringEnd } from '../../base/json-edit.ts';

/** Nearly every chunk brings words and nothing else: their bytes become the event's, unparsed. Inside a string the head's quotes would be escaped. */
export function plainWords(json: string, head: string): string | undefined {
  const at = json.indexOf(head);
  if (at < 0) return undefined;
  const start = at + head.length - 1;
  const end = stringEnd(json, start);
  return json.charCodeAt(end) === 0x7d && json.indexOf('"finish_reason":"', end) < 0 ? json.slice(start, end) : undefined;
}
