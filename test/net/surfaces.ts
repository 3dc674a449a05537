import { type Build, commandJson } from './build.ts';
import { ask, type Records } from './client.ts';
import { modelId, rowsOf, type Serving, soldCase, whileServing } from './customer.ts';
import { type Json, parsed, type Recording } from './recordings.ts';
import type { Vendor } from './vendor.ts';
import pg from 'pg';
import { join } from 'node:path';
import { startPostgres } from '../postgres.ts';

/** A failed response of a vendor. */
const failing = {
  id: 'lost',
  vendor: 'openai',
  endpoint: 'chat',
  url: '',
  request: undefined,
  status: 500,
  headers: {},
  answer: Buffer.from('{}'),
  streamed: false,
};

/**
 * The public surfaces: the API document, metrics, members of log lines and the database's schema.
 */
export async function recordSurfaces(
  build: Build,
  recordings: readonly Recording[],
): Promise<Records> {
  const records: Records = new Map();
  const sold = ['sold', 'lost'].map((name) => soldCase(name));
  const [model = '', lost = ''] = sold.map(modelId);
  const use = async ({ gateway, key }: Serving, vendor: Vendor): Promise<void> => {
    const headers = { authorization: `Bearer ${key}` };
    const messages = [{ role: 'user', content: 'Hello' }];
    for (const stream of [false, true])
      await ask(gateway.url, {
        path: '/v1/chat/completions',
        headers,
        body: { model, messages, stream },
      });
    await ask(gateway.url, {
      path: '/v1/chat/completions',
      headers,
      body: { model: 'nobody', messages },
    });
    vendor.play({ lost: failing });
    await ask(gateway.url, {
      path: '/v1/chat/completions',
      headers,
      body: { model: lost, messages },
    });
    const document = await ask(gateway.url, { method: 'GET', path: '/openapi.json' });
    openapi(parsed(document.body.toString('utf8')), records);
    const page = await ask(gateway.url, {
      method: 'GET',
      path: '/metrics',
      headers: { authorization: 'Bearer metrics' },
    });
    metrics(page.body.toString('utf8'), records);
  };
  const { gateway } = await whileServing(build, 'surfaces', sold, recordings, use);
  logMembers(gateway.log(), records);
  const objects = rowsOf(
    gateway.data,
    "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name",
  );
  for (const { type, name, sql } of objects)
    records.set(`schema sqlite ${String(type)} ${String(name)}`, `${String(sql)}\n`);
  await postgresSchema(build, records);
  return records;
}

/** A record for each operation and each component, so that differences are small. */
function openapi({ paths, components, ...rest }: Json, records: Records): void {
  const put = (name: string, value: Json): void =>
    void records.set(`openapi ${name}`, `${JSON.stringify(value, undefined, 1)}\n`);
  put('head', { ...rest, servers: undefined, order: Object.keys(paths) });
  for (const [path, methods] of Object.entries<Json>(paths))
    for (const [method, operation] of Object.entries<Json>(methods))
      put(`${method} ${path}`, operation);
  for (const [family, parts] of Object.entries<Json>(components ?? {}))
    for (const [name, part] of Object.entries<Json>(parts)) put(`${family} ${name}`, part);
}

/**
 * Help, type and label names of each metric; of the process's own (`nodejs_`, `process_`) only the
 * name.
 */
function metrics(page: string, records: Records): void {
  const families = new Map<string, Set<string>>();
  for (const line of page.split('\n')) {
    const [, comment, named] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? [];
    const [, name = '', labels = ''] =
      /^([a-zA-Z_:]+)(?:\{(.*)\})? /.exec(comment === undefined ? line : '') ?? [];
    const family = named ?? name;
    if (family === '') continue;
    const names = [...labels.matchAll(/(\w+)="/g)].map(([, label]) => label).join(',');
    const kind = family.replace(/_(bucket|sum|count)$/, '');
    families.set(
      kind,
      (families.get(kind) ?? new Set()).add(comment === undefined ? `${name}{${names}}` : line),
    );
  }
  for (const [family, lines] of families)
    if (!/^nodejs_|^process_/.test(family))
      records.set(`metrics ${family}`, `${[...lines].sort().join('\n')}\n`);
}

/** Members of log lines with their types, by message. */
function logMembers(log: string, records: Records): void {
  const events = new Map<string, Set<string>>();
  for (const line of log.split('\n').map(parsed)) {
    if (line === undefined) continue;
    const members = Object.entries<Json>(line).map(([name, value]) => `${name}: ${typeof value}`);
    events.set(line.msg, (events.get(line.msg) ?? new Set()).add(members.join(', ')));
  }
  for (const [event, lines] of events)
    records.set(`log ${event}`, `${[...lines].sort().join('\n')}\n`);
}

/** PostgreSQL's columns, constraints and indexes; nothing without a server. */
async function postgresSchema(build: Build, records: Records): Promise<void> {
  const server = await startPostgres();
  if ('missing' in server) return;
  const database = `net_${process.pid}`;
  const url = new URL(server.url);
  const whole = new pg.Client(server.url);
  await whole.connect();
  try {
    await whole.query(`CREATE DATABASE ${database}`);
    url.pathname = `/${database}`;
    await commandJson(build, ['migrate'], {
      data: join(build.scratch, 'postgres'),
      env: { DATABASE_URL: url.href },
    });
    const made = new pg.Client(url.href);
    await made.connect();
    try {
      const told = async (name: string, sql: string): Promise<void> => {
        for (const { of, text } of (await made.query(sql)).rows)
          records.set(`schema postgres ${name} ${of}`, `${text}\n`);
      };
      await told('columns', columnsSql);
      await told('constraints', constraintsSql);
      await told(
        'indexes',
        "SELECT indexname AS of, indexdef AS text FROM pg_indexes WHERE schemaname='public' ORDER BY 1",
      );
      await told(
        'triggers',
        "SELECT tgname||' '||tgrelid::regclass AS of, pg_get_triggerdef(oid) AS text FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1",
      );
      await told(
        'functions',
        "SELECT proname AS of, pg_get_functiondef(oid) AS text FROM pg_proc WHERE pronamespace='public'::regnamespace ORDER BY 1",
      );
    } finally {
      await made.end();
    }
    await whole.query(`DROP DATABASE ${database}`);
  } finally {
    await whole.end();
    await server.stop();
  }
}

const columnsSql = `SELECT table_name AS of, string_agg(concat_ws(' ', column_name, data_type, collation_name, is_nullable, column_default), E'\\n' ORDER BY ordinal_position) AS text
  FROM information_schema.columns WHERE table_schema='public' GROUP BY 1 ORDER BY 1`;
const constraintsSql = `SELECT conrelid::regclass::text AS of, string_agg(concat_ws(' ', conname, pg_get_constraintdef(oid)), E'\\n' ORDER BY conname, oid) AS text
  FROM pg_constraint WHERE connamespace='public'::regnamespace AND contype<>'n' GROUP BY 1 ORDER BY 1`;
