import { stringEnd } from '../../base/json-edit.ts';

/**
 * Nearly every chunk brings words and nothing else: their bytes become the event's, unparsed.
 * Inside a string the head's quotes would be escaped.
 */
export function plainWords(json: string, head: string): string | undefined {
  const at = json.indexOf(head);
  if (at < 0) return undefined;
  const start = at + head.length - 1;
  const end = stringEnd(json, start);
  return json.charCodeAt(end) === 0x7d && json.indexOf('"finish_reason":"', end) < 0
    ? json.slice(start, end)
    : undefined;
}

/**
 * What becomes of the chunks that a chat adapter gave. It writes JSON without line ends, so that
 * each event is a line.
 */
export function eachChunk(chunks: string, translate: (json: string) => string): string {
  let out = '';
  for (let at = 0; at < chunks.length; ) {
    const end = chunks.indexOf('\n', at);
    const stop = end < 0 ? chunks.length : end;
    if (chunks.startsWith('data: {', at)) out += translate(chunks.slice(at + 6, stop));
    at = stop + 1;
  }
  return out;
}
