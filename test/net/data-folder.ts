import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type Build, command, serve } from './build.ts';
import { ask, exchangeText, type Records } from './client.ts';
import { configurationOf, rowsOf, soldCase, whileServing } from './customer.ts';
import { Placeholders } from './placeholders.ts';
import { parsed, type Recording } from './recordings.ts';
import { openVendor } from './vendor.ts';

// A data folder that an older build wrote, opened by this build.

const kept = new URL('data-folder/', import.meta.url);
const files = {
  database: new URL('tollgate.db.gz', kept),
  ledger: new URL('ledger.id', kept),
  known: new URL('known.json', kept),
};
const sold = [soldCase('sold')];
const model = 'sold/gpt-4o';
const messages = [{ role: 'user', content: 'Hello' }];

/** Writes the folder anew, with this build. */
export async function makeDataFolder(
  build: Build,
  recordings: readonly Recording[],
): Promise<void> {
  let response = '';
  const { place, key } = await whileServing(build, 'old', sold, recordings, async (serving) => {
    const { url } = serving.gateway;
    const headers = { authorization: `Bearer ${serving.key}` };
    for (const stream of [false, true])
      await ask(url, { path: '/v1/chat/completions', headers, body: { model, messages, stream } });
    const stored = await ask(url, {
      path: '/v1/responses',
      headers,
      body: { model, input: 'Hello', store: true },
    });
    response = parsed(stored.body.toString('utf8')).id;
  });
  const copy = join(build.scratch, 'copy.db');
  const { code, error } = await command(build, ['backup', copy], place);
  if (code !== 0) throw new Error(error);
  mkdirSync(kept, { recursive: true });
  writeFileSync(files.database, gzipSync(readFileSync(copy), { level: 9 }));
  copyFileSync(join(place.data, 'ledger.id'), files.ledger);
  writeFileSync(files.known, `${JSON.stringify({ key, response })}\n`);
}

/** Opens the folder, checks ledger and keys, and serves from it. */
export async function recordDataFolder(
  build: Build,
  recordings: readonly Recording[],
): Promise<Records> {
  const records: Records = new Map();
  const place = { data: join(build.scratch, 'old') };
  mkdirSync(place.data, { recursive: true });
  writeFileSync(join(place.data, 'tollgate.db'), gunzipSync(readFileSync(files.database)));
  copyFileSync(files.ledger, join(place.data, 'ledger.id'));
  const { key, response } = JSON.parse(readFileSync(files.known, 'utf8'));
  const names = new Placeholders();
  const run = async (...args: readonly string[]): Promise<void> => {
    const { code, out, error } = await command(build, args, place);
    records.set(
      `data folder ${records.size} ${args.join(' ')}`,
      `exit ${code}\n${names.in(out)}--- standard error\n${names.in(error)}`,
    );
  };
  await run('check', '--json');
  await run('migrate', '--json');
  const vendor = await openVendor(recordings);
  const config = join(build.scratch, 'old.json');
  writeFileSync(config, configurationOf(sold, vendor.url));
  const gateway = await serve(build, ['--config', config], place);
  const headers = { authorization: `Bearer ${key}` };
  const visits = [
    { path: '/v1/chat/completions', headers, body: { model, messages } },
    { method: 'GET', path: `/v1/responses/${response}`, headers },
    {
      path: '/v1/responses',
      headers,
      body: { model, input: 'And then?', previous_response_id: response },
    },
    { method: 'GET', path: '/v1/models', headers },
  ];
  for (const visit of visits) {
    const answer = await ask(gateway.url, visit);
    records.set(
      `data folder ${records.size} ${visit.path.replace(response, '$id')}`,
      exchangeText(names, vendor.sent(), answer),
    );
  }
  await gateway.stop();
  vendor.close();
  for (const args of [
    ['check', '--json'],
    ['user', 'list', '--json'],
    ['key', 'list', '--json'],
  ])
    await run(...args);
  const balances = rowsOf(place.data, 'SELECT id, credits, debits, held FROM account ORDER BY id');
  records.set(
    'data folder balances',
    `${names.in(JSON.stringify(balances, (_, value) => (typeof value === 'bigint' ? String(value) : value), 1))}\n`,
  );
  return records;
}
