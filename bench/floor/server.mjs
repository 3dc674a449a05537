// The least that a gateway on Node can do: it reads a request and its JSON, sends it to the vendor
// over a kept connection, passes the answer on, and holds its last bytes until the rows of a charge
// are durable (SQLite, synchronous=FULL, a thread of its own, one commit for all that wait). They
// are always the same: it checks no key, keeps no limits, computes no price, and measures nothing.
// `node server.mjs OPTIONS`, with {port, database, vendors: {kind: base URL}} as JSON. A request is
// for /KIND/chat/completions.
import { createRequire } from 'node:module';
import { connect, createServer } from 'node:net';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

const headEnd = Buffer.from('\r\n\r\n');
const chunksEnd = Buffer.from('0\r\n\r\n');

function serve({ port, database, vendors }) {
  const commits = new Commits(new Worker(new URL(import.meta.url), { workerData: database }));
  const pools = new Map(
    Object.entries(vendors).map(([kind, base]) => [kind, new Pool(new URL(base))]),
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
      JSON.parse(body.utf8Slice());
      const kind = head.slice(head.indexOf('/') + 1, head.indexOf('/', head.indexOf('/') + 1));
      pools.get(kind).ask(body, client, commits);
    });
  }).listen(port, '127.0.0.1');
}

/** Kept connections to one vendor. */
class Pool {
  #idle = [];
  #base;
  #head;

  constructor(base) {
    this.#base = base;
    this.#head = `POST ${base.pathname}/chat/completions HTTP/1.1\r\nhost: ${base.host}\r\ncontent-type: application/json\r\ncontent-length: `;
  }

  ask(body, client, commits) {
    const vendor = this.#idle.pop() ?? this.#connect();
    vendor.answer = new Answer(client, commits, () => this.#idle.push(vendor));
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
  #free;

  constructor(client, commits, free) {
    this.#client = client;
    this.#commits = commits;
    this.#free = free;
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
    this.#free();
    this.#commits.add(this.#client, bytes);
  }

  #ends(bytes) {
    if (this.#left !== Number.POSITIVE_INFINITY) return this.#left <= 0;
    this.#tail = bytes.length < chunksEnd.length ? Buffer.concat([this.#tail, bytes]) : bytes;
    return this.#tail.subarray(-chunksEnd.length).equals(chunksEnd);
  }
}

/** Sends the commits one after the other; what comes meanwhile shares the next one. */
class Commits {
  #waiting = [];
  #sent = [];
  #thread;

  constructor(thread) {
    this.#thread = thread;
    thread.on('message', () => {
      const sent = this.#sent;
      this.#sent = [];
      if (this.#waiting.length > 0) this.#send();
      for (const { client, bytes } of sent) client.write(bytes);
    });
  }

  add(client, bytes) {
    this.#waiting.push({ client, bytes });
    if (this.#waiting.length === 1 && this.#sent.length === 0)
      setImmediate(() => this.#sent.length === 0 && this.#send());
  }

  #send() {
    this.#sent = this.#waiting;
    this.#waiting = [];
    this.#thread.postMessage(this.#sent.length);
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
  ) STRICT, WITHOUT ROWID;
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

function keepRows(path) {
  const builtin = process.getBuiltinModule?.('node:sqlite');
  const { DatabaseSync } = builtin ?? createRequire(import.meta.url)('@photostructure/sqlite');
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL');
  database.exec(schema);
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
