import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { migrations } from '../src/app/schema.ts';
import { forEachDatabase, sqliteUrl } from './databases.ts';
import { png } from './support/png.ts';
import { hello, type Running, startRunning } from './support/running.ts';
import {
  json,
  type ScriptedVendor,
  sse,
  startVendor,
  streamOf,
} from './support/scripted-vendor.ts';

const streamed = { ...hello, stream: true };
const hedgeMs = 60;

interface Watched extends ScriptedVendor {
  /** Streams that were broken off before the vendor had said anything. */
  readonly brokenOff: number;
}

/** A vendor that says nothing for so long, and then this. */
async function vendorAfter(ms: number, words: readonly string[] = ['Hello']): Promise<Watched> {
  const vendor = await startVendor();
  let brokenOff = 0;
  vendor.answer((_request, response) => {
    const speaks = setTimeout(() => sse(response).end(streamOf(words)), ms);
    response.on('close', () => {
      if (!response.headersSent) brokenOff += 1;
      clearTimeout(speaks);
    });
  });
  return Object.defineProperty(vendor, 'brokenOff', { get: () => brokenOff }) as Watched;
}

/** The first is asked before the second; neither is, unless the model says so. */
function selling(
  first: ScriptedVendor,
  second: ScriptedVendor,
  more = `, hedge_after_ms: ${hedgeMs}`,
  keys = 'api_key: k',
): string {
  const model = `id: m1, owned_by: openai, kind: chat, context: 128000, max_output: 1000, price: { input: 1000, output: 1000 }`;
  const channel = (name: string, { url }: ScriptedVendor, rest: string): string =>
    `  - { name: ${name}, vendor: openai, base_url: "${url}/v1", models: [m1], ${rest} }`;
  const channels = [
    channel('first', first, keys),
    channel('second', second, 'api_key: k, priority: 1'),
  ];
  return `models: [{ ${model}${more} }]\nchannels:\n${channels.join('\n')}\n`;
}

async function started(
  databaseUrl: string,
  configuration: string,
): Promise<{ running: Running; hedged: unknown[]; failed: unknown[] }> {
  const running = await startRunning({ databaseUrl, configuration });
  const { parts } = running.gateway;
  const [hedged, failed]: [unknown[], unknown[]] = [[], []];
  const { hedged: tellHedged, failed: tellFailed } = parts;
  Object.assign(parts, {
    hedged: (line: Parameters<typeof tellHedged>[0]) => tellHedged((hedged.push(line), line)),
    failed: (line: Parameters<typeof tellFailed>[0]) => tellFailed((failed.push(line), line)),
  });
  return { running, hedged, failed };
}

const metricsOf = async ({ url }: Running): Promise<string> =>
  (await fetch(`${url}/metrics`, { headers: { authorization: 'Bearer metrics' } })).text();

const words = (text: string): string =>
  [...text.matchAll(/"content":"([^"]+)"/g)].map(([, word]) => word).join('');

forEachDatabase((_name, _openFresh, fresh) => {
  test('a second channel is asked when the first is silent; who is faster answers and is paid for once, the other is broken off', async () => {
    const [first, second] = [
      await vendorAfter(5_000, ['slow']),
      await vendorAfter(1, ['fa', 'st']),
    ];
    const { running, hedged, failed } = await started(
      (await fresh(migrations)).url,
      selling(first, second),
    );
    const answer = await running.post('/v1/chat/completions', streamed);
    const text = await answer.text();
    expect(words(text)).toBe('fast');
    expect(text.match(/data: \[DONE\]/g)).toHaveLength(1);
    await expect.poll(() => first.brokenOff).toBe(1);
    expect([first.received.length, second.received.length]).toEqual([1, 1]);
    expect(await running.usage()).toMatchObject([
      { channel: 'second', status: 'ok', cost: 29_000_000n },
    ]);
    expect(await running.balance()).toBe('99.971');
    expect(hedged).toMatchObject([
      {
        model: 'm1',
        first: 'first',
        second: 'second',
        won: 'second',
        brokenOff: 'first',
        inputTokens: 19,
      },
    ]);
    expect(failed).toEqual([]);
    const page = await metricsOf(running);
    expect(page).toContain('tollgate_hedges_total{model="m1",won="second"} 1');
    expect(page).toContain('tollgate_hedge_input_tokens_total{channel="first"} 19');
    expect(page).toContain('tollgate_requests_total{model="m1",channel="second",outcome="ok"} 1');
    const health = running.gateway.parts.health.state(
      'first@1',
      running.gateway.parts.clock.monotonicMs(),
    );
    expect(health).toMatchObject({
      breaker: 'closed',
      failures: 0,
      results: 0,
      lastFault: undefined,
    });
    await running.expectBooks();
  });

  test('the first channel may still be faster than the second', async () => {
    const [first, second] = [await startVendor(), await vendorAfter(5_000, ['second'])];
    first.answer(async (_request, response) => {
      await expect.poll(() => second.received.length, { timeout: 10_000 }).toBe(1);
      sse(response).end(streamOf(['first']));
    });
    const { running, hedged } = await started(
      (await fresh(migrations)).url,
      selling(first, second),
    );
    expect(words(await (await running.post('/v1/chat/completions', streamed)).text())).toBe(
      'first',
    );
    await expect.poll(() => second.brokenOff).toBe(1);
    expect(hedged).toMatchObject([{ won: 'first', brokenOff: 'second' }]);
    expect(await running.usage()).toMatchObject([{ channel: 'first', cost: 29_000_000n }]);
    await running.expectBooks();
  });

  test('a client that leaves while two are asked stops both and pays nothing', async () => {
    const [first, second] = [await vendorAfter(5_000), await vendorAfter(5_000)];
    const { running } = await started((await fresh(migrations)).url, selling(first, second));
    const leaving = new AbortController();
    const answer = running.post('/v1/chat/completions', streamed, { signal: leaving.signal });
    await expect.poll(() => second.received.length).toBe(1);
    leaving.abort();
    await expect(answer).rejects.toThrow('aborted');
    await expect.poll(() => [first.brokenOff, second.brokenOff]).toEqual([1, 1]);
    // What both have read is recorded once, at no cost (R3).
    await expect
      .poll(() => running.usage())
      .toMatchObject([{ status: 'left', cost: 0n, output_tokens: 0n }]);
    expect(await running.balance()).toBe('100.00');
    await running.expectBooks();
  });
});

test.each([
  ['after its picture was downloaded', 'whole'],
  ['while its picture is downloaded', 'slow'],
] as const)(
  'a client that leaves %s for the second vendor stops both and pays nothing',
  async (_when, picture) => {
    const [first, second, host] = [
      await vendorAfter(20_000),
      await vendorAfter(20_000),
      await startVendor(),
    ];
    host.answer((_request, response) => {
      response.write(png);
      if (picture === 'whole') response.end();
    });
    const configuration = `settings: { media: { allow_private: [127.0.0.0/8] } }\n${selling(first, second)}`;
    const { running } = await started(
      await sqliteUrl(migrations),
      // Gemini reads no URL of a picture: the gateway sends the bytes.
      configuration.replace(
        /name: second, vendor: openai, base_url: "([^"]+)\/v1"/,
        'name: second, vendor: gemini, base_url: "$1"',
      ),
    );
    const content = [{ type: 'image_url', image_url: { url: `${host.url}/a.png` } }];
    const leaving = new AbortController();
    const answer = running.post(
      '/v1/chat/completions',
      { ...streamed, messages: [{ role: 'user', content }] },
      { signal: leaving.signal },
    );
    const asked = picture === 'whole' ? second : host;
    await expect.poll(() => asked.received.length).toBe(1);
    leaving.abort();
    await expect(answer).rejects.toThrow('aborted');
    await expect.poll(() => first.brokenOff).toBe(1);
    if (picture === 'whole') await expect.poll(() => second.brokenOff).toBe(1);
    else expect(second.received).toEqual([]);
    await expect.poll(() => running.usage()).toMatchObject([{ status: 'left', cost: 0n }]);
    await running.expectBooks();
  },
);

test('a client that leaves after the second vendor cannot take the request stops the first', async () => {
  const [first, second] = [await vendorAfter(20_000), await startVendor()];
  const { running } = await started(
    await sqliteUrl(migrations),
    selling(first, second).replace(
      'name: second, vendor: openai',
      'name: second, vendor: anthropic',
    ),
  );
  const leaving = new AbortController();
  const answer = running.post(
    '/v1/chat/completions',
    { ...streamed, logprobs: true },
    { signal: leaving.signal },
  );
  await expect.poll(() => first.received.length).toBe(1);
  await wait(3 * hedgeMs);
  leaving.abort();
  await expect(answer).rejects.toThrow('aborted');
  await expect.poll(() => first.brokenOff).toBe(1);
  expect(second.received).toEqual([]);
});

test('a vendor that fails while the other is asked leaves the answer to that one, and both that fail are two failures', async () => {
  const [first, second] = [await startVendor(), await startVendor()];
  const { running, hedged, failed } = await started(
    await sqliteUrl(migrations),
    selling(first, second),
  );
  /** Resolves once both vendors have been asked so often and so many attempts have failed. */
  const until = (asked: number, failures: number) =>
    expect
      .poll(() => [first.received.length, second.received.length, failed.length >= failures])
      .toEqual([asked, asked, true]);
  const no = (response: ServerResponse) =>
    json(response, 503, '{"error":{"message":"overloaded"}}');
  first.answer(async (_request, response) => {
    await until(1, 0);
    no(response);
  });
  second.answer(async (_request, response) => {
    await until(1, 1);
    sse(response).end(streamOf(['Hello']));
  });
  const answered = await running.post('/v1/chat/completions', streamed);
  expect(words(await answered.text())).toBe('Hello');
  expect(hedged).toMatchObject([{ won: 'second', brokenOff: undefined }]);
  expect(failed).toMatchObject([{ channel: 'first', fault: 'overloaded' }]);

  for (const vendor of [first, second])
    vendor.answer(async (_request, response) => {
      await until(2, 1);
      no(response);
    });
  for (let i = 0; i < 10; i++) running.gateway.parts.hedges.earn('m1');
  const refused = await running.post('/v1/chat/completions', streamed);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  expect(hedged).toMatchObject([{}, { won: 'neither', brokenOff: undefined }]);
  expect(failed).toHaveLength(3);
  await running.expectBooks();
});

test('a vendor that refuses the request leaves the answer to the other; where both refuse it, the client hears the first', async () => {
  const [first, second] = [await startVendor(), await startVendor()];
  const { running, hedged, failed } = await started(
    await sqliteUrl(migrations),
    selling(first, second),
  );
  const refuse = (response: ServerResponse, message: string) =>
    json(response, 400, JSON.stringify({ error: { message } }));
  const until = (failures: number) =>
    expect
      .poll(() => [second.received.length, failed.length >= failures], { timeout: 10_000 })
      .toEqual([first.received.length, true]);
  const answers = async (response: ServerResponse, failures: number) => {
    await until(failures);
    sse(response).end(streamOf(['Hello']));
  };
  const refuses = async (response: ServerResponse, message: string, failures: number) => {
    await until(failures);
    refuse(response, message);
  };

  for (let i = 0; i < 20; i++) running.gateway.parts.hedges.earn('m1');
  first.answer((_request, response) => answers(response, 1));
  second.answer((_request, response) => refuse(response, 'not here'));
  const ofFirst = await running.post('/v1/chat/completions', streamed);
  expect([ofFirst.status, words(await ofFirst.text())]).toEqual([200, 'Hello']);

  first.answer((_request, response) => refuses(response, 'no', 1));
  second.answer((_request, response) => answers(response, 2));
  expect(words(await (await running.post('/v1/chat/completions', streamed)).text())).toBe('Hello');

  first.answer((_request, response) => refuses(response, 'The first one says no.', 3));
  second.answer((_request, response) => refuses(response, 'not here', 2));
  const refused = await running.post('/v1/chat/completions', streamed);
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain('The first one says no.');
  expect(hedged).toMatchObject([
    { won: 'first', brokenOff: undefined },
    { won: 'second', brokenOff: undefined },
    { won: 'neither', brokenOff: undefined },
  ]);
  expect(await running.usage()).toMatchObject([{ channel: 'first' }, { channel: 'second' }]);
  await running.expectBooks();
});

test('a picture that only the second channel downloads does not end the first attempt when it cannot be had', async () => {
  const first = await vendorAfter(4 * hedgeMs);
  const { running, hedged } = await started(
    await sqliteUrl(migrations),
    selling(first, await startVendor()).replace(
      'name: second, vendor: openai',
      'name: second, vendor: moonshot',
    ),
  );
  const content = [{ type: 'image_url', image_url: { url: 'https://127.0.0.1/a.png' } }];
  const answer = await running.post('/v1/chat/completions', {
    ...streamed,
    messages: [{ role: 'user', content }],
  });
  expect([answer.status, words(await answer.text())]).toEqual([200, 'Hello']);
  expect(hedged).toMatchObject([{ won: 'first', brokenOff: undefined }]);
  await running.expectBooks();
});

test('what a vendor may do or keep beside its answer is asked for once, and so is what is answered as a whole', async () => {
  const [first, second] = [await vendorAfter(3 * hedgeMs), await startVendor()];
  const { running } = await started(await sqliteUrl(migrations), selling(first, second));
  const once = [
    { tools: [{ type: 'web_search' }] },
    { store: true },
    { web_search_options: {} },
    { n: 2 },
  ];
  const chats = once.map((more) => running.post('/v1/chat/completions', { ...streamed, ...more }));
  const messages = running.post('/v1/messages', {
    ...streamed,
    tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }],
  });
  await Promise.all([...chats, messages].map(async (asked) => (await asked).text()));
  const asked = first.received.length;
  let askedBeforeFailure: number | undefined;
  first.answer(async (_request, response) => {
    await wait(2 * hedgeMs);
    askedBeforeFailure = second.received.length;
    json(response, 500, '{}');
  });
  expect((await running.post('/v1/chat/completions', hello)).status).toBe(200);
  expect([first.received.length - asked, askedBeforeFailure]).toEqual([1, 0]);
  expect(second.received).toHaveLength(1);
});

test('a hedge is reported with the model whose channels were asked, also when another model answers', async () => {
  const [first, second, other] = [
    await startVendor(),
    await startVendor(),
    await vendorAfter(1, ['other']),
  ];
  for (const vendor of [first, second])
    vendor.answer((_request, response) =>
      setTimeout(() => json(response, 503, '{"error":{"message":"overloaded"}}'), 3 * hedgeMs),
    );
  const [models = '', channels = ''] = selling(first, second).split('\nchannels:\n');
  const m2 = models.slice(models.indexOf('{')).replace('m1', 'm2');
  const { running, hedged } = await started(
    await sqliteUrl(migrations),
    `${models.replace(/\]$/, '')}, ${m2.replace(/, hedge_after_ms: \d+/, '')}
channels:
${channels}  - { name: other, vendor: openai, base_url: "${other.url}/v1", models: [m2], api_key: k }
`,
  );
  const answer = await running.post('/v1/chat/completions', { ...streamed, models: ['m2'] });
  expect(words(await answer.text())).toBe('other');
  expect(await running.usage()).toMatchObject([{ model: 'm2', channel: 'other' }]);
  expect(hedged).toMatchObject([{ model: 'm1', first: 'first', second: 'second', won: 'neither' }]);
  expect(await metricsOf(running)).toContain('tollgate_hedges_total{model="m1",won="neither"} 1');
});

test('without the setting nobody is asked twice, and never the same channel with another of its keys', async () => {
  const [slow, other] = [await vendorAfter(3 * hedgeMs), await startVendor()];
  const { running } = await started(await sqliteUrl(migrations), selling(slow, other, ''));
  await (await running.post('/v1/chat/completions', streamed)).text();
  const keys = selling(slow, other, undefined, 'api_keys: [one, two, three]').replace(
    /\n.*name: second.*/,
    '',
  );
  const { running: alone } = await started(await sqliteUrl(migrations), keys);
  await (await alone.post('/v1/chat/completions', streamed)).text();
  expect([slow.received.length, other.received.length]).toEqual([2, 0]);
});

test('of a crowd that all wait, no more than a tenth is asked twice', async () => {
  const [first, second] = [await vendorAfter(6 * hedgeMs), await vendorAfter(1)];
  const { running } = await started(await sqliteUrl(migrations), selling(first, second));
  const answers = await Promise.all(
    Array.from({ length: 60 }, () => running.post('/v1/chat/completions', streamed)),
  );
  const texts = await Promise.all(answers.map((answer) => answer.text()));
  expect(new Set(texts.map(words))).toEqual(new Set(['Hello']));
  // One to begin with, and what sixty requests have earned.
  expect(second.received.length).toBeLessThanOrEqual(7);
  expect(second.received.length).toBeGreaterThan(1);
  expect(first.received).toHaveLength(60);
  await running.expectBooks();
});

test('the database keeps the setting for whoever starts without the file', async () => {
  const [first, second] = [await startVendor(), await startVendor()];
  const { running } = await started(await sqliteUrl(migrations), selling(first, second));
  expect(running.gateway.parts.catalog().offer('default', 'm1')?.model.hedgeAfterMs).toBe(hedgeMs);
});
