/** Reply headers as they came; looked up only when somebody asks. */
export class ReplyHeaders {
  /** `\r\nname: value` for each, as latin1. */
  readonly #text: string;
  #lower: string | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** The first value of the header with this name, which is given in lower case. */
  get(name: string): string | undefined {
    return this.#after(`\r\n${name}:`, 0)?.value;
  }

  /** Every value of it, in the order they came. */
  all(name: string): string[] {
    const mark = `\r\n${name}:`;
    const values: string[] = [];
    for (let found = this.#after(mark, 0); found !== undefined; found = this.#after(mark, found.end)) values.push(found.value);
    return values;
  }

  #after(mark: string, from: number): { readonly value: string; readonly end: number } | undefined {
    this.#lower ??= this.#text.toLowerCase();
    const at = this.#lower.indexOf(mark, from);
    if (at < 0) return undefined;
    const next = this.#text.indexOf('\r\n', at + mark.length);
    const end = next < 0 ? this.#text.length : next;
    return { value: this.#text.slice(at + mark.length, end).trim(), end };
  }

  /** By name in lower case; of several with one name the last. */
  toObject(): Record<string, string> {
    const all: Record<string, string> = {};
    for (const line of this.#text.split('\r\n')) {
      const colon = line.indexOf(':');
      if (colon > 0) all[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
    }
    return all;
  }
}

/** A reply that breaks the rules of HTTP/1.1: what follows on its connection means nothing. */
export class BadReply extends Error {
  readonly code = 'BAD_REPLY';
}

/** What the head of a reply says. */
export interface ReplyHead {
  readonly status: number;
  readonly headers: ReplyHeaders;
  /** How its body ends: after so many bytes, by its last chunk, or with the connection. */
  readonly body: number | 'chunked' | 'connection';
  /** Whether the connection can carry another call, and for how long it stays open unused if the vendor says so, ms. */
  readonly keeps: boolean;
  readonly keptMs: number | undefined;
}

/** Reads a head: status line and headers without the empty line that ends them. Throws BadReply. RFC 9112 §4, §6.3. */
export function readHead(text: string): ReplyHead {
  const lineEnd = text.indexOf('\r\n');
  const line = lineEnd < 0 ? text : text.slice(0, lineEnd);
  const status = Number(line.slice(9, 12));
  if (!line.startsWith('HTTP/1.') || line[8] !== ' ' || !(status >= 100 && status <= 999) || (line.length > 12 && line[12] !== ' '))
    throw new BadReply(`no status line: ${JSON.stringify(line.slice(0, 60))}`);
  const headers = new ReplyHeaders(lineEnd < 0 ? '' : text.slice(lineEnd));
  const coding = headers.get('transfer-encoding');
  const body = bodyOf(status, headers, coding);
  const connection = headers.get('connection')?.toLowerCase();
  // A length beside chunks is how a second reply is smuggled into the first.
  const doubtful = coding !== undefined && headers.get('content-length') !== undefined;
  const stays = line[7] === '1' ? connection !== 'close' : connection === 'keep-alive';
  return { status, headers, body, keeps: stays && !doubtful && body !== 'connection', keptMs: keptOf(headers.get('keep-alive')) };
}

function bodyOf(status: number, headers: ReplyHeaders, coding: string | undefined): ReplyHead['body'] {
  if (status < 200 || status === 204 || status === 304) return 0;
  if (coding !== undefined) {
    if (coding.toLowerCase() !== 'chunked') throw new BadReply(`transfer-encoding ${coding} was not asked for`);
    return 'chunked';
  }
  const [length, ...others] = headers.all('content-length');
  if (length === undefined) return 'connection';
  if (!/^\d{1,15}$/.test(length) || others.some((other) => other !== length))
    throw new BadReply(`content-length ${[length, ...others].join(', ')}`);
  return Number(length);
}

/** The vendor closes an unused connection after so long; a second earlier it is no longer believed to be open. */
function keptOf(keepAlive: string | undefined): number | undefined {
  const seconds = keepAlive === undefined ? undefined : /timeout=(\d+)/.exec(keepAlive)?.[1];
  return seconds === undefined ? undefined : Math.max(0, Number(seconds) - 1) * 1_000;
}
