import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { models } from '../sim/catalog.ts';
import { migrations } from '../src/app/schema.ts';
import { sqliteUrl } from './databases.ts';
import { agentRequest, agentTools, betas } from './support/coding-agent.ts';
import { startRunning } from './support/running.ts';
import { chunk, sse, startVendor, usageChunk } from './support/scripted-vendor.ts';
import { openSimulatedGateway, type Temporary } from './support/temporary.ts';

/** A coding agent made for Anthropic's models works with every model that calls tools. */
let temporary: Temporary;
let client: Anthropic;

beforeAll(async () => {
  temporary = await openSimulatedGateway();
  client = new Anthropic({
    baseURL: temporary.gateway.url,
    apiKey: null,
    authToken: temporary.key,
    maxRetries: 0,
  });
});
afterAll(() => temporary.close());

test.each(models.filter(({ skills }) => skills.has('tools')))(
  '$vendor: $id calls two tools, hears of a failure, and goes on',
  async ({ id }) => {
    const asked = agentRequest(id);
    const first = await client.beta.messages.stream({ ...asked, betas }).finalMessage();
    expect(first).toMatchObject({ model: id, stop_reason: 'tool_use' });
    const calls = first.content.flatMap((block) => (block.type === 'tool_use' ? [block] : []));
    expect(calls.map(({ name, input }) => [name, input])).toEqual([
      ['get_weather', { city: 'Paris' }],
      ['get_weather', { city: 'Rome' }],
    ]);
    const [paris, rome] = calls.map(({ id: tool_use_id }) => ({
      type: 'tool_result' as const,
      tool_use_id,
    }));
    if (paris === undefined || rome === undefined) throw new Error('two calls were expected');
    const messages: Anthropic.Beta.Messages.BetaMessageParam[] = [
      ...asked.messages,
      { role: 'assistant', content: first.content },
      {
        role: 'user',
        content: [
          { ...paris, content: [{ type: 'text', text: '21 degrees' }] },
          {
            ...rome,
            content: '<tool_use_error>no such city</tool_use_error>',
            is_error: true,
            cache_control: { type: 'ephemeral' },
          },
        ],
      },
    ];
    const second = await client.beta.messages.stream({ ...asked, messages, betas }).finalMessage();
    expect(second.stop_reason).toBe('end_turn');
    expect(
      second.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    ).toContain('no such city');
    const { input_tokens: counted } = await client.beta.messages.countTokens({
      model: id,
      system: asked.system ?? '',
      tools: agentTools,
      messages,
      betas,
    });
    expect(counted).toBeGreaterThan(100);
  },
);

test('the books agree after all this', () => temporary.expectBooks());

describe('what its vendor gets', () => {
  const start = async (vendor: string, upstream: string, path: string) => {
    const scripted = await startVendor();
    const running = await startRunning({
      databaseUrl: await sqliteUrl(migrations),
      configuration: `
models:
  - { id: m1, owned_by: someone, kind: chat, context: 200000, max_output: 64000, price: { input: 1, output: 1 } }
channels:
  - { name: a, vendor: ${vendor}, base_url: "${scripted.url}${path}", api_key: up-key, groups: [default], models: [{ id: m1, upstream: ${upstream} }] }
`,
    });
    return { scripted, running };
  };
  const headers = {
    'anthropic-version': '2023-06-01',
    'anthropic-beta': betas.join(','),
    'x-app': 'cli',
    'user-agent': 'claude-cli/2.1.0 (external, cli)',
  };
  const body = JSON.stringify({ ...agentRequest('m1'), stream: true });

  test('from Anthropic’s own: every byte, and the betas', async () => {
    const { scripted, running } = await start('anthropic', 'claude-opus-4-6', '/v1');
    scripted.answer((_request, response) => sse(response).end());
    await (await running.post('/v1/messages?beta=true', body, { headers })).text();
    expect(scripted.received[0]?.text).toBe(body.replace('"m1"', '"claude-opus-4-6"'));
    expect(scripted.received[0]?.headers).toMatchObject({
      'anthropic-beta': betas.join(','),
      'x-api-key': 'up-key',
    });
    expect(scripted.received[0]?.headers).not.toHaveProperty('x-app');
  });

  test('from a vendor of chat: what it knows, and nothing else', async () => {
    const { scripted, running } = await start('deepseek', 'deepseek-v4', '');
    scripted.answer((_request, response) =>
      sse(response).end(
        chunk({ content: 'Hi' }) + chunk({}, 'stop') + usageChunk + 'data: [DONE]\n\n',
      ),
    );
    await (await running.post('/v1/messages?beta=true', body, { headers })).text();
    const sent: Readonly<Record<string, unknown>> = JSON.parse(scripted.received[0]?.text ?? '');
    expect(sent).toMatchObject({ model: 'deepseek-v4', stream: true, max_tokens: 32_000 });
    expect(sent['tools']).toEqual(
      agentTools.map(({ name, description, input_schema: parameters }) => ({
        type: 'function',
        function: { name, description, parameters },
      })),
    );
    expect(JSON.stringify(sent)).not.toMatch(/cache_control|context_management|metadata/);
    expect(scripted.received[0]?.headers).not.toHaveProperty('anthropic-beta');
  });
});
