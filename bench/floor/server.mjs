// The least that a gateway on Node can do: it reads a request and its JSON, sends it to the vendor
// over a kept connection, passes the answer on, and holds its last bytes until the rows of a charge
// are durable (SQLite, synchronous=FULL, a thread of its own, one commit for all that wait). They
// are always the same: it checks no key, keeps no limits, computes no price, and measures nothing.
// With a `key` it does that, too (duties.mjs).
// `node server.mjs OPTIONS`, with {port, database, vendors: {kind: base URL}, key} as JSON. A
// request is for /KIND/chat/completions.
import { createRequire } from 'node:module';
import { connect, createServer } from 'node:net';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Duties, insertRows, schema as dutySchema } from './duties.mjs';

const headEnd = Buffer.from('\r\n\r\n');
const chunksEnd = Buffer.from('0\r\n\r\n');

function serve({ port, database, vendors, key }) {
  const hasDuties = key !== undefined;
  const workerData = { path: database, hasDuties };
  const commits = new Commits(new Worker(new URL(import.meta.url), { workerData }), hasDuties);
  const duties = hasDuties ? new Duties(key) : undefined;
  const pools = new Map(
    Object.entries(vendors).map(([kind, base]) => [kind, new Pool(new URL(base), hasDuties)]),
  );
  createServer({ noDelay: true }, (client) => {
    let kept = Buffer.alloc(0);
    client.on('error', () => client.destroy());
    client.on('data', (bytes) => {
      kept = kept.length === 0 ? bytes : Buffer.concat([kept, bytes]);
      const end = kept.indexOf(headEnd) + headEnd.length;
      if (end < headEnd.length) return;
      const head = kept.latin1Slice(0, end);
      const whole = end + lengthIn(head);
      if (kept.length < whole) return;
      const body = kept.subarray(end, whole);
      kept = kept.subarray(whole);
      const kind = head.slice(head.indexOf('/') + 1, head.indexOf('/', head.indexOf('/') + 1));
      if (duties === undefined) {
        JSON.parse(body.utf8Slice());
        pools.get(kind).ask(body, new Answer(client, commits));
        return;
      }
      const asked = duties.admit(head, body.utf8Slice());
      if (asked === undefined) client.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n');
      else pools.get(kind).askText(asked.sent, new ChargedAnswer(client, commits, duties, asked));
    });
  }).listen(port, '127.0.0.1');
}

/** Kept connections to one vendor. */
class Pool {
  #idle = [];
  #base;
  #head;

  constructor(base, hasKey) {
    this.#base = base;
    const secret = hasKey ? 'authorization: Bearer sk-of-the-vendor\r\n' : '';
    this.#head = `POST ${base.pathname}/chat/completions HTTP/1.1\r\nhost: ${base.host}\r\n${secret}content-type: application/json\r\ncontent-length: `;
  }

  #take(answer) {
    const vendor = this.#idle.pop() ?? this.#connect();
    vendor.answer = answer;
    answer.free = () => this.#idle.push(vendor);
    return vendor;
  }

  askText(text, answer) {
    const length = Buffer.byteLength(text);
    this.#take(answer).write(`${this.#head}${length}\r\n\r\n${text}`, 'utf8');
  }

  ask(body, answer) {
    const vendor = this.#take(answer);
    vendor.cork();
    vendor.write(`${this.#head}${body.length}\r\n\r\n`, 'latin1');
    vendor.write(body);
    vendor.uncork();
  }

  #connect() {
    const vendor = connect({ host: this.#base.hostname, port: this.#base.port, noDelay: true });
    vendor.on('data', (bytes) => vendor.answer.read(bytes));
    vendor.on('error', () => vendor.destroy());
    return vendor;
  }
}

/** Passes an answer on, all but its end, which waits for the commit. */
class Answer {
  /** Bytes that are still to come; undefined before the head; infinite for chunks. */
  #left;
  /** The text of an answer in JSON, with its chunks' sizes; undefined for others. */
  #json;
  #tail = Buffer.alloc(0);
  #client;
  #commits;
  free;

  constructor(client, commits) {
    this.#client = client;
    this.#commits = commits;
  }

  read(bytes) {
    let from = 0;
    if (this.#left === undefined) {
      from = bytes.indexOf(headEnd) + headEnd.length;
      const head = bytes.latin1Slice(0, from);
      this.#left = lengthIn(head) || Number.POSITIVE_INFINITY;
      if (head.includes('application/json')) this.#json = '';
    }
    this.#left -= bytes.length - from;
    if (this.#json !== undefined) this.#json += bytes.latin1Slice(from);
    if (!this.#ends(bytes)) return void this.#client.write(bytes);
    if (this.#json !== undefined)
      JSON.parse(this.#left === Number.POSITIVE_INFINITY ? withoutSizes(this.#json) : this.#json);
    this.free();
    this.#commits.add(this.#client, bytes);
  }

  #ends(bytes) {
    if (this.#left !== Number.POSITIVE_INFINITY) return this.#left <= 0;
    this.#tail = bytes.length < chunksEnd.length ? Buffer.concat([this.#tail, bytes]) : bytes;
    return this.#tail.subarray(-chunksEnd.length).equals(chunksEnd);
  }
}

/** The same where the client gets a head and a text of our own. */
class ChargedAnswer {
  #left;
  #text = '';
  #isStream = false;
  #usage;
  #client;
  #commits;
  #duties;
  #asked;
  free;

  constructor(client, commits, duties, asked) {
    this.#client = client;
    this.#commits = commits;
    this.#duties = duties;
    this.#asked = asked;
  }

  read(bytes) {
    let piece = bytes.latin1Slice();
    if (this.#left === undefined) {
      const end = piece.indexOf('\r\n\r\n') + headEnd.length;
      const head = piece.slice(0, end);
      piece = piece.slice(end);
      this.#left = lengthIn(head) || Number.POSITIVE_INFINITY;
      this.#isStream = !head.includes('application/json');
      if (this.#isStream)
        this.#client.write(this.#duties.streamHead(this.#asked, this.#left), 'latin1');
    }
    this.#left -= piece.length;
    if (this.#isStream) return this.#pass(piece);
    this.#text += piece;
    if (!this.#endsWith(this.#text)) return;
    this.free();
    const text = this.#left > 0 ? withoutSizes(this.#text) : this.#text;
    const { values, bytes: whole } = this.#duties.whole(this.#asked, text);
    this.#commits.add(this.#client, whole, values);
  }

  #endsWith(text) {
    return this.#left <= 0 || text.endsWith('0\r\n\r\n');
  }

  /** Usage comes in one of the last events. */
  #pass(piece) {
    const at = piece.indexOf('"usage":{');
    if (at >= 0) this.#usage = JSON.parse(piece.slice(at + 8, piece.indexOf('}', at) + 1));
    if (!this.#endsWith(piece)) return void (piece && this.#client.write(piece, 'latin1'));
    this.free();
    const usage = this.#usage ?? { prompt_tokens: 300, completion_tokens: 100 };
    this.#commits.add(this.#client, piece, this.#duties.charge(this.#asked, usage, null));
  }
}

/** Sends the commits one after the other; what comes meanwhile shares the next one. */
class Commits {
  #waiting = [];
  #sent = [];
  #values = [];
  #thread;
  #hasDuties;

  constructor(thread, hasDuties) {
    this.#thread = thread;
    this.#hasDuties = hasDuties;
    thread.on('message', () => {
      const sent = this.#sent;
      this.#sent = [];
      if (this.#waiting.length > 0) this.#send();
      for (const { client, bytes } of sent) client.write(bytes, 'latin1');
    });
  }

  /** `values`: those of its rows, where they are not always the same. */
  add(client, bytes, values) {
    this.#waiting.push({ client, bytes });
    if (values !== undefined) this.#values.push(...values);
    if (this.#waiting.length === 1 && this.#sent.length === 0)
      setImmediate(() => this.#sent.length === 0 && this.#send());
  }

  #send() {
    this.#sent = this.#waiting;
    this.#waiting = [];
    this.#thread.postMessage(this.#hasDuties ? this.#values : this.#sent.length);
    this.#values = [];
  }
}

/**
 * The rows of Tollgate's charge, in tables of the same kind and with as many bytes: a usage record
 * that is found by account, a transfer, and once for each commit the sums of a process and of an
 * account.
 */
const schema = `
  CREATE TABLE IF NOT EXISTS record (
    id TEXT PRIMARY KEY, account TEXT NOT NULL, at INTEGER NOT NULL, rest TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS record_of_account ON record (account, at, id);
  CREATE TABLE IF NOT EXISTS transfer (
    id TEXT PRIMARY KEY, debit TEXT NOT NULL, credit TEXT NOT NULL,
    amount INTEGER NOT NULL, at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`;
/** With duties or without. */
const sums = `
  CREATE TABLE IF NOT EXISTS process (
    id TEXT PRIMARY KEY, commits INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS account (
    id TEXT PRIMARY KEY, spent INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT OR IGNORE INTO process VALUES ('process', 0);
  INSERT OR IGNORE INTO account VALUES ('account', 0)`;
const account = "'user_01kb2m8x3v5c7n9q'";
const restBytes = 190;

function keepRows({ path, hasDuties }) {
  const builtin = process.getBuiltinModule?.('node:sqlite');
  const { DatabaseSync } = builtin ?? createRequire(import.meta.url)('@photostructure/sqlite');
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL');
  database.exec(hasDuties ? dutySchema : schema);
  database.exec(sums);
  if (hasDuties) {
    keepCharges(database);
    return;
  }
  const rest = 'r'.repeat(restBytes);
  const [begin, commit, claim, spend, record, transfer] = [
    'BEGIN IMMEDIATE',
    'COMMIT',
    'UPDATE process SET commits=commits+1',
    'UPDATE account SET spent=spent+?',
    `INSERT INTO record VALUES (?, ${account}, ?, '${rest}')`,
    `INSERT INTO transfer VALUES (?, ${account}, 'revenue', 1, ?)`,
  ].map((sql) => database.prepare(sql));
  let made = 0;
  parentPort.on('message', (count) => {
    begin.run();
    claim.run();
    spend.run(count);
    const now = Date.now();
    for (let i = 0; i < count; i++) {
      const id = `req_${now.toString(16)}${String(made++).padStart(20, '0')}`;
      record.run(id, now);
      transfer.run(id, now);
    }
    commit.run();
    parentPort.postMessage(count);
  });
}

function keepCharges(database) {
  const [begin, commit, claim, spend] = [
    'BEGIN IMMEDIATE',
    'COMMIT',
    'UPDATE process SET commits=commits+1',
    'UPDATE account SET spent=spent+?',
  ].map((sql) => database.prepare(sql));
  const insert = insertRows(database);
  parentPort.on('message', (values) => {
    begin.run();
    claim.run();
    spend.run(insert(values));
    commit.run();
    parentPort.postMessage(0);
  });
}

/** The content of a chunked body. */
function withoutSizes(body) {
  let content = '';
  for (let at = 0; ; ) {
    const from = body.indexOf('\r\n', at) + 2;
    const size = Number.parseInt(body.slice(at, from), 16);
    if (!(size > 0)) return content;
    content += body.slice(from, from + size);
    at = from + size + 2;
  }
}

function lengthIn(head) {
  const at = head.search(/\r\ncontent-length:/i);
  return at < 0 ? 0 : Number.parseInt(head.slice(at + '\r\ncontent-length:'.length), 10);
}

if (isMainThread) serve(JSON.parse(process.argv[2] ?? ''));
else keepRows(workerData);
