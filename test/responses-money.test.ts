import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sim, startSim } from '../sim/index.ts';
import { migrations } from '../src/app/schema.ts';
import { onSqlite } from './databases.ts';
import { eventsOf, lastResponse, responseMeaning } from './responses-meaning.ts';
import { openSchema } from './responses-schema.ts';
import { type Running, startRunning } from './support/running.ts';

const schema = openSchema();
let sim: Sim;
beforeAll(async () => {
  sim = await startSim();
});
afterAll(() => sim.close());

/** A thousandth of a yuan for each token, in and out, of whatever scenario. */
const configuration = (vendor: string, prefix: string, models: readonly string[]): string => `
groups:
  - { name: default, price_multiplier: 1.0 }
models:
${models.map((id) => `  - { id: ${id}, owned_by: simulator, kind: chat, context: 128000, max_output: 16384, price: { input: 1000, output: 1000 } }`).join('\n')}
channels:
  - { name: a, vendor: ${vendor}, base_url: "${sim.url}${prefix}", api_key: sk-sim, groups: [default], models: [${models.join(', ')}] }
`;

onSqlite((_, __, fresh) => {
  describe.each([
    ['natively', 'openai', '/openai/v1'],
    ['over chat', 'deepseek', '/deepseek'],
  ])('%s', (_name, vendor, prefix) => {
    const start = async (model: string, yuan: string): Promise<Running> =>
      startRunning({
        databaseUrl: (await fresh(migrations)).url,
        configuration: configuration(vendor, prefix, [model]),
        yuan,
      });
    const ask = (
      running: Running,
      model: string,
      stream: boolean,
      signal?: AbortSignal,
    ): Promise<Response> =>
      running.post('/v1/responses', { model, input: 'Hello', stream }, signal ? { signal } : {});
    const books = async (running: Running): Promise<void> => {
      const { check } = await import('../src/ledger/check.ts');
      expect(await check(running.gateway.database)).toMatchObject({ ok: true, problems: [] });
    };

    test.each([true, false])(
      'an answer that the money does not reach is cut short, and paid for as far as it went (stream: %s)',
      async (stream) => {
        const running = await start('sim-long-2000', '1');
        const reply = await ask(running, 'sim-long-2000', stream);
        expect(reply.status).toBe(200);
        const text = await reply.text();
        const response = stream ? lastResponse(text) : JSON.parse(text);
        expect(response).toMatchObject({
          status: 'incomplete',
          incomplete_details: { reason: 'max_output_tokens' },
          error: null,
        });
        expect(schema.response(response)).toBe('');
        const { text: said, usage } = responseMeaning(response);
        expect(said.length).toBeGreaterThan(500);
        if (stream) {
          const events = eventsOf(text);
          expect(events.map(({ data }) => data['sequence_number'])).toEqual(
            events.map((_event, i) => i),
          );
          expect(
            events
              .filter(({ name }) => name === 'response.output_text.delta')
              .map(({ data }) => data['delta'])
              .join(''),
          ).toBe(said);
        }
        const [record] = await running.usage();
        expect(record).toMatchObject({
          capability: 'responses',
          status: 'length',
          input_tokens: BigInt(usage?.input ?? 0),
          output_tokens: BigInt(usage?.output ?? 0),
        });
        expect(
          await running.gateway.database.query('SELECT code FROM transfer WHERE id=$1', [
            String(record?.['id']),
          ]),
        ).toEqual([{ code: 'responses' }]);
        expect(Number(await running.balance())).toBeGreaterThanOrEqual(0);
        await books(running);
      },
    );

    test('a stream that breaks ends with a numbered error event, and what was delivered is charged', async () => {
      const running = await start('sim-cut-after-3', '10');
      const events = eventsOf(await (await ask(running, 'sim-cut-after-3', true)).text());
      expect(events.map(({ data }) => data['sequence_number'])).toEqual(
        events.map((_event, i) => i),
      );
      const error = events.at(-1)?.data ?? {};
      expect(error).toMatchObject({
        type: 'error',
        error: { type: 'service_unavailable_error', param: null },
      });
      expect(schema.event(error)).toBe('');
      expect(await running.usage()).toMatchObject([{ status: 'cut', estimated: 1n }]);
      await books(running);
    });

    test.each([true, false])(
      'without the vendor’s count the answer is counted (stream: %s)',
      async (stream) => {
        const running = await start('sim-no-usage', '10');
        const reply = await ask(running, 'sim-no-usage', stream);
        expect(reply.status).toBe(200);
        if (!stream) expect(responseMeaning(await reply.json()).usage?.output).toBeGreaterThan(0);
        await expect
          .poll(() => running.usage(), { timeout: 2_000 })
          .toMatchObject([{ status: 'ok', estimated: 1n }]);
        await books(running);
      },
    );
  });
});
