import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { storedCatalog } from '../src/catalog/stored-catalog.ts';
import { check, operatorLosses } from '../src/ledger/check.ts';
import { migrations } from '../src/app/schema.ts';
import { vendors } from '../src/providers/index.ts';
import { migrate } from '../src/storage/migrate.ts';
import { recordColumns } from '../src/usage/record.ts';
import { forEachDatabase, sqliteUrl } from './databases.ts';
import { clientSides } from './support/client-formats.ts';
import { startRunning } from './support/running.ts';
import { chunk, completion, json, sse, startVendor } from './support/scripted-vendor.ts';

/** A thousandth of a yuan for each token. */
const configuration = (url: string, vendor = 'openai-compatible'): string => `
models:
  - { id: m1, owned_by: a, kind: chat, context: 128000, max_output: 64000, price: { input: 1000, output: 1000 } }
  - { id: unknown, owned_by: a, kind: chat, price: { input: 1000, output: 1000 } }
channels:
  - { name: a, vendor: ${vendor}, base_url: "${url}/v1", api_key: up-key, models: [m1, unknown] }
`;
const nano = (tokens: number): bigint => BigInt(tokens) * 1_000_000n;
const five = 5_000_000;
const usageOf = (input: number, output: number, more: object = {}) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  ...more,
});
const usageChunk = (usage: object): string =>
  `data: ${JSON.stringify({ id: 'up', object: 'chat.completion.chunk', created: 1, model: 'up', choices: [], usage })}\n\n`;
/** Fifty characters, and this usage. */
const fifty = 'a short answer that is no longer than fifty chars ';
const streamed = (usage: object): string =>
  `${chunk({ role: 'assistant', content: '' })}${chunk({ content: fifty })}${chunk({}, 'stop')}${usageChunk(usage)}data: [DONE]\n\n`;

async function started(
  databaseUrl: string,
  how: (text: string, response: ServerResponse) => unknown,
  vendorId?: string,
) {
  const vendor = await startVendor();
  vendor.answer(({ text }, response) => how(text, response));
  const running = await startRunning({
    databaseUrl,
    configuration: configuration(vendor.url, vendorId),
    yuan: '10000',
  });
  return { vendor, running };
}

const reporting =
  (usage: object) =>
  (text: string, response: ServerResponse): void => {
    if (/"stream":\s*true/.test(text)) sse(response).end(streamed(usage));
    else json(response, 200, completion(fifty, { usage }));
  };

const losses = "SELECT id, amount, ref FROM transfer WHERE debit='losses' ORDER BY id";

forEachDatabase((_name, openFresh, fresh) => {
  test('a database of the version before has no losses, and its channels bill no cancelled input', async () => {
    const before = migrations.filter(
      ({ id }) => id !== '0041-usage-reported' && id !== '0042-cancelled-input',
    );
    expect(before).toHaveLength(migrations.length - 2);
    const database = await openFresh({ migrations: before });
    await database.query(
      "INSERT INTO account (id, kind, credits, debits) VALUES ('u1', 'user', 100, 30)",
    );
    await database.query(
      "INSERT INTO transfer (id, debit, credit, amount, code, at) VALUES ('w1', 'grants', 'u1', 100, 'grant', 1)",
    );
    await database.query(
      "INSERT INTO transfer (id, debit, credit, amount, code, at) VALUES ('r1', 'u1', 'revenue', 30, 'chat', 1)",
    );
    const columns = recordColumns.filter(({ name }) => name !== 'excess' && name !== 'reported');
    const values = columns.map(({ name, type }) =>
      name === 'status' ? "'ok'" : type === 'text' ? "'x'" : '1',
    );
    const names = columns.map(({ name }) => name).join();
    await database.query(
      `INSERT INTO usage (id, account, cost, shortfall, ${names}) VALUES ('r1', 'u1', 30, 0, ${values.join()})`,
    );
    await database.query(
      "INSERT INTO channels (name, vendor, group_names, models, priority, weight, revision) VALUES ('a', 'openai', '[]', '[]', 0, 1, 1)",
    );
    expect(await migrate(database, migrations)).toEqual([
      '0041-usage-reported',
      '0042-cancelled-input',
    ]);
    expect(await check(database)).toMatchObject({ ok: true, problems: [] });
    expect(await operatorLosses(database)).toBe(0n);
    const { channels } = await storedCatalog(database);
    expect(channels.map(({ name, billsCancelledInput }) => [name, billsCancelledInput])).toEqual([
      ['a', undefined],
    ]);
  });

  test.each(
    clientSides.flatMap((side) =>
      [false, true].map((stream) => [side.format, stream, side] as const),
    ),
  )(
    'R2: max_tokens 200 and 5,000,000 reported tokens cost a client of %s (stream: %s) 200 and its input; the rest is the loss of the house',
    async (_format, stream, side) => {
      const { running } = await started(
        (await fresh(migrations)).url,
        reporting(usageOf(30, five)),
      );
      const response = await running.post(side.path, side.body('m1', stream));
      const body = await response.text();
      expect(response.status).toBe(200);
      expect(body).toContain('a short answer');
      const [record, ...others] = await running.usage();
      expect(others).toEqual([]);
      expect(record).toMatchObject({
        cost: nano(230),
        input_tokens: 30n,
        output_tokens: 200n,
        excess: nano(five - 200),
        estimated: 0n,
      });
      const lines: readonly (readonly unknown[])[] = JSON.parse(String(record?.['reported']));
      expect(lines.map(([measure, quantity]) => [measure, quantity])).toEqual([
        ['input', 30],
        ['output', five],
      ]);
      expect(await running.balance()).toBe('9999.77');
      expect(await running.gateway.database.query(losses)).toEqual([
        { id: `${String(record?.['id'])}/excess`, amount: nano(five - 200), ref: record?.['id'] },
      ]);
      await running.expectBooks();
      // The answer says what the vendor said, its count included; what was charged stands in the
      // record.
      if (!stream) expect(body).toContain(String(five));
    },
  );
});

describe('R2: what is reported of the input', () => {
  const ask = {
    model: 'm1',
    max_tokens: 200,
    messages: [{ role: 'user', content: 'word '.repeat(400) }],
  };

  test('costs no more than the text counted twice over, and what vendors add', async () => {
    const { running } = await started(await sqliteUrl(migrations), reporting(usageOf(five, 10)));
    expect((await running.post('/v1/chat/completions', ask)).status).toBe(200);
    const [record] = await running.usage();
    const input = Number(record?.['input_tokens']);
    expect(input).toBeGreaterThan(2_048 + 400);
    expect(input).toBeLessThan(2_048 + 2 * 500);
    expect(record).toMatchObject({
      cost: nano(input + 10),
      excess: nano(five - input),
      output_tokens: 10n,
    });
    await running.expectBooks();
  });

  test('costs no more where most of it is said to be cached', async () => {
    const cached = usageOf(five, 10, { prompt_tokens_details: { cached_tokens: five - 1 } });
    const { running } = await started(await sqliteUrl(migrations), reporting(cached));
    await running.post('/v1/chat/completions', ask);
    const [record] = await running.usage();
    expect(Number(record?.['input_tokens'])).toBeLessThan(2_048 + 2 * 500);
    await running.expectBooks();
  });

  test('is bounded by the context where a file was sent, which nobody here can count', async () => {
    const { running } = await started(await sqliteUrl(migrations), reporting(usageOf(five, 10)));
    const file = {
      type: 'file',
      file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${btoa('%PDF-1.4')}` },
    };
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'Sum it up.' }, file] }];
    expect((await running.post('/v1/chat/completions', { ...ask, messages })).status).toBe(200);
    expect(await running.usage()).toMatchObject([
      { input_tokens: 128_000n, excess: nano(five - 128_000) },
    ]);
  });

  test('is as reported as long as it can be: a tool prompt of the vendor, a picture of the dearest kind', async () => {
    const { running } = await started(await sqliteUrl(migrations), reporting(usageOf(40_000, 10)));
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${btoa('png')}` } };
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, image] }];
    expect((await running.post('/v1/chat/completions', { ...ask, messages })).status).toBe(200);
    expect(await running.usage()).toMatchObject([
      { input_tokens: 40_000n, excess: null, reported: null },
    ]);
  });
});

describe('R2: an answer that does not end', () => {
  /** Writes words until nobody takes them any more. */
  function runOn(response: ServerResponse): void {
    const words = chunk({ content: 'and so on and so on '.repeat(20) }).repeat(10);
    const more = (): void => {
      while (!response.destroyed && response.write(words));
    };
    sse(response)
      .on('drain', more)
      .write(chunk({ role: 'assistant', content: '' }));
    more();
  }

  test.each(clientSides.map((side) => [side.format, side] as const))(
    'ends for %s with its length, at the bound',
    async (format, side) => {
      const { running } = await started(await sqliteUrl(migrations), (_text, response) =>
        runOn(response),
      );
      const response = await running.post(side.path, side.body('m1', true));
      const text = await response.text();
      expect(text).toMatch(
        {
          chat: /"finish_reason":"length"[^]*\[DONE\]/,
          messages: /"stop_reason":"max_tokens"[^]*message_stop/,
        }[format] ?? /response\.incomplete[^]*max_output_tokens/,
      );
      expect(text.length).toBeLessThan(1_000_000);
      const [record] = await running.usage();
      expect(record).toMatchObject({ status: 'length', output_tokens: 200n, excess: null });
      expect(Number(record?.['cost'])).toBeLessThan(Number(nano(200 + 2_048)));
      const metrics = await (
        await fetch(`${running.url}/metrics`, { headers: { authorization: 'Bearer metrics' } })
      ).text();
      expect(metrics).toContain('tollgate_overruns_total{channel="a"} 1');
      await running.expectBooks();
    },
  );

  test('ends for a client that asked for a whole answer, too', async () => {
    const vendor = await startVendor();
    vendor.answer((_request, response) => runOn(response));
    // Money that pays for a part of it alone: the vendor is asked for a stream.
    const running = await startRunning({
      databaseUrl: await sqliteUrl(migrations),
      configuration: configuration(vendor.url),
      yuan: '60',
    });
    const asked = { model: 'm1', messages: [{ role: 'user', content: 'Hello' }] };
    const response = await running.post('/v1/chat/completions', asked);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ choices: [{ finish_reason: 'length' }] });
    expect(Number(await running.balance())).toBeGreaterThanOrEqual(0);
    await running.expectBooks();
  });

  test('goes on where nobody knows how much the model writes and the client said nothing', async () => {
    const long = 'a long answer '.repeat(20_000);
    const said = chunk({ content: long.slice(0, 1_400) }).repeat(200);
    const { running } = await started(await sqliteUrl(migrations), (_text, response) => {
      sse(response).end(
        `${chunk({ role: 'assistant', content: '' })}${said}${chunk({}, 'stop')}${usageChunk(usageOf(9, 60_000))}data: [DONE]\n\n`,
      );
    });
    const text = await (
      await running.post('/v1/chat/completions', {
        ...{ model: 'unknown', stream: true },
        messages: [{ role: 'user', content: 'Hi' }],
      })
    ).text();
    expect(text).toContain('"finish_reason":"stop"');
    expect(await running.usage()).toMatchObject([
      { status: 'ok', output_tokens: 60_000n, excess: null },
    ]);
  });
});

describe('R2: what vendors document', () => {
  test('models that think beyond the limit are paid for what they think, up to what they can write, and no more', async () => {
    expect(vendors.get('xai')?.thinksBeyondLimit).toBe(true);
    const thought = usageOf(30, 90, {
      total_tokens: 30 + 90 + 500,
      completion_tokens_details: { reasoning_tokens: 500 },
    });
    const honest = await started(await sqliteUrl(migrations), reporting(thought), 'xai');
    const ask = { model: 'm1', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] };
    await honest.running.post('/v1/chat/completions', ask);
    expect(await honest.running.usage()).toMatchObject([{ output_tokens: 590n, excess: null }]);
    const lies = usageOf(30, five, {
      total_tokens: 30 + 2 * five,
      completion_tokens_details: { reasoning_tokens: five },
    });
    const lying = await started(await sqliteUrl(migrations), reporting(lies), 'xai');
    await lying.running.post('/v1/chat/completions', ask);
    expect(await lying.running.usage()).toMatchObject([{ output_tokens: BigInt(64_000 + 100) }]);
    await lying.running.expectBooks();
  });

  test('a limit below sixteen may be raised to it', async () => {
    const { running } = await started(await sqliteUrl(migrations), reporting(usageOf(30, 16)));
    await running.post('/v1/chat/completions', {
      model: 'm1',
      max_tokens: 1,
      messages: [{ role: 'user', content: 'Hello' }],
    });
    expect(await running.usage()).toMatchObject([{ output_tokens: 16n, excess: null }]);
  });
});

describe('R5: a vendor that reports zero tokens', () => {
  test.each(
    clientSides.flatMap((side) =>
      [false, true].map((stream) => [side.format, stream, side] as const),
    ),
  )(
    'for an answer with text is not believed: %s (stream: %s) is estimated, and marked so',
    async (_format, stream, side) => {
      const { running } = await started(await sqliteUrl(migrations), reporting(usageOf(0, 0)));
      const body = await (await running.post(side.path, side.body('m1', stream))).text();
      const [record] = await running.usage();
      expect(record).toMatchObject({ estimated: 1n, status: 'ok' });
      for (const side of ['input_tokens', 'output_tokens'])
        expect(Number(record?.[side])).toBeGreaterThan(5);
      expect(record?.['cost']).toBe(
        nano(Number(record?.['input_tokens']) + Number(record?.['output_tokens'])),
      );
      if (!stream)
        expect(body).toMatch(
          new RegExp(`"(output|completion)_tokens":\\s*${String(record?.['output_tokens'])}\\b`),
        );
      await running.expectBooks();
    },
  );

  test.each([false, true])(
    'of output alone is believed as to the input (stream: %s)',
    async (stream) => {
      const { running } = await started(await sqliteUrl(migrations), reporting(usageOf(123, 0)));
      await (
        await running.post('/v1/chat/completions', {
          model: 'm1',
          stream,
          messages: [{ role: 'user', content: 'Hello' }],
        })
      ).text();
      const [record] = await running.usage();
      expect(record).toMatchObject({ estimated: 1n, input_tokens: 123n });
      expect(Number(record?.['output_tokens'])).toBeGreaterThan(5);
    },
  );

  test('for an answer without a word is believed', async () => {
    const { running } = await started(await sqliteUrl(migrations), (_text, response) =>
      json(response, 200, completion('', { usage: usageOf(7, 0) })),
    );
    await running.post('/v1/chat/completions', {
      model: 'm1',
      messages: [{ role: 'user', content: 'Hello' }],
    });
    expect(await running.usage()).toMatchObject([
      { estimated: 0n, input_tokens: 7n, output_tokens: 0n },
    ]);
  });

  test('on the wire of a text completion is not believed either', async () => {
    const text = {
      id: 'up',
      object: 'text_completion',
      created: 1,
      model: 'up',
      usage: usageOf(0, 0),
    };
    const choices = [{ index: 0, text: fifty, logprobs: null, finish_reason: 'stop' }];
    const vendor = await startVendor();
    vendor.answer((_request, response) =>
      json(response, 200, JSON.stringify({ ...text, choices })),
    );
    const sold = configuration(vendor.url).replace(
      'kind: chat, context',
      'kind: completion, context',
    );
    const running = await startRunning({
      databaseUrl: await sqliteUrl(migrations),
      configuration: sold,
    });
    expect(
      (await running.post('/v1/completions', { model: 'm1', prompt: 'Hello', max_tokens: 50 }))
        .status,
    ).toBe(200);
    const [record] = await running.usage();
    expect(record).toMatchObject({ estimated: 1n });
    expect(Number(record?.['output_tokens'])).toBeGreaterThan(5);
  });
});

describe('R3: a client that leaves before the first byte', () => {
  const otherKinds = `  - { id: picture, owned_by: a, kind: image, price: { image: 0.1 } }
  - { id: voice, owned_by: a, kind: speech, price: { character: 0.0001 } }
`;
  /** A vendor that takes requests and says nothing. */
  async function silent(more = '') {
    const vendor = await startVendor();
    const waiters: (() => void)[] = [];
    let asked = 0;
    vendor.answer(() => {
      asked += 1;
      for (const told of waiters.splice(0)) told();
    });
    const sold = configuration(vendor.url)
      .replace('api_key: up-key,', `api_key: up-key,${more}`)
      .replace(
        'models:',
        'groups: [{ name: default, price_multiplier: 1.0, limits: { tpm: 40000 } }]\nmodels:',
      )
      .replace('channels:', `${otherKinds}channels:`)
      .replace('models: [m1, unknown]', 'models: [m1, unknown, picture, voice]');
    const running = await startRunning({
      databaseUrl: await sqliteUrl(migrations),
      configuration: sold,
    });
    /** Sends it, and leaves once the vendor has it. */
    const leave = async (path: string, body: object): Promise<void> => {
      const leaving = new AbortController();
      const before = asked;
      const answer = running.post(path, body, { signal: leaving.signal }).catch(() => undefined);
      await expect.poll(() => asked).toBe(before + 1);
      leaving.abort();
      await answer;
    };
    return { running, leave };
  }
  const question = 'What is the meaning of life? '.repeat(50);

  test.each(
    clientSides.flatMap((side) =>
      [false, true].map((stream) => [side.format, stream, side] as const),
    ),
  )('over %s (stream: %s) has its input recorded, at no cost', async (format, stream, side) => {
    const { running, leave } = await silent();
    await leave(side.path, side.body('m1', stream));
    await expect.poll(() => running.usage()).toHaveLength(1);
    const [record] = await running.usage();
    expect(record).toMatchObject({
      status: 'left',
      capability: format,
      cost: 0n,
      estimated: 1n,
      output_tokens: 0n,
      channel: 'a',
      lines: '[]',
    });
    expect(Number(record?.['input_tokens'])).toBeGreaterThan(0);
    expect(await running.balance()).toBe('100.00');
    await running.expectBooks();
  });

  test.each([
    ['/v1/images/generations', { model: 'picture', prompt: question }],
    ['/v1/audio/speech', { model: 'voice', input: question, voice: 'alloy' }],
  ])(
    'to %s has it recorded, at no cost, even where its vendor bills the input of texts',
    async (path, body) => {
      const { running, leave } = await silent(' bills_cancelled_input: true,');
      await leave(path, body);
      await expect.poll(() => running.usage()).toHaveLength(1);
      const [record] = await running.usage();
      expect(record).toMatchObject({ status: 'left', cost: 0n, output_tokens: 0n, lines: '[]' });
      expect(await running.balance()).toBe('100.00');
      await running.expectBooks();
    },
  );

  test('counts towards the tokens of a minute', async () => {
    const { running, leave } = await silent();
    const body = {
      model: 'm1',
      stream: true,
      max_tokens: 10,
      messages: [{ role: 'user', content: question.repeat(20) }],
    };
    await leave('/v1/chat/completions', body);
    await leave('/v1/chat/completions', body);
    await leave('/v1/chat/completions', body);
    await leave('/v1/chat/completions', body);
    const refused = await running.post('/v1/chat/completions', body);
    expect(refused.status).toBe(429);
    expect(await refused.text()).toContain('rate_limit_exceeded');
  });

  test.each([false, true])(
    'pays for it where the channel says that its vendor bills it (stream: %s)',
    async (stream) => {
      const { running, leave } = await silent(' bills_cancelled_input: true,');
      await leave('/v1/chat/completions', {
        model: 'm1',
        stream,
        max_tokens: 10,
        messages: [{ role: 'user', content: question }],
      });
      await expect.poll(() => running.usage()).toHaveLength(1);
      const [record] = await running.usage();
      const input = Number(record?.['input_tokens']);
      expect(input).toBeGreaterThan(300);
      expect(input).toBeLessThan(500);
      expect(record).toMatchObject({ status: 'left', cost: nano(input), estimated: 1n });
      expect(Number(await running.balance())).toBeCloseTo(100 - input / 1_000, 6);
      await running.expectBooks();
    },
  );
});
