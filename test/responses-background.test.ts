import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { migrations } from '../src/app/schema.ts';
import { nanoPerYuan } from '../src/base/money.ts';
import { check } from '../src/ledger/check.ts';
import { balance } from '../src/ledger/ledger.ts';
import {
  type Database,
  DatabaseError,
  type DatabaseErrorKind,
  type Transaction,
} from '../src/storage/database.ts';
import { open } from '../src/storage/open.ts';
import { type Fresh, forEachDatabase } from './databases.ts';
import { newCustomer } from './support/customer.ts';
import { startProcess } from './support/process.ts';
import { oneModel, type Running, startGateway, startRunning } from './support/running.ts';
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
  readonly databaseUrl: string;
  readonly vendor: ScriptedVendor;
  /** Lets the vendor answer the requests that it has so far. */
  readonly answerAll: () => void;
  create(): Promise<StoredAnswer>;
  find(id: string): Promise<StoredAnswer>;
}

const refunds = (database: Database) =>
  database.query("SELECT id FROM transfer WHERE code='refund'");

/**
 * The next transactions that store the end of a response fail in these ways; an unknown outcome is a
 * commit whose reply is lost. Returns those that are still to come.
 */
function failFinish(database: Database, kinds: DatabaseErrorKind[]): readonly string[] {
  const transact = database.transact.bind(database);
  database.transact = async <T>(script: () => Transaction<T>): Promise<T> => {
    const failure = { kind: undefined as DatabaseErrorKind | undefined };
    const done = await transact(function* () {
      const inner = script();
      let step = inner.next();
      while (!step.done) {
        if (step.value.sql.startsWith('UPDATE response SET status=$2, body=$3, lease_until='))
          failure.kind = kinds.shift();
        if (failure.kind !== undefined && failure.kind !== 'unknown')
          throw new DatabaseError(failure.kind, 'as the test wants');
        step = inner.next(yield step.value);
      }
      return step.value;
    });
    if (failure.kind !== undefined) throw new DatabaseError(failure.kind, 'as the test wants');
    return done;
  };
  return kinds;
}

const configurationFor = ({ url }: ScriptedVendor): string =>
  oneModel(url).replaceAll('vendor: openai', 'vendor: deepseek');

/** A vendor that answers when it is told to. */
async function startOn(fresh: Fresh, drainMs?: number): Promise<Started> {
  const vendor = await startVendor();
  const held: (() => void)[] = [];
  vendor.answer((_request, response) => {
    held.push(() => json(response, 200, completion()));
  });
  const { url: databaseUrl } = await fresh(migrations);
  const running = await startRunning({
    databaseUrl,
    configuration: configurationFor(vendor),
    drainMs,
  });
  const read = async (response: Response): Promise<StoredAnswer> =>
    JSON.parse(await response.text());
  return {
    running,
    databaseUrl,
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

  test('one that is not to be stored is read in the background, too', async () => {
    const { running, vendor, find, answerAll } = await start();
    const created = await running.post(path, { ...asked, store: false });
    const { id, status } = JSON.parse(await created.text());
    expect([created.status, status]).toEqual([200, 'queued']);
    await expect.poll(() => vendor.received.length).toBe(1);
    answerAll();
    await expect.poll(() => find(id)).toMatchObject({ status: 'completed', store: false });
    await running.expectBooks();
  });

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

  test('an answer is stored when the database is back, and charged once', {
    timeout: 20_000,
  }, async () => {
    const { running, vendor, create, find, answerAll } = await start();
    const { database } = running.gateway;
    const faults = failFinish(database, ['busy', 'gone', 'busy', 'unknown']);
    const { id } = await create();
    await expect.poll(() => vendor.received.length).toBe(1);
    const leaseOf = async () =>
      (await database.query('SELECT lease_until FROM response'))[0]?.['lease_until'];
    answerAll();
    await expect.poll(async () => (await running.usage()).length).toBe(1);
    const lease = await leaseOf();
    await expect.poll(() => faults.length, { timeout: 5_000 }).toBe(1);
    expect(await leaseOf()).toBeGreaterThan(Number(lease));
    expect(await find(id)).toMatchObject({ status: 'in_progress' });
    await expect.poll(() => faults.length, { timeout: 5_000 }).toBe(0);
    expect((await find(id)).output).toHaveLength(1);
    // The answer was stored, but its runner did not hear of it and stores it again.
    await wait(1_500);
    expect(await find(id)).toMatchObject({ status: 'completed' });
    expect(await refunds(database)).toEqual([]);
    expect(await running.balance()).toBe('99.971');
    await running.expectBooks();
  });

  test('a charge whose answer can never be stored is paid back at once', async () => {
    const { running, vendor, create, find, answerAll } = await start();
    const { database } = running.gateway;
    failFinish(database, ['constraint']);
    const { id } = await create();
    await expect.poll(() => vendor.received.length).toBe(1);
    answerAll();
    await expect.poll(async () => (await find(id)).status).toBe('failed');
    expect(await refunds(database)).toHaveLength(1);
    expect(await running.balance()).toBe('100.00');
    await running.expectBooks();
  });

  test('a node that stops does not wait for a database that is away; another pays back', async () => {
    const { running, databaseUrl, vendor, create, answerAll } = await startOn(fresh, 300);
    const faults = failFinish(
      running.gateway.database,
      Array.from({ length: 99 }, () => 'busy'),
    );
    await create();
    await expect.poll(() => vendor.received.length).toBe(1);
    answerAll();
    await expect.poll(() => faults.length).toBeLessThan(99);
    const beganMs = performance.now();
    await running.gateway.close();
    expect(performance.now() - beganMs).toBeLessThan(4_000);
    const tried = faults.length;
    const database = await open(databaseUrl);
    onTestFinished(() => database.close());
    expect(await refunds(database)).toEqual([]);
    await database.query('UPDATE response SET lease_until=1');
    await startGateway({ databaseUrl, configuration: configurationFor(vendor) });
    await expect.poll(async () => (await refunds(database)).length).toBe(1);
    expect((await balance(database, running.userId))?.balance).toBe(100n * nanoPerYuan);
    expect(await check(database)).toMatchObject({ ok: true, problems: [] });
    expect(faults.length).toBe(tried);
  });

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
      await forbidRefunds(database);
      answer();
      await expect.poll(async () => (await database.query('SELECT id FROM usage')).length).toBe(1);
      await gateway.kill();
      await changeable(database);
      await allowRefunds(database);
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
  const forbidRefunds = (database: Database) =>
    database.query(
      name === 'sqlite'
        ? `CREATE TRIGGER kept BEFORE INSERT ON transfer WHEN NEW.code='refund' BEGIN SELECT RAISE(ABORT, 'kept'); END`
        : "ALTER TABLE transfer ADD CONSTRAINT kept CHECK (code<>'refund') NOT VALID",
    );
  const allowRefunds = (database: Database) =>
    database.query(
      name === 'sqlite' ? 'DROP TRIGGER kept' : 'ALTER TABLE transfer DROP CONSTRAINT kept',
    );
  const changeable = (database: Database) =>
    database.query(
      name === 'sqlite' ? 'DROP TRIGGER closed' : 'ALTER TABLE response DROP CONSTRAINT closed',
    );
});
