import { STATUS_CODES } from 'node:http';
import type { Clock } from '../base/clock.ts';

const wrongInValue = /[^\t\x20-\x7e\x80-\xff]/;

/**
 * The head of an answer as latin1 text, with the empty line that ends it. `headers`: name, value,
 * name, value, …; names are ours, values may be anybody's. Throws on a value that would not be one.
 */
export function responseHead(status: number, headers: readonly string[], always: string): string {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const value = headers[i + 1] ?? '';
    if (wrongInValue.test(value))
      throw new Error(`the header ${headers[i]} holds a character that headers cannot hold`);
    text += `${headers[i]}: ${value}\r\n`;
  }
  return `${text}${always}\r\n`;
}

/** `lines` with the date of now, which is made once a second. */
export function httpDates(clock: Clock, lines: string): () => string {
  let second = -1;
  let text = '';
  return () => {
    const now = Math.floor(clock.now() / 1_000);
    if (now !== second) {
      second = now;
      text = `date: ${new Date(now * 1_000).toUTCString()}\r\n${lines}`;
    }
    return text;
  };
}
