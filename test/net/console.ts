import { setTimeout as wait } from 'node:timers/promises';
import { type Build, commandJson } from './build.ts';
import { ask, type Records } from './client.ts';
import { modelId, type Serving, soldCase, whileServing } from './customer.ts';
import { Placeholders } from './placeholders.ts';
import { type Json, parsed, type Recording } from './recordings.ts';

/** A browser of a signed-in user. */
interface Browser {
  readonly cookie: string;
  readonly csrf: string;
}

async function signIn(build: Build, { gateway, place }: Serving, user: string): Promise<Browser> {
  const port = new URL(gateway.url).port;
  const { url = '' } = await commandJson(build, ['link', '--user', user, '--port', port], place);
  const headers = { origin: gateway.url, 'content-type': 'application/x-www-form-urlencoded' };
  const body = `token=${new URL(url).searchParams.get('token')}`;
  const entered = await ask(gateway.url, {
    path: '/auth/link',
    headers: { ...headers, 'content-length': String(body.length) },
    body,
  });
  const cookie = (entered.headers['set-cookie'] ?? []).map((one) => one.split(';')[0]).join('; ');
  const session = await ask(gateway.url, {
    method: 'GET',
    path: '/console/api/session',
    headers: { cookie },
  });
  return { cookie, csrf: parsed(session.body.toString('utf8'))?.csrf ?? '' };
}

const user =
  `session sessions me announcements overview keys groups models models/$model identities find?q=a statement statement/2026-11-20 statement.csv
  usage usage/summary usage/series usage.csv usage/$request tasks tasks/video_1 orders orders/ord_1 account.json nothing`.split(
    /\s+/,
  );
const operator =
  `overview models models/$model models/$model/prices channels channels/$channel channels/$channel/health vendors groups groups/default
  groups/default/preview users users/$user users/$user/statement users/$user/usage users/$user/keys users/$user/orders users/$user/tasks
  ledger/checks orders reconciliation?date=2026-11-20&wallet=alipay announcements audit audit.csv prices prices.csv vendor-costs nothing`
    .split(/\s+/)
    .map((path) => `operator/${path}`);

/** The changes: method, path and body, in an operator's usual order. */
const writes: readonly (readonly [method: string, path: string, body?: Json])[] = [
  ['POST', 'keys', { name: 'new', group: 'default' }],
  ['POST', 'keys', { name: '', group: 'nowhere', x: 1 }],
  ['PATCH', 'keys/$key', { name: 'renamed' }],
  ['PATCH', 'keys/$key', { name: 'renamed' }],
  ['POST', 'keys/$key/disable'],
  ['POST', 'keys/$key/enable'],
  ['POST', 'statement/verify', { from: '2026-11-01', to: '2026-11-20' }],
  ['POST', 'orders', { wallet: 'alipay', amount: '10.00' }],
  ['POST', 'play/chat', { model: '$model', messages: [{ role: 'user', content: 'Hello' }] }],
  ['PATCH', 'me', { name: 'renamed', language: 'en' }],
  ['POST', 'operator/groups', { name: 'new', multiplier: '0.9' }],
  ['PATCH', 'operator/groups/new', { multiplier: '0.8' }],
  ['PATCH', 'operator/groups/new', { policy: 'cost' }],
  ['DELETE', 'operator/groups/new'],
  [
    'POST',
    'operator/models',
    { id: 'new', owned_by: 'x', kind: 'chat', price: { input: 1, output: 2 } },
  ],
  ['POST', 'operator/models', { id: 'new', kind: 'nothing' }],
  ['PATCH', 'operator/models/new', { context: 1000 }],
  [
    'POST',
    'operator/channels',
    {
      name: 'new',
      vendor: 'vllm',
      base_url: 'http://127.0.0.1:9/v1',
      models: ['new'],
      groups: ['default'],
    },
  ],
  ['POST', 'operator/channels', { name: 'new', vendor: 'nobody' }],
  ['PATCH', 'operator/channels/new', { weight: 2 }],
  ['PATCH', 'operator/channels/new', { weight: 3, dry_run: true }],
  ['POST', 'operator/channels/new/drain', {}],
  ['POST', 'operator/channels/new/drain', { accept_unserved: true }],
  ['POST', 'operator/channels/new/disable', { accept_unserved: true }],
  ['POST', 'operator/channels/new/resume', {}],
  ['DELETE', 'operator/channels/new?accept_unserved=1'],
  ['DELETE', 'operator/models/new'],
  ['POST', 'operator/prices/preview', { model: '$model', price: { input: 3, output: 4 } }],
  [
    'POST',
    'operator/prices/publish',
    { changes: [{ model: '$model', price: { input: 3, output: 4 } }], reason: 'dearer' },
  ],
  ['POST', 'operator/prices/import', { text: '{}', dry_run: true }],
  ['POST', 'operator/users/$user/credit', { amount: '1.00', reason: 'gift' }],
  ['POST', 'operator/users/$user/debit', { amount: '0.50', reason: 'mistake' }],
  ['POST', 'operator/users/$user/debit', { amount: 'x', reason: '' }],
  ['POST', 'operator/users/$user/suspend', { reason: 'late' }],
  ['POST', 'operator/users/$user/restore', { reason: 'paid' }],
  ['POST', 'operator/users/$user/role', { role: 'operator', reason: 'trusted' }],
  [
    'POST',
    'operator/announcements',
    { title: { zh: 'a', en: 'a' }, text: { zh: 'b', en: 'b' }, level: 'info' },
  ],
  ['POST', 'operator/ledger/check', {}],
  ['DELETE', 'sessions/ses_nobody'],
  ['DELETE', 'session'],
  ['POST', 'operator/users/$user/keys/$key/disable'],
  ['POST', 'operator/users/$user/keys/$key/enable'],
];

/** All requests of the console's pages, without a session, as a user and as an operator. */
export async function recordConsole(
  build: Build,
  recordings: readonly Recording[],
): Promise<Records> {
  const sold = soldCase('sold');
  const model = modelId(sold);
  const records: Records = new Map();
  await whileServing(build, 'console', [sold], recordings, async (serving) => {
    const { id: plain = '' } = await commandJson(
      build,
      ['user', 'create', '--name', 'plain'],
      serving.place,
    );
    await commandJson(
      build,
      ['user', 'credit', '--user', plain, '--amount', '10', '--reason', 'gift', '--id', 'one'],
      serving.place,
    );
    const { key = '', id: keyId = '' } = await commandJson(
      build,
      ['key', 'create', '--user', plain, '--group', 'default'],
      serving.place,
    );
    const body = { model, messages: [{ role: 'user', content: 'Hello' }] };
    const { headers } = await ask(serving.gateway.url, {
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${key}` },
      body,
    });
    const known: Record<string, string> = {
      $model: encodeURIComponent(model),
      $channel: 'sold',
      $user: plain,
      $key: keyId,
      $request: String(headers['x-request-id']),
    };
    const plainBrowser = await signIn(build, serving, plain);
    const operatorBrowser = await signIn(build, serving, serving.userId);
    await counted(serving, operatorBrowser);
    const nobody = { cookie: '', csrf: '' };
    for (const [who, browser] of Object.entries({
      stranger: nobody,
      user: plainBrowser,
      operator: operatorBrowser,
    }))
      for (const path of [...user, ...operator])
        await visit(serving, known, records, browser, `console ${who}`, ['GET', path]);
    for (const write of writes) {
      const browser = write[1].startsWith('operator') ? operatorBrowser : plainBrowser;
      await visit(serving, known, records, browser, `console ${records.size}`, write);
    }
  });
  return records;
}

/** A gateway stores its counts periodically. Resolves when it has stored the one request. */
async function counted({ gateway }: Serving, { cookie }: Browser): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    const { body } = await ask(gateway.url, {
      method: 'GET',
      path: '/console/api/operator/channels/sold/health',
      headers: { cookie },
    });
    if (/"requests":1/.test(body.toString('utf8'))) return;
    await wait(100);
  }
  throw new Error('the gateway has not told its counts');
}

const measured =
  /_ms$|_at_ms$|median|p95|p50|per_second|uptime|memory|cpu|^(next|csrf|prefix|last4|configuration_file)$|node$|_seconds$/;

async function visit(
  serving: Serving,
  known: Record<string, string>,
  records: Records,
  browser: Browser,
  who: string,
  [method, path, body]: (typeof writes)[number],
): Promise<void> {
  const filled = (text: string): string => text.replaceAll(/\$\w+/g, (name) => known[name] ?? name);
  const bytes =
    body === undefined ? undefined : filled(JSON.stringify(body)).replaceAll('%2F', '/');
  const wish = {
    cookie: browser.cookie,
    'x-csrf-token': browser.csrf,
    origin: serving.gateway.url,
    'if-match': known['version'] ?? '1',
    'idempotency-key': `net-write-${records.size}`,
    'x-paying-key': known['$key'] ?? '',
  };
  const { cookie, ...ours } = wish;
  const answer = await ask(serving.gateway.url, {
    method,
    path: `/console/api/${filled(path)}`,
    headers: method === 'GET' ? { cookie } : { cookie, ...ours },
    ...(bytes !== undefined && { body: bytes }),
  });
  const text = answer.body.toString('utf8');
  const json = parsed(text);
  // The next change is based on the last version in a response.
  known['version'] = String(json?.version ?? json?.current?.version ?? 1);
  const steady = (name: string, value: unknown): unknown =>
    measured.test(name) && value !== null ? '<measured>' : value;
  const tables = text
    .replaceAll(/"(\w+_ms)":\d+/g, '"$1":"<measured>"')
    .replaceAll(/,\d*,\d*(?=,\d+\.\d{9}$)/gm, ',<measured>');
  const shown = json === undefined ? tables : JSON.stringify(json, steady, 1);
  const names = new Placeholders();
  const headers = names.headers(
    answer.headers,
    new Set(['date', 'connection', 'keep-alive', 'content-length', 'etag']),
  );
  records.set(`${who} ${method} ${path}`, `${answer.status}\n${headers}\n${names.in(shown)}\n`);
}
