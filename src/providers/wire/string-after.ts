import { stringEnd } from '../../base/json-edit.ts';

/**
 * The JSON string after the first `marker`, quotes included, when it is the last member of its
 * object; found without parsing. `marker` names members (`"delta":{"text":`): inside a string their
 * quotes would be escaped, so that it is never part of a text.
 */
export function stringAfter(text: string, marker: string): string | undefined {
  const found = text.indexOf(marker);
  const start = found + marker.length;
  if (found < 0 || text.charCodeAt(start) !== 0x22) return undefined;
  let end: number;
  try {
    end = stringEnd(text, start);
  } catch {
    return undefined;
  }
  return text.charCodeAt(end) === 0x7d ? text.slice(start, end) : undefined;
}
