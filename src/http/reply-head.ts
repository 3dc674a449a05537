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
    for (
      let found = this.#after(mark, 0);
      found !== undefined;
      found = this.#after(mark, found.end)
    )
      values.push(found.value);
    return values;
  }

  #after(mark: string, from: number): { readonly value: string; readonly end: number } | undefined {
    this.#lower ??= this.#text.toLowerCase();
    const at = this.#lower.indexOf(mark, from);
    if (at < 0) return undefined;
    const next = this.#text.indexOf('\r\n', at + mark.length);
    const end = next < 0 ? this.#text.length : next;
    return { value: trimmed(this.#text.slice(at + mark.length, end)), end };
  }

  /** By name in lower case; of several with one name the last. */
  toObject(): Record<string, string> {
    const all: Record<string, string> = {};
    for (const line of this.#text.split('\r\n')) {
      const colon = line.indexOf(':');
      if (colon > 0) all[line.slice(0, colon).toLowerCase()] = trimmed(line.slice(colon + 1));
    }
    return all;
  }
}

/**
 * Without spaces around it. What else may be taken for a space, tabs among it, is part of a value
 * to others, and a length with it is none.
 */
function trimmed(value: string): string {
  let from = 0;
  let to = value.length;
  while (isBlank(value.charCodeAt(from))) from += 1;
  while (to > from && isBlank(value.charCodeAt(to - 1))) to -= 1;
  return value.slice(from, to);
}

const isBlank = (code: number): boolean => code === 0x20;

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
  /**
   * Whether the connection can carry another call, and for how long it stays open unused if the
   * vendor says so, ms.
   */
  readonly keeps: boolean;
  readonly keptMs: number | undefined;
}

/**
 * A status line and whole headers, each on one line of its own: no folded line, no space before a
 * colon, no control characters. Whoever reads those in another way than a proxy before it takes one
 * reply for two (RFC 9112 §2.2, §5).
 */
const plainHead =
  /^HTTP\/1\.[01] [1-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?(?:\r\n[!#$%&'*+\-.^_`|~\w]+:[\t\x20-\x7e\x80-\xff]*)*$/;

/**
 * Reads a head: status line and headers without the empty line that ends them. Throws BadReply. RFC
 * 9112 §4, §6.3.
 */
export function readHead(text: string): ReplyHead {
  if (!plainHead.test(text))
    throw new BadReply(`no head of a reply: ${JSON.stringify(text.slice(0, 60))}`);
  const status = Number(text.slice(9, 12));
  const lineEnd = text.indexOf('\r\n');
  const headers = new ReplyHeaders(lineEnd < 0 ? '' : text.slice(lineEnd));
  const coding = headers.get('transfer-encoding');
  const body = bodyOf(status, headers, coding);
  const connection = headers.get('connection')?.toLowerCase();
  const is11 = text[7] === '1';
  // A length beside chunks is how a second reply is smuggled into the first, and HTTP/1.0 knows no
  // chunks.
  const doubtful = coding !== undefined && (!is11 || headers.get('content-length') !== undefined);
  const stays = connection === undefined ? is11 : connection === 'keep-alive';
  return {
    status,
    headers,
    body,
    keeps: stays && !doubtful && body !== 'connection',
    keptMs: keptOf(headers.get('keep-alive')),
  };
}

function bodyOf(
  status: number,
  headers: ReplyHeaders,
  coding: string | undefined,
): ReplyHead['body'] {
  const [length, ...others] = headers.all('content-length');
  if (length !== undefined && (others.length > 0 || !/^\d{1,15}$/.test(length)))
    throw new BadReply(`content-length ${[length, ...others].join(', ')}`);
  if (status < 200 || status === 204 || status === 304) return 0;
  if (coding !== undefined) {
    const codings = headers.all('transfer-encoding');
    if (codings.length > 1 || coding.toLowerCase() !== 'chunked')
      throw new BadReply(`transfer-encoding ${codings.join(', ')} was not asked for`);
    return 'chunked';
  }
  return length === undefined ? 'connection' : Number(length);
}

/**
 * The vendor closes an unused connection after so long; a second earlier it is no longer believed
 * to be open.
 */
function keptOf(keepAlive: string | undefined): number | undefined {
  const seconds = keepAlive === undefined ? undefined : /timeout=(\d+)/.exec(keepAlive)?.[1];
  return seconds === undefined ? undefined : Math.max(0, Number(seconds) - 1) * 1_000;
}
