import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { migrations } from '../src/app/schema.ts';
import { type Fresh, forEachDatabase } from './databases.ts';
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

/** A vendor that answers when it is told to. */
async function startOn(fresh: Fresh): Promise<Started> {
  const vendor = await startVendor();
  const held: (() => void)[] = [];
  vendor.answer((_request, response) => {
    held.push(() => json(response, 200, completion()));
  });
  const running = await startRunning({
    databaseUrl: (await fresh(migrations)).url,
    configuration: oneModel(vendor.url).replaceAll('vendor: openai', 'vendor: deepseek'),
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

forEachDatabase((_name, _openFresh, fresh) => {
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
});
