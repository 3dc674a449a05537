/** What a request's head is made of. */
export interface HeadOf {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** Name and port of whom it is for. */
  readonly host: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes of the body. */
  readonly length: number;
}

const wrongInPath = /[^\x21-\xff]/;
/** In lower case alone, so that none of those below hides behind a capital. */
const wrongInName = /[^!#$%&'*+\-.^_`|~0-9a-z]/;
const wrongInValue = /[^\t\x20-\x7e\x80-\xff]/;
/** What is the connection's own to say. */
const ours = new Set(['connection', 'content-length', 'transfer-encoding', 'keep-alive', 'upgrade', 'expect']);

/** The head as latin1 text, with the empty line that ends it. Throws on what would not be one header. RFC 9112 §3, RFC 9110 §5. */
export function requestHead({ method, path, host, headers, length }: HeadOf): string {
  if (wrongInPath.test(path)) throw new Error(`a path cannot be ${JSON.stringify(path)}`);
  let lines = '';
  let named = false;
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined) continue;
    if (name === '' || wrongInName.test(name)) throw new Error(`a header cannot be called ${JSON.stringify(name)}`);
    if (wrongInValue.test(value)) throw new Error(`the header ${name} holds a character that headers cannot hold`);
    if (ours.has(name)) throw new Error(`the header ${name} is the connection's own`);
    named ||= name === 'host';
    lines += `${name}: ${value}\r\n`;
  }
  const counted = length > 0 || method === 'POST' || method === 'PUT' ? `content-length: ${length}\r\n` : '';
  return `${method} ${path} HTTP/1.1\r\n${named ? '' : `host: ${host}\r\n`}connection: keep-alive\r\n${lines}${counted}\r\n`;
}
