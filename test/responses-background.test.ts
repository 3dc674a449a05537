import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { migrations } from '../src/app/schema.ts';
import { nanoPerYuan } from '../src/base/money.ts';
import { check } from '../src/ledger/check.ts';
import { balance } from '../src/ledger/ledger.ts';
import type { Database } from '../src/storage/database.ts';
import { open } from '../src/storage/open.ts';
import { type Fresh, forEachDatabase } from './databases.ts';
import { newCustomer } from './support/customer.ts';
import { startProcess } from './support/process.ts';
import { oneModel, type Running, startRunning } from './support/running.ts';
import { completion, json, type ScriptedVendor, startVendor } from './support/scripted-vendor.ts';

const path = '/v1/responses';
const asked = { model: 'm1', input: 'Hello', background: true };

interface StoredAnswer {
  readonly id: string;
  readonly status: string;
  readonly output: readonly unknown[];
}

interface Started {
  readonly running: Running;
  readonly vendor: ScriptedVendor;
  /** Lets the vendor answer the requests that it has so far. */
  readonly answerAll: () => void;
  create(): Promise<StoredAnswer>;
  find(id: string): Promise<StoredAnswer>;
}

const refunds = (database: Database) =>
  database.query("SELECT id FROM transfer WHERE code='refund'");

const configurationFor = ({ url }: ScriptedVendor): string =>
  oneModel(url).replaceAll('vendor: openai', 'vendor: deepseek');

/** A vendor that answers when it is told to. */
async function startOn(fresh: Fresh): Promise<Started> {
  const vendor = await startVendor();
  const held: (() => void)[] = [];
  vendor.answer((_request, response) => {
    held.push(() => json(response, 200, completion()));
  });
  const running = await startRunning({
    databaseUrl: (await fresh(migrations)).url,
    configuration: configurationFor(vendor),
  });
  const read = async (response: Response): Promise<StoredAnswer> =>
    JSON.parse(await response.text());
  return {
    running,
    vendor,
    answerAll: () => held.splice(0).forEach((answer) => answer()),
    create: async () => read(await running.post(path, asked)),
    find: async (id) =>
      read(
        await fetch(`${running.url}${path}/${id}`, {
          headers: { authorization: `Bearer ${running.key}` },
        }),
      ),
  };
}

forEachDatabase((name, _openFresh, fresh) => {
  const start = () => startOn(fresh);

  test('a client that leaves while its conversation is read has no response and pays for none', async () => {
    const { running, vendor, create, find, answerAll } = await start();
    const { id: previous } = await create();
    await expect.poll(() => vendor.received.length).toBe(1);
    answerAll();
    await expect.poll(async () => (await find(previous)).status).toBe('completed');
    const before = await running.balance();
    const { database } = running.gateway;
    const query = database.query.bind(database);
    let reading = false;
    database.query = async (sql, params) => {
      if (sql.includes('RECURSIVE turn')) {
        reading = true;
        await wait(300);
      }
      return query(sql, params);
    };
    const leaving = new AbortController();
    const lost = running.post(path, { ...asked, previous_response_id: previous }, leaving);
    await expect.poll(() => reading).toBe(true);
    leaving.abort();
    await expect(lost).rejects.toThrow('aborted');
    await wait(600);
    answerAll();
    expect(vendor.received).toHaveLength(1);
    expect(await query('SELECT id FROM response')).toEqual([{ id: previous }]);
    expect(await running.balance()).toBe(before);
    await running.expectBooks();
  });

  test.each(['cancel', 'delete'])(
    'an answer that comes after its response was ended by its client is paid back (%s)',
    async (how) => {
      const { running, vendor, create, find, answerAll } = await start();
      const { id } = await create();
      await expect.poll(() => vendor.received.length).toBe(1);
      const ended =
        how === 'cancel'
          ? await running.post(`${path}/${id}/cancel`, {})
          : await fetch(`${running.url}${path}/${id}`, {
              method: 'DELETE',
              headers: { authorization: `Bearer ${running.key}` },
            });
      expect(ended.status).toBe(200);
      answerAll();
      await expect.poll(async () => (await refunds(running.gateway.database)).length).toBe(1);
      expect(await running.balance()).toBe('100.00');
      expect(await running.usage()).toHaveLength(1);
      expect(await find(id)).toMatchObject(
        how === 'cancel'
          ? { status: 'cancelled', output: [] }
          : { error: { code: 'response_not_found' } },
      );
      await running.expectBooks();
    },
  );

  test.each(['nothing', 'cancel', 'delete'])(
    'kill -9 between the charge and the stored answer: the charge is paid back (%s)',
    { timeout: 60_000 },
    async (how) => {
      const vendor = await startVendor();
      let answer = (): void => {};
      vendor.answer((_request, response) => {
        answer = () => json(response, 200, completion());
      });
      const folder = await mkdtemp(join(tmpdir(), 'tollgate-background-'));
      onTestFinished(() => rm(folder, { recursive: true, force: true }));
      const place =
        name === 'sqlite' ? `sqlite:${join(folder, 'tollgate.db')}` : (await fresh(migrations)).url;
      const configuration = configurationFor(vendor);
      const options = { folder, configuration, env: { DATABASE_URL: place } };
      let gateway = await startProcess(options);
      onTestFinished(() => gateway.kill());
      const database = await open(place);
      onTestFinished(() => database.close());
      const { userId, key } = await newCustomer(database, nanoPerYuan);
      const headers = { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' };
      const ask = async (method: string, at = '', body = '{}') =>
        (
          await fetch(`${gateway.url}${path}${at}`, {
            method,
            headers,
            ...(method === 'POST' && { body }),
          })
        ).text();
      const { id } = JSON.parse(await ask('POST', '', JSON.stringify(asked)));
      await expect.poll(() => vendor.received.length).toBe(1);
      if (how === 'cancel') await ask('POST', `/${id}/cancel`);
      if (how === 'delete') await ask('DELETE', `/${id}`);
      await keepUnchanged(database);
      answer();
      await expect.poll(async () => (await database.query('SELECT id FROM usage')).length).toBe(1);
      await gateway.kill();
      await changeable(database);
      expect(await refunds(database)).toEqual([]);
      await database.query('UPDATE response SET lease_until=1');
      gateway = await startProcess(options);
      await expect.poll(async () => (await refunds(database)).length).toBe(1);
      expect((await balance(database, userId))?.balance).toBe(nanoPerYuan);
      if (how === 'nothing')
        expect(JSON.parse(await ask('GET', `/${id}`))).toMatchObject({ status: 'failed' });
      expect(await check(database)).toMatchObject({ ok: true, problems: [] });
    },
  );

  /** Nothing changes the stored responses from now on. */
  const keepUnchanged = (database: Database) =>
    database.query(
      name === 'sqlite'
        ? `CREATE TRIGGER closed BEFORE UPDATE ON response BEGIN SELECT RAISE(ABORT, 'closed'); END`
        : 'ALTER TABLE response ADD CONSTRAINT closed CHECK (false) NOT VALID',
    );
  const changeable = (database: Database) =>
    database.query(
      name === 'sqlite' ? 'DROP TRIGGER closed' : 'ALTER TABLE response DROP CONSTRAINT closed',
    );
});
