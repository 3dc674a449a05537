import type { ServerResponse } from 'node:http';
import OpenAI, { BadRequestError } from 'openai';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import { expect, test, vi } from 'vitest';
import { migrations } from '../src/app/schema.ts';
import { nanoPerYuan } from '../src/base/money.ts';
import { type Fresh, forEachDatabase, onPostgres } from './databases.ts';
import { oneModel, type Running, startGateway, startRunning } from './support/running.ts';
import {
  chunk,
  type ScriptedVendor,
  sse,
  startVendor,
  usageChunk,
} from './support/scripted-vendor.ts';

const asked = { model: 'm1', input: 'Hello', background: true, stream: true } as const;

/** A vendor whose stream the test writes. */
interface Speaking {
  readonly vendor: ScriptedVendor;
  readonly stream: () => ServerResponse;
  say(word: string): void;
  finish(): void;
}

async function startSpeaking(): Promise<Speaking> {
  const vendor = await startVendor();
  let response: ServerResponse | undefined;
  vendor.answer((_, opened) => {
    response = sse(opened);
    response.write(chunk({ role: 'assistant', content: '' }));
  });
  const stream = (): ServerResponse => {
    if (response === undefined) throw new Error('the vendor was not asked yet');
    return response;
  };
  return {
    vendor,
    stream,
    say: (word) => stream().write(chunk({ content: word })),
    finish: () => stream().end(`${chunk({}, 'stop')}${usageChunk}data: [DONE]\n\n`),
  };
}

const configurationFor = ({ url }: ScriptedVendor): string =>
  oneModel(url).replaceAll('vendor: openai', 'vendor: deepseek');

const clientOf = (url: string, apiKey: string): OpenAI =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });

async function start(fresh: Fresh) {
  const speaking = await startSpeaking();
  const { url: databaseUrl } = await fresh(migrations);
  const configuration = configurationFor(speaking.vendor);
  const running = await startRunning({ databaseUrl, configuration });
  return { ...speaking, running, databaseUrl, client: clientOf(running.url, running.key) };
}

const textOf = (events: readonly ResponseStreamEvent[]): string =>
  events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : '')).join('');

/** Reads events up to the first with `text`, and hangs up. */
async function readUntil(
  stream: AsyncIterable<ResponseStreamEvent> & { readonly controller: AbortController },
  text: string,
): Promise<ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = [];
  for await (const event of stream) {
    events.push(event);
    if (textOf(events).includes(text)) break;
  }
  stream.controller.abort();
  return events;
}

const idOf = ([first]: readonly ResponseStreamEvent[]): string => {
  if (first?.type !== 'response.created') throw new Error('a stream begins with its response');
  return first.response.id;
};

const numbersOf = (events: readonly ResponseStreamEvent[]): number[] =>
  events.map(({ sequence_number: number }) => number);

async function all(stream: AsyncIterable<ResponseStreamEvent>): Promise<ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

const spent = async (running: Running): Promise<bigint> =>
  (await running.usage()).reduce((sum, { cost }) => sum + BigInt(String(cost)), 0n);

forEachDatabase((_name, _openFresh, fresh) => {
  test('a client that lost its stream reads on behind its last event, and each event comes once', async () => {
    const { running, client, vendor, say, finish } = await start(fresh);
    const lost = client.responses.create(asked);
    await expect.poll(() => vendor.received.length).toBe(1);
    say('Grüße');
    const first = await readUntil(await lost, 'Grüße');
    const id = idOf(first);
    expect(await client.responses.retrieve(id)).toMatchObject({ status: 'in_progress' });
    const rest = all(
      await client.responses.retrieve(id, {
        stream: true,
        starting_after: first.length - 1,
      }),
    );
    say(' und 你好');
    await new Promise((go) => {
      setTimeout(go, 2_500);
    });
    say('!');
    finish();
    const events = [...first, ...(await rest)];
    expect(textOf(events)).toBe('Grüße und 你好!');
    expect(numbersOf(events)).toEqual(events.map((_, i) => i));
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { id } });
    expect((await client.responses.retrieve(id)).output_text).toBe('Grüße und 你好!');
    expect(await all(await client.responses.retrieve(id, { stream: true }))).toEqual(events);
    const whole = await client.responses.stream({ response_id: id }).finalResponse();
    expect(whole.output_text).toBe('Grüße und 你好!');
    expect(await running.balance()).toBe('99.971');
    await running.expectBooks();
  });

  test('a stream that is cancelled costs what was delivered, and ends', async () => {
    const { running, client, vendor, say, stream } = await start(fresh);
    const live = client.responses.create(asked);
    await expect.poll(() => vendor.received.length).toBe(1);
    say('Once upon a time there was a fox.');
    const iterator = (await live)[Symbol.asyncIterator]();
    const events: ResponseStreamEvent[] = [];
    while (!textOf(events).includes('fox')) events.push((await iterator.next()).value);
    const cancelled = await client.responses.cancel(idOf(events));
    expect(cancelled).toMatchObject({ status: 'cancelled' });
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next())
      events.push(next.value);
    expect(events.at(-1)).not.toMatchObject({ type: 'response.completed' });
    await expect.poll(() => stream().closed).toBe(true);
    await expect.poll(async () => spent(running)).toBeGreaterThan(nanoPerYuan / 100n);
    expect(await running.gateway.database.query('SELECT lease_until FROM response')).toEqual([
      { lease_until: null },
    ]);
    expect(await client.responses.retrieve(idOf(events))).toMatchObject({ status: 'cancelled' });
    const stored = await all(await client.responses.retrieve(idOf(events), { stream: true }));
    expect(textOf(stored)).toBe('Once upon a time there was a fox.');
    await running.expectBooks();
  });

  test('a stream that is deleted while it runs leaves no events behind', async () => {
    const { running, client, vendor, say, stream } = await start(fresh);
    const live = client.responses.create(asked);
    await expect.poll(() => vendor.received.length).toBe(1);
    say('Once upon a time');
    const id = idOf(await readUntil(await live, 'time'));
    await client.responses.delete(id);
    await expect.poll(() => stream().closed).toBe(true);
    const { database } = running.gateway;
    await expect
      .poll(async () => database.query('SELECT lease_until FROM response'))
      .toEqual([{ lease_until: null }]);
    expect(await database.query('SELECT part FROM response_events')).toEqual([]);
    expect(await spent(running)).toBeGreaterThan(0n);
    await running.expectBooks();
  });

  test('a stream that its vendor breaks off has failed, and what was delivered is charged', async () => {
    const { running, client, vendor, say, stream } = await start(fresh);
    const live = client.responses.create(asked);
    await expect.poll(() => vendor.received.length).toBe(1);
    say('Once upon a time');
    const first = await readUntil(await live, 'time');
    stream().destroy();
    const id = idOf(first);
    await expect
      .poll(async () => (await client.responses.retrieve(id)).status, { timeout: 5_000 })
      .toBe('failed');
    expect((await client.responses.retrieve(id)).error?.message).toContain('broke');
    await expect(client.responses.retrieve(id, { stream: true }).then(all)).rejects.toThrow(
      'broke',
    );
    expect(await spent(running)).toBeGreaterThan(0n);
    await running.expectBooks();
  });

  test('a stream with an Idempotency-Key is made once, and answered again as it was', async () => {
    const { running, client, vendor, say, finish } = await start(fresh);
    const key = { headers: { 'idempotency-key': 'k' } };
    const live = client.responses.create(asked, key);
    await expect.poll(() => vendor.received.length).toBe(1);
    say('Hello');
    const first = await readUntil(await live, 'Hello');
    say(' again');
    finish();
    const again = await all(await client.responses.create(asked, key));
    expect(textOf(again)).toBe('Hello again');
    expect(again.slice(0, first.length)).toEqual(first);
    expect(await all(await client.responses.retrieve(idOf(first), { stream: true }))).toEqual(
      again,
    );
    expect(vendor.received).toHaveLength(1);
    expect(await running.balance()).toBe('99.971');
    await running.expectBooks();
  });

  test('a client that leaves before the first event has no id, and pays nothing', async () => {
    const { running, vendor } = await start(fresh);
    vendor.answer(() => {});
    const leaving = new AbortController();
    const lost = running.post('/v1/responses', asked, leaving);
    await expect.poll(() => vendor.received.length).toBe(1);
    leaving.abort();
    await expect(lost).rejects.toThrow('aborted');
    const { database } = running.gateway;
    await expect
      .poll(async () => database.query('SELECT status, lease_until FROM response'))
      .toEqual([{ status: 'cancelled', lease_until: null }]);
    expect(await running.balance()).toBe('100.00');
    await running.expectBooks();
  });

  test('who waits for the next event makes no node read the whole response again', async () => {
    const { running, client, vendor, say, finish } = await start(fresh);
    const live = client.responses.create(asked);
    await expect.poll(() => vendor.received.length).toBe(1);
    say('Hello');
    const id = idOf(await readUntil(await live, 'Hello'));
    const queries = vi.spyOn(running.gateway.database, 'query');
    const rest = all(await client.responses.retrieve(id, { stream: true }));
    await new Promise((go) => {
      setTimeout(go, 4_500);
    });
    finish();
    expect((await rest).at(-1)).toMatchObject({ type: 'response.completed' });
    const asking = queries.mock.calls.map(([sql]) => sql);
    expect(asking.filter((sql) => sql.includes('FROM response_events')).length).toBeGreaterThan(3);
    expect(asking.filter((sql) => sql.startsWith('SELECT * FROM response'))).toHaveLength(2);
  });

  test('a refusal is an answer like any other, and a response without events is named', async () => {
    const { client, vendor } = await start(fresh);
    vendor.answer((_, response) => {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end('{"error":{"message":"no such tool","type":"invalid_request_error"}}');
    });
    await expect(client.responses.create(asked)).rejects.toThrow(BadRequestError);
    const { id } = await client.responses.create({ ...asked, stream: false });
    await expect(client.responses.retrieve(id, { stream: true })).rejects.toThrow(
      '`background` and `stream`',
    );
    for (const query of ['stream=yes', 'stream=true&starting_after=x'])
      await expect(client.get(`/responses/${id}?${query}`)).rejects.toThrow(BadRequestError);
  });
});

onPostgres((_, __, fresh) => {
  test('another node reads the events of a running response, and says when its node died', async () => {
    const { running, client, vendor, say, finish, databaseUrl } = await start(fresh);
    const there = await startGateway({ databaseUrl, configuration: configurationFor(vendor) });
    const elsewhere = clientOf(there.url, running.key);
    const live = client.responses.create(asked);
    await expect.poll(() => vendor.received.length).toBe(1);
    say('Hello');
    const id = idOf(await readUntil(await live, 'Hello'));
    const rest = elsewhere.responses.retrieve(id, { stream: true });
    const first = await readUntil(await rest, 'Hello');
    await running.gateway.database.query('UPDATE response SET lease_until=1');
    const { database } = there;
    await database.query('SELECT 1');
    const events = await all(await elsewhere.responses.retrieve(id, { stream: true }));
    expect(events.slice(0, first.length)).toEqual(first);
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: { error: { message: 'The response was interrupted.' } },
    });
    finish();
  });
});
