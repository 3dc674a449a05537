import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../src/base/clock.ts';
import { nanoPerYuan } from '../src/base/money.ts';
import { type Random, seededRandom } from '../src/base/random.ts';
import { check } from '../src/ledger/check.ts';
import { balance } from '../src/ledger/ledger.ts';
import type { Database } from '../src/storage/database.ts';
import { open } from '../src/storage/open.ts';
import { type FreshDatabase, forEachDatabase } from './databases.ts';
import { newCustomer, newTestKey } from './support/customer.ts';
import { type GatewayProcess, startProcess } from './support/process.ts';
import {
  completion,
  json,
  type Received,
  sse,
  startVendor,
  streamOf,
} from './support/scripted-vendor.ts';

const rounds = Number(process.env['TOLLGATE_CRASH_ROUNDS'] ?? 3);

/** A thousandth of a yuan a token, two a verdict, three a search. */
const configuration = (url: string): string => `
groups:
  - { name: default, price_multiplier: 1.0 }
models:
  - { id: chat, owned_by: openai, kind: chat, context: 128000, max_output: 1000, price: { input: 1000, output: 1000 } }
  - { id: embed, owned_by: openai, kind: embedding, price: { input: 1000 } }
  - { id: judge, owned_by: openai, kind: moderation, price: { request: 0.002 } }
  - { id: search, owned_by: openai, kind: rerank, price: { request: 0.003 } }
channels:
  - { name: a, vendor: openai, base_url: "${url}/v1", api_key: up, groups: [default], models: [embed, judge] }
  - { name: b, vendor: vllm, base_url: "${url}/v1", api_key: up, groups: [default], models: [chat, search] }
`;

const chatUsage = { prompt_tokens: 9, completion_tokens: 10, total_tokens: 19 };
const text = {
  object: 'text_completion',
  choices: [{ index: 0, text: 'Hello', finish_reason: 'stop', logprobs: null }],
};
const vector = {
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
  usage: { prompt_tokens: 1, total_tokens: 1 },
};
const verdict = { id: 'modr', results: [{ flagged: false, categories: {}, category_scores: {} }] };
const ranking = {
  results: [{ index: 0, relevance_score: 0.5 }],
  meta: { billed_units: { search_units: 1 } },
};

function answerOf({ url, text: body }: Received): string {
  const counted = (line: string): string =>
    line.replace(/"usage":\{[^}]*\}/, `"usage":${JSON.stringify(chatUsage)}`);
  if (url.endsWith('/embeddings')) return JSON.stringify(vector);
  if (url.endsWith('/moderations')) return JSON.stringify(verdict);
  if (url.endsWith('/rerank')) return JSON.stringify(ranking);
  if (body.includes('"stream":true')) {
    const stream = counted(streamOf(['Hel', 'lo']));
    return url.endsWith('/chat/completions')
      ? stream
      : stream.replaceAll(/"delta":\{[^}]*\}/g, '"text":"Hel"');
  }
  return url.endsWith('/chat/completions')
    ? completion('Hello', { usage: chatUsage })
    : JSON.stringify({ ...text, usage: chatUsage });
}

interface Question {
  readonly path: string;
  readonly body: object;
  /** What its answer costs. */
  readonly nano: bigint;
  /** Takes an Idempotency-Key. */
  readonly once: boolean;
}

const tokens = (count: bigint): bigint => count * 1_000_000n;
const messages = [{ role: 'user', content: 'Hello' }];
const questions: readonly Question[] = [
  ...[false, true].flatMap((stream) => [
    {
      path: '/chat/completions',
      body: { model: 'chat', messages, max_tokens: 10, stream },
      nano: tokens(19n),
      once: true,
    },
    {
      path: '/completions',
      body: { model: 'chat', prompt: 'Hello', max_tokens: 10, stream },
      nano: tokens(19n),
      once: true,
    },
    {
      path: '/messages',
      body: { model: 'chat', messages, max_tokens: 10, stream },
      nano: tokens(19n),
      once: true,
    },
    {
      path: '/responses',
      body: { model: 'chat', input: 'Hello', max_output_tokens: 16, stream },
      nano: tokens(19n),
      once: true,
    },
  ]),
  { path: '/embeddings', body: { model: 'embed', input: 'Hello' }, nano: tokens(1n), once: true },
  { path: '/moderations', body: { model: 'judge', input: 'Hello' }, nano: tokens(2n), once: false },
  {
    path: '/rerank',
    body: { model: 'search', query: 'Hello', documents: ['a', 'b'] },
    nano: tokens(3n),
    once: false,
  },
];

interface Seen {
  readonly status: number;
  readonly id: string;
  /** The last byte of a good answer has arrived. */
  readonly whole: boolean;
  readonly text: string;
}

function ask(
  url: string,
  key: string,
  agent: Agent,
  { path, body }: Question,
  idempotencyKey?: string,
): Promise<Seen | undefined> {
  const sent = JSON.stringify(body);
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(sent),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  };
  return new Promise((resolve) => {
    const asked = request(`${url}/v1${path}`, { method: 'POST', agent, headers }, (response) => {
      let said = '';
      response.on('data', (piece: Buffer) => {
        said += piece.toString();
      });
      response.on('error', () => resolve(undefined));
      response.on('close', () => {
        const ended = said.endsWith('}') || /\[DONE\]|message_stop|response\.completed/.test(said);
        const status = response.statusCode ?? 0;
        const whole = status === 200 && response.complete && ended;
        resolve({ status, id: String(response.headers['x-request-id']), whole, text: said });
      });
    });
    asked.on('error', () => resolve(undefined));
    asked.end(sent);
  });
}

const questionAt = (i: number): Question =>
  questions[i % questions.length] ?? { path: '', body: {}, nano: 0n, once: false };

async function stage(name: string, fresh: () => Promise<FreshDatabase>) {
  const vendor = await startVendor();
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-mixed-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const place = name === 'sqlite' ? `sqlite:${join(folder, 'tollgate.db')}` : (await fresh()).url;
  const start = async (): Promise<GatewayProcess> => {
    const gateway = await startProcess({
      folder,
      configuration: configuration(vendor.url),
      env: { DATABASE_URL: place },
    });
    onTestFinished(() => gateway.kill());
    return gateway;
  };
  const first = await start();
  const database = await open(place);
  onTestFinished(() => database.close());
  const agent = new Agent({ keepAlive: true, maxSockets: 1_000 });
  onTestFinished(() => agent.destroy());
  const delayed = (random: Random, msMax: number): void =>
    vendor.answer((received, response) => {
      const answer = answerOf(received);
      setTimeout(
        () =>
          answer.startsWith('data:') ? sse(response).end(answer) : json(response, 200, answer),
        random() * msMax,
      );
    });
  return { first, start, database, agent, delayed };
}

async function expectProved(database: Database): Promise<void> {
  expect(await check(database)).toMatchObject({ ok: true, problems: [] });
}

async function netCharges(database: Database, account: string): Promise<bigint> {
  const [row] = await database.query(
    `SELECT COALESCE((SELECT SUM(amount) FROM transfer WHERE debit=$1), 0) - COALESCE((SELECT SUM(amount) FROM transfer WHERE credit=$1 AND debit='revenue'), 0) AS net`,
    [account],
  );
  return BigInt(String(row?.['net']));
}

forEachDatabase((name, _openFresh, fresh) => {
  const processes = name === 'sqlite' ? 1 : 2;

  test('the last yuan, and a key’s day, are spent through every endpoint at once: never less than nothing, each answer charged once', {
    timeout: 180_000,
  }, async () => {
    const { first, start, database, agent, delayed } = await stage(name, fresh);
    delayed(seededRandom(1), 20);
    const gateways = processes === 1 ? [first] : [first, await start()];
    const { userId, key } = await newCustomer(database, nanoPerYuan);
    const dailyLimit = nanoPerYuan / 4n;
    const limited = await newTestKey(database, userId, {
      dailyLimit,
      monthlyLimit: dailyLimit * 2n,
    });
    let lowest = nanoPerYuan;
    let asking = true;
    const watching = (async () => {
      while (asking) {
        await wait(5);
        const now = await balance(database, userId);
        if (now !== undefined && now.balance < lowest) lowest = now.balance;
      }
    })();
    const asked = Array.from({ length: 600 }, (_, i) => {
      const secret = i % 2 === 0 ? key.secret : limited.secret;
      return ask(gateways[i % processes]?.url ?? '', secret, agent, questionAt(i));
    });
    const seen = await Promise.all(asked);
    asking = false;
    await watching;
    const good = seen.flatMap((one, i) =>
      one?.whole === true ? [{ ...one, nano: questionAt(i).nano }] : [],
    );
    console.info(
      `${good.length} of ${seen.length}`,
      new Set(seen.map((one) => one?.status)),
      new Set(
        seen
          .filter((one) => one !== undefined && one.status !== 429 && !one.whole)
          .map((one) => one?.text.slice(0, 300)),
      ),
    );
    expect(new Set(seen.map((one) => one?.status))).toEqual(new Set([200, 429]));
    expect(lowest).toBeGreaterThanOrEqual(0n);
    const records = await database.query('SELECT id, cost, shortfall, key_id FROM usage');
    expect(new Map(records.map((record) => [record['id'], record['cost']]))).toEqual(
      new Map(good.map(({ id, nano }) => [id, nano])),
    );
    expect(records.every(({ shortfall }) => shortfall === 0n)).toBe(true);
    const left = (await balance(database, userId))?.balance ?? -1n;
    expect(left).toBe(nanoPerYuan - good.reduce((sum, { nano }) => sum + nano, 0n));
    // What is left buys no chat any more.
    expect(left).toBeLessThan(tokens(40n));
    const onLimit = records.reduce(
      (sum, { key_id: id, cost }) =>
        id === limited.id && typeof cost === 'bigint' ? sum + cost : sum,
      0n,
    );
    expect(onLimit).toBeLessThanOrEqual(dailyLimit);
    await expectProved(database);
  });

  test('kill -9 under questions to every endpoint: what was delivered is charged once, what is asked again with its key is not charged twice', {
    timeout: 120_000 + rounds * 10_000,
  }, async () => {
    const { first, start, database, agent, delayed } = await stage(name, fresh);
    const seed = Number(process.env['TOLLGATE_SEED'] ?? Math.floor(systemClock.now() % 1e9));
    console.info(`seed ${seed}`);
    const random = seededRandom(seed);
    delayed(random, 40);
    const plain = await newCustomer(database, 10_000n * nanoPerYuan);
    const once = await newCustomer(database, 10_000n * nanoPerYuan);
    const delivered = new Map<string, bigint>();
    const submissions: { readonly question: Question; readonly key: string; done: boolean }[] = [];
    const repeatable = questions.filter((question) => question.once);
    let gateway = first;
    let running = true;
    let up = true;
    const client = async (n: number): Promise<void> => {
      for (let i = n; running; i++) {
        if (!up) {
          await wait(5);
          continue;
        }
        const isOnce = random() < 0.5;
        const question = isOnce ? repeatable[i % repeatable.length] : questionAt(i);
        if (question === undefined) throw new Error('there are questions');
        const key = isOnce ? `${n}-${submissions.length}-${i}` : undefined;
        const submission = key === undefined ? undefined : { question, key, done: false };
        if (submission !== undefined) submissions.push(submission);
        const seen = await ask(
          gateway.url,
          (isOnce ? once : plain).key.secret,
          agent,
          question,
          key,
        );
        if (seen?.whole !== true) await wait(5);
        else if (submission !== undefined) submission.done = true;
        else delivered.set(seen.id, question.nano);
      }
    };
    const clients = Array.from({ length: 16 }, (_, n) => client(n));
    for (let round = 0; round < rounds; round++) {
      const before = delivered.size;
      await expect.poll(() => delivered.size, { timeout: 20_000 }).toBeGreaterThan(before + 10);
      await wait(random() * 300);
      up = false;
      await gateway.kill();
      await expectProved(database);
      gateway = await start();
      up = true;
    }
    running = false;
    await Promise.all(clients);
    const waiting = submissions.filter(({ done }) => !done);
    console.info(
      `${delivered.size} delivered, ${submissions.length} with a key, ${waiting.length} of them asked again`,
    );
    expect(delivered.size).toBeGreaterThan(rounds * 10);
    await Promise.all(
      waiting.map(async (submission) => {
        const seen = await ask(
          gateway.url,
          once.key.secret,
          agent,
          submission.question,
          submission.key,
        );
        submission.done = seen?.whole === true;
      }),
    );
    expect(submissions.filter(({ done }) => !done)).toEqual([]);
    expect(await gateway.stop()).toBe(0);
    await expectProved(database);
    const charged = new Map(
      (await database.query('SELECT id, cost FROM usage')).map((row) => [row['id'], row['cost']]),
    );
    for (const [id, nano] of delivered) expect(charged.get(id), id).toBe(nano);
    expect(await netCharges(database, once.userId)).toBe(
      submissions.reduce((sum, { question }) => sum + question.nano, 0n),
    );
  });
});
