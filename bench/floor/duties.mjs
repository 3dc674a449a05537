// What a gateway that is paid for owes each request, in as few lines and as little time as we know:
// a key that is looked up by its hash, checks, a limit of requests and one of tokens, money that is
// set aside, the vendor's own key and name of the model, a price by the vendor's count, a record
// with its columns, counters and histograms, a line of the log, and headers that tell the client
// its limits. No vendor fails here, no client leaves, nothing is translated and nothing is tried
// again.
import { hash } from 'node:crypto';
import { writeSync } from 'node:fs';

const windowMs = 60_000;
const limits = { requests: 1e9, tokens: 1e12 };
const price = { input: 2_000_000_000n, output: 8_000_000_000n };
const million = 1_000_000n;
const bytesPerToken = 2;
const logChars = 8_192;
const perDecade = 16;

export class Duties {
  #keys;
  #models = new Map([['instant', { count: 0, input: 0, output: 0, nano: 0, kind: 'chat' }]]);
  #whole = new Histogram();
  #own = new Histogram();
  #log = '';
  #made = 0;
  #epoch = Math.round(performance.timeOrigin).toString(36);
  #second = 0;
  #date = '';

  /** `key`: the only client's. */
  constructor(key) {
    const client = {
      account: 'user_01kb2m8x3v5c7n9q',
      keyId: 'key_01kb2m8x3v5c7n9r',
      balance: 10n ** 18n,
      requestsFullAt: 0,
      tokensFullAt: 0,
    };
    this.#keys = new Map([[hash('sha256', key, 'base64'), client]]);
  }

  /** Undefined for a request that is refused. */
  admit(head, text) {
    const startedMs = performance.now();
    const client = this.#keys.get(
      hash('sha256', headerIn(head, 'authorization: Bearer '), 'base64'),
    );
    const body = JSON.parse(text);
    const model = this.#models.get(body.model);
    if (client === undefined || model === undefined || !isChat(body)) return undefined;
    const tokens = Math.ceil(text.length / bytesPerToken);
    const most = body.max_tokens ?? 4_096;
    const reserved =
      (BigInt(tokens) * price.input + BigInt(most) * price.output + million - 1n) / million;
    const requestsFullAt = Math.max(client.requestsFullAt, startedMs) + windowMs / limits.requests;
    const tokensFullAt =
      Math.max(client.tokensFullAt, startedMs) + ((tokens + most) * windowMs) / limits.tokens;
    if (
      requestsFullAt > startedMs + windowMs ||
      tokensFullAt > startedMs + windowMs ||
      client.balance < reserved
    )
      return undefined;
    client.requestsFullAt = requestsFullAt;
    client.tokensFullAt = tokensFullAt;
    client.balance -= reserved;
    return {
      id: `req_${this.#epoch}${(this.#made++).toString(36).padStart(12, '0')}`,
      client,
      model,
      name: body.model,
      reserved,
      startedMs,
      at: Date.now(),
      vendorMs: performance.now(),
      stream: body.stream === true,
      sent: text.replace(`"model":"${body.model}"`, '"model":"instant"'),
    };
  }

  /** The whole response, and the values of its rows. */
  whole(asked, text) {
    const { usage, model, id } = JSON.parse(text);
    const answer = text.replace(`"model":"${model}"`, `"model":"${asked.name}"`);
    const values = this.charge(asked, usage, id);
    return {
      values,
      bytes: `${this.head(asked)}content-type: application/json\r\ncontent-length: ${answer.length}\r\n\r\n${answer}`,
    };
  }

  streamHead(asked, length) {
    const ends = Number.isFinite(length)
      ? `content-length: ${length}`
      : 'transfer-encoding: chunked';
    return `${this.head(asked)}content-type: text/event-stream\r\n${ends}\r\n\r\n`;
  }

  head({ id, client, startedMs }) {
    const second = Math.floor(Date.now() / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#date = new Date(second * 1_000).toUTCString();
    }
    const left = (fullAt, limit) =>
      Math.floor(((windowMs - Math.max(0, fullAt - startedMs)) * limit) / windowMs).toFixed();
    return (
      `HTTP/1.1 200 OK\r\nx-request-id: ${id}\r\nx-ratelimit-limit-requests: ${limits.requests}\r\n` +
      `x-ratelimit-remaining-requests: ${left(client.requestsFullAt, limits.requests)}\r\nx-ratelimit-reset-requests: 1ms\r\n` +
      `x-ratelimit-limit-tokens: ${limits.tokens}\r\nx-ratelimit-remaining-tokens: ${left(client.tokensFullAt, limits.tokens)}\r\n` +
      `x-ratelimit-reset-tokens: 1ms\r\ndate: ${this.#date}\r\nconnection: keep-alive\r\nkeep-alive: timeout=75\r\n`
    );
  }

  charge(
    { id, client, model, name, reserved, startedMs, at, vendorMs, stream },
    usage,
    upstreamId,
  ) {
    const input = usage.prompt_tokens ?? usage.input_tokens ?? 0;
    const output = usage.completion_tokens ?? usage.output_tokens ?? 0;
    const inputCost = (BigInt(input) * price.input + million - 1n) / million;
    const outputCost = (BigInt(output) * price.output + million - 1n) / million;
    const cost = inputCost + outputCost;
    client.balance += reserved - cost;
    const now = performance.now();
    const [wholeMs, ownMs] = [now - startedMs, vendorMs - startedMs];
    model.count += 1;
    model.input += input;
    model.output += output;
    model.nano += Number(cost);
    this.#whole.observe(wholeMs);
    this.#own.observe(ownMs);
    const charged = cost.toString();
    this.#tell(
      `{"level":"info","time":${at},"event":"request","id":"${id}","user":"${client.account}","key":"${client.keyId}","model":"${name}","group":"default","channel":"openai"` +
        `,"stream":${stream},"status":200,"outcome":"ok","attempts":1,"inputTokens":${input},"outputTokens":${output},"costNano":"${charged}","durationMs":${wholeMs.toFixed(1)}}\n`,
    );
    const lines = `[["input",${input},"${price.input}","${inputCost}"],["output",${output},"${price.output}","${outputCost}"]]`;
    // prettier-ignore
    return [
      id,
      client.account,
      cost,
      'charge',
      at,
      cost,
      0n,
      client.keyId,
      at,
      at + Math.round(wholeMs),
      'chat',
      name,
      'default',
      'openai',
      upstreamId,
      'ok',
      stream ? 1 : 0,
      0,
      Math.round(wholeMs),
      Math.round(wholeMs),
      1,
      input,
      output,
      lines,
      null,
      null,
    ];
  }

  #tell(line) {
    this.#log += line;
    if (this.#log.length < logChars) return;
    writeSync(1, this.#log);
    this.#log = '';
  }
}

const roles = new Set(['system', 'developer', 'user', 'assistant', 'tool', 'function']);
const isChat = ({ messages, max_tokens: most }) =>
  Array.isArray(messages) &&
  messages.length > 0 &&
  messages.every(({ role, content }) => roles.has(role) && typeof content === 'string') &&
  (most === undefined || Number.isInteger(most));

function headerIn(head, start) {
  const at = head.indexOf(start) + start.length;
  return head.slice(at, head.indexOf('\r', at));
}

class Histogram {
  #counts = new Float64Array(8 * perDecade + 1);
  sum = 0;
  observe(ms) {
    this.#counts[Math.max(0, Math.min(128, Math.ceil(Math.log10(ms / 0.01) * perDecade)))] += 1;
    this.sum += ms;
  }
}

/** The columns of `Duties.charge`: those of the transfer, then those of the record. */
export const schema = `
  CREATE TABLE IF NOT EXISTS record (
    id TEXT PRIMARY KEY, account TEXT NOT NULL, cost INTEGER NOT NULL, shortfall INTEGER NOT NULL,
    key_id TEXT NOT NULL, reserved_at INTEGER NOT NULL, finished_at INTEGER NOT NULL,
    capability TEXT NOT NULL, model TEXT NOT NULL, group_name TEXT NOT NULL, channel TEXT,
    upstream_id TEXT, status TEXT NOT NULL, stream INTEGER NOT NULL, estimated INTEGER NOT NULL,
    first_byte_ms INTEGER, duration_ms INTEGER NOT NULL, attempts INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, lines TEXT NOT NULL,
    excess INTEGER, reported TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS record_of_account ON record (account, finished_at, id);
  CREATE TABLE IF NOT EXISTS transfer (
    id TEXT PRIMARY KEY, debit TEXT NOT NULL, credit TEXT NOT NULL, amount INTEGER NOT NULL,
    code TEXT NOT NULL, at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`;

const transferColumns = 5;
const columns = 26;
const sizes = [16, 4, 1];

/** Inserts the rows of all charges of a commit, and returns their sum. */
export function insertRows(database) {
  const places = (count) => `(${Array.from({ length: count }, () => '?').join(',')})`;
  const statements = sizes.map((rows) => {
    const of = (count) => Array.from({ length: rows }, () => places(count)).join(',');
    return [
      rows,
      database.prepare(
        `INSERT OR ROLLBACK INTO transfer (id,debit,credit,amount,code,at) VALUES ${of(6)}`,
      ),
      database.prepare(`INSERT OR ROLLBACK INTO record VALUES ${of(columns - 3)}`),
    ];
  });
  return (values) => {
    let sum = 0n;
    for (let at = 0; at < values.length; ) {
      const left = (values.length - at) / columns;
      const [rows, transfer, record] = statements.find(([size]) => size <= left);
      const [transfers, records] = [[], []];
      for (const end = at + rows * columns; at < end; at += columns) {
        const [id, account] = [values[at], values[at + 1]];
        sum += values[at + 2];
        transfers.push(id, account, 'revenue', values[at + 2], values[at + 3], values[at + 4]);
        records.push(id, account);
        for (let i = at + transferColumns; i < at + columns; i++) records.push(values[i]);
      }
      transfer.run(...transfers);
      record.run(...records);
    }
    return sum;
  };
}
