import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { nanoPerYuan } from '../src/base/money.ts';
import { open } from '../src/storage/open.ts';
import { type FreshDatabase, onPostgres, onSqlite } from './databases.ts';
import { findBinaries } from './postgres.ts';
import { newCustomer } from './support/customer.ts';
import { askPlainly } from './support/plain-client.ts';
import { startProcess } from './support/process.ts';
import { oneModel } from './support/running.ts';
import { completion, json, startVendor } from './support/scripted-vendor.ts';

/**
 * The drill of docs/guides/operate.md: a copy is made under load, the machine is lost, and the copy
 * serves on another.
 */
const run = promisify(execFile);
const entry = fileURLToPath(new URL('../bin/tollgate.js', import.meta.url));
const clients = 8;

/** An installation: where it is, and what its commands need to find it. */
interface Place {
  readonly folder: string;
  readonly url: string;
  readonly env: Readonly<Record<string, string>>;
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-restore-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function tollgate({ folder, env }: Place, ...args: readonly string[]): Promise<string> {
  return (
    await run(process.execPath, [entry, ...args, '--data', folder], {
      env: { ...process.env, ...env },
    })
  ).stdout;
}

/** `copy` makes a backup of the place and returns what puts it into another. */
async function drill(
  here: Place,
  there: Place,
  copy: () => Promise<() => Promise<unknown>>,
): Promise<void> {
  const vendor = await startVendor();
  vendor.answer((_, response) => json(response, 200, completion()));
  const gateway = await startProcess({
    folder: here.folder,
    configuration: oneModel(vendor.url),
    env: here.env,
  });
  onTestFinished(() => gateway.kill());
  const database = await open(here.url);
  const { key, userId } = await newCustomer(database, 100n * nanoPerYuan);
  await database.close();
  const delivered = new Set<string>();
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  let running = true;
  const client = async (): Promise<void> => {
    while (running) {
      const seen = await askPlainly(gateway.url, key.secret, agent, false, 50);
      if (seen?.whole === true) delivered.add(seen.id);
    }
  };
  const load = Promise.all(Array.from({ length: clients }, client));
  await expect.poll(() => delivered.size, { timeout: 20_000 }).toBeGreaterThan(200);
  const before = new Set(delivered);
  const restore = await copy();
  const during = delivered.size - before.size;
  await wait(100);
  running = false;
  await load;
  agent.destroy();
  await gateway.kill();
  await restore();

  expect(JSON.parse(await tollgate(there, 'check', '--json'))).toMatchObject({
    ok: true,
    problems: [],
  });
  const restored = await open(there.url);
  const charged = new Set(
    (await restored.query('SELECT u.id FROM usage u JOIN transfer t ON t.id = u.id')).map(
      (row) => row['id'],
    ),
  );
  await restored.close();
  expect([...before].filter((id) => !charged.has(id))).toEqual([]);
  // A copy is of one moment: what it has of the time while it was made was delivered, or was about
  // to be.
  expect(charged.size).toBeLessThanOrEqual(delivered.size + clients);
  const users: readonly { readonly id: string; readonly balance: string }[] = JSON.parse(
    await tollgate(there, 'user', 'list', '--json'),
  );
  const spent =
    100_000 - Math.round(Number(users.find(({ id }) => id === userId)?.balance) * 1_000);
  // One model at a thousandth of a yuan a token, 29 tokens a request.
  expect(spent).toBe(charged.size * 29);

  const again = await startProcess({
    folder: there.folder,
    configuration: oneModel(vendor.url),
    env: there.env,
  });
  onTestFinished(() => again.kill());
  const answer = await askPlainly(again.url, key.secret, new Agent(), false, 50);
  expect(answer?.whole).toBe(true);
  expect(await again.stop()).toBe(0);
  expect(JSON.parse(await tollgate(there, 'check', '--json'))).toMatchObject({
    ok: true,
    problems: [],
  });
  console.info(
    `${before.size} requests before the copy, ${during} while it was made: ${charged.size} restored, none of the first missing`,
  );
}

onSqlite(() => {
  test('a backup that was made under load is restored: nothing committed is missing, and the books are right', {
    timeout: 60_000,
  }, async () => {
    const here = await placeOf(await newFolder());
    const there = await placeOf(await newFolder());
    await drill(here, there, async () => {
      const file = join(await newFolder(), 'tollgate.backup');
      await tollgate(here, 'backup', file);
      return () => copyFile(file, join(there.folder, 'tollgate.db'));
    });
  });
});

async function placeOf(folder: string): Promise<Place> {
  await mkdir(folder, { recursive: true });
  return { folder, url: `sqlite:${join(folder, 'tollgate.db')}`, env: {} };
}

/** PostgreSQL's own tools: in the path, or beside the server. */
const tools = [
  ...(process.env['PATH'] ?? '').split(delimiter),
  findBinaries(process.env['PATH'] ?? '') ?? '',
].find((folder) => existsSync(join(folder, 'pg_dump')));

onPostgres((_, _openFresh, fresh) => {
  test.skipIf(tools === undefined)(
    'what pg_dump made under load is restored: nothing committed is missing, and the books are right',
    { timeout: 60_000 },
    async () => {
      const place = async ({ url }: FreshDatabase): Promise<Place> => ({
        url,
        folder: await newFolder(),
        env: { DATABASE_URL: url },
      });
      const here = await place(await fresh());
      const there = await place(await fresh());
      const tool = (name: string, ...args: readonly string[]) =>
        run(join(tools ?? '', name), [...args]);
      await drill(here, there, async () => {
        const file = join(await newFolder(), 'tollgate.dump');
        await tool('pg_dump', '--format=custom', `--file=${file}`, here.url);
        return () =>
          tool('pg_restore', '--exit-on-error', '--no-owner', `--dbname=${there.url}`, file);
      });
    },
  );
});
