export type Headers = Readonly<Record<string, string>>;

/** What the head of one request says. */
export interface Said {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** Who we are; `headers` of the same name are said instead. */
  readonly sign?: Headers | undefined;
  readonly headers: Headers;
}

const wrongInPath = /[^\x21-\xff]/;
/** In lower case alone, so that none of those below hides behind a capital. */
const wrongInName = /[^!#$%&'*+\-.^_`|~0-9a-z]/;
const wrongInValue = /[^\t\x20-\x7e\x80-\xff]/;
/** What is the connection's own to say. */
const ours = new Set([
  'connection',
  'content-length',
  'transfer-encoding',
  'keep-alive',
  'upgrade',
  'expect',
]);

/**
 * The heads of requests to one host (name and port). Who is asked again and again is told the same
 * headers: their text is kept for as long as they are the same objects, which nobody changes.
 */
export class RequestHeads {
  readonly #host: string;
  #sign: Headers | undefined;
  #headers: Headers | undefined;
  #lines = '';

  constructor(host: string) {
    this.#host = host;
  }

  /**
   * As latin1 text, with the empty line that ends it; `length`: bytes of the body. Throws on what
   * would not be one header. RFC 9112 §3, RFC 9110 §5.
   */
  head({ method, path, sign, headers }: Said, length: number): string {
    if (wrongInPath.test(path)) throw new Error(`a path cannot be ${JSON.stringify(path)}`);
    if (sign !== this.#sign || headers !== this.#headers) {
      this.#lines = linesOf(this.#host, sign, headers);
      this.#sign = sign;
      this.#headers = headers;
    }
    const counted =
      length > 0 || method === 'POST' || method === 'PUT' ? `content-length: ${length}\r\n` : '';
    return `${method} ${path} HTTP/1.1\r\n${this.#lines}${counted}\r\n`;
  }
}

function linesOf(host: string, sign: Headers | undefined, headers: Headers): string {
  let lines = '';
  const all: Headers = sign === undefined ? headers : Object.assign({}, sign, headers);
  for (const [name, value] of Object.entries(all)) {
    if (name === '' || wrongInName.test(name))
      throw new Error(`a header cannot be called ${JSON.stringify(name)}`);
    if (wrongInValue.test(value))
      throw new Error(`the header ${name} holds a character that headers cannot hold`);
    if (ours.has(name)) throw new Error(`the header ${name} is the connection's own`);
    lines += `${name}: ${value}\r\n`;
  }
  return `${'host' in all ? '' : `host: ${host}\r\n`}connection: keep-alive\r\n${lines}`;
}
