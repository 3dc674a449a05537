import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sim, startSim } from '../sim/index.ts';
import { migrations } from '../src/app/schema.ts';
import { completionMeaning } from './completion-meaning.ts';
import { onSqlite } from './databases.ts';
import { oneModel, type Running, startRunning } from './support/running.ts';
import { json, type ScriptedVendor, sse, startVendor } from './support/scripted-vendor.ts';

/** Money and ends of /v1/completions, from the client's request to the charge. */
let sim: Sim;
beforeAll(async () => {
  sim = await startSim();
});
afterAll(() => sim.close());

const text = (words: string, finish: string | null = null): object => ({
  text: words,
  index: 0,
  logprobs: null,
  finish_reason: finish,
});
const whole = (extra: object): string =>
  JSON.stringify({
    id: 'cmpl-up',
    object: 'text_completion',
    created: 1,
    model: 'up',
    choices: [text('and they lived', 'stop')],
    ...extra,
  });
const event = (choice: object): string =>
  `data: ${JSON.stringify({ id: 'cmpl-up', object: 'text_completion', created: 1, model: 'up', choices: [choice] })}\n\n`;
const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };
const ask = { model: 'm1', prompt: 'Once upon a time', max_tokens: 50 };

onSqlite((_, __, fresh) => {
  const native = async (): Promise<{ running: Running; vendor: ScriptedVendor }> => {
    const vendor = await startVendor();
    const configuration = oneModel(vendor.url).replaceAll('vendor: openai', 'vendor: vllm');
    return {
      vendor,
      running: await startRunning({ databaseUrl: (await fresh(migrations)).url, configuration }),
    };
  };

  test('an answer is charged as its vendor counted it', async () => {
    const { running, vendor } = await native();
    vendor.answer((_request, response) => json(response, 200, whole({ usage })));
    const reply = await running.post('/v1/completions', ask);
    expect(completionMeaning(await reply.text())).toMatchObject({
      choices: [{ text: 'and they lived', finish: 'stop' }],
    });
    expect(await running.usage()).toMatchObject([
      {
        capability: 'completions',
        status: 'ok',
        input_tokens: 5n,
        output_tokens: 3n,
        estimated: 0n,
      },
    ]);
    expect(await running.balance()).toMatch(/^99\.992/);
    await running.expectBooks();
  });

  test('an answer without a count is counted, and the client is told', async () => {
    const { running, vendor } = await native();
    vendor.answer((_request, response) => json(response, 200, whole({})));
    const { usage: told } = JSON.parse(await (await running.post('/v1/completions', ask)).text());
    expect(told.total_tokens).toBe(told.prompt_tokens + told.completion_tokens);
    expect(await running.usage()).toMatchObject([
      { estimated: 1n, output_tokens: BigInt(told.completion_tokens) },
    ]);
    await running.expectBooks();
  });

  test('a stream without a count ends with ours, when it was asked for', async () => {
    const { running, vendor } = await native();
    vendor.answer((_request, response) =>
      sse(response).end(
        `${event(text('and they'))}${event(text(' lived', 'stop'))}data: [DONE]\n\n`,
      ),
    );
    const reply = await running.post('/v1/completions', {
      ...ask,
      stream: true,
      stream_options: { include_usage: true },
    });
    const said = await reply.text();
    expect(said).toMatch(
      /data: \{[^\n]*"object":"text_completion"[^\n]*"choices":\[\],"usage":\{[^\n]*\n\ndata: \[DONE\]\n\n$/,
    );
    expect(completionMeaning(said).choices).toEqual([{ text: 'and they lived', finish: 'stop' }]);
    await running.expectBooks();
  });

  test('a stream that breaks tells it, and is charged for what was delivered', async () => {
    const { running, vendor } = await native();
    vendor.answer((_request, response) => {
      sse(response).write(event(text('and they lived happily')));
      setTimeout(() => response.destroy(), 50);
    });
    const said = await (await running.post('/v1/completions', { ...ask, stream: true })).text();
    expect(said).toMatch(/data: \{"error":\{[^\n]*\}\n\n$/);
    expect(said).not.toContain('[DONE]');
    await expect.poll(() => running.usage()).toMatchObject([{ status: 'cut', estimated: 1n }]);
    await running.expectBooks();
  });

  test('an answer that came whole is the stream that was asked for', async () => {
    const { running, vendor } = await native();
    vendor.answer((_request, response) => json(response, 200, whole({ usage })));
    const said = await (await running.post('/v1/completions', { ...ask, stream: true })).text();
    expect(completionMeaning(said).choices).toEqual([{ text: 'and they lived', finish: 'stop' }]);
    expect(said).toMatch(/data: \[DONE\]\n\n$/);
  });

  test.each([
    [401, 503],
    [429, 503],
    [500, 503],
    [400, 400],
  ])('a vendor’s %i is our %i', async (theirs, ours) => {
    const { running, vendor } = await native();
    vendor.answer((_request, response) =>
      json(response, theirs, '{"error":{"message":"no","type":"x","param":null,"code":null}}'),
    );
    expect((await running.post('/v1/completions', ask)).status).toBe(ours);
    expect(await running.usage()).toEqual([]);
  });

  describe.each([
    ['natively', 'vllm', '/vllm/v1'],
    ['over chat', 'groq', '/groq/openai/v1'],
  ])('%s', (_name, vendor, prefix) => {
    test.each([true, false])(
      'an answer that the money does not reach is cut short, and paid for as far as it went (stream: %s)',
      async (stream) => {
        const configuration = oneModel('').replaceAll(
          'vendor: openai, base_url: "/v1"',
          `vendor: ${vendor}, base_url: "${sim.url}${prefix}"`,
        );
        const running = await startRunning({
          databaseUrl: (await fresh(migrations)).url,
          configuration: configuration
            .replaceAll('max_output: 1000', 'max_output: 16384')
            .replace('upstream: up', 'upstream: sim-long-2000'),
          yuan: '1',
        });
        const reply = await running.post('/v1/completions', { ...ask, max_tokens: 4_000, stream });
        expect(reply.status).toBe(200);
        const { choices } = completionMeaning(await reply.text());
        expect(choices).toMatchObject([{ finish: 'length' }]);
        expect(choices[0]?.text.length).toBeGreaterThan(500);
        expect(await running.usage()).toMatchObject([{ status: 'length' }]);
        await running.expectBooks();
      },
    );
  });
});
