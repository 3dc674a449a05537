import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, finish, firstChoice, prompt, answerText, usage } from './test-client.ts';
import type { Dialect } from './dialect.ts';
import { type Sim, startSim } from './index.ts';
import { list, object } from './json.ts';
import { vendors } from './vendors.ts';

let sim: Sim;
beforeAll(async () => {
  sim = await startSim();
});
afterAll(() => sim.close());

const every = vendors.map((dialect) => [dialect.vendor, dialect] as const);
const named = new Map(every);
const base = (vendor: string): string => sim.url + (named.get(vendor)?.prefix ?? '');
const hello = { model: 'sim-chat', messages: prompt('Why is the sea salt? “Weil…” 海') };
const streamed = { ...hello, stream: true };

describe.each(every)('%s', (vendor, { style }: Dialect) => {
  const wrap = (text: string) => text.replace(/^<think>.*<\/think>\n\n/s, '');
  const withUsage = vendor === 'mistral' ? {} : { stream_options: { include_usage: true } };

  test('streams what it says whole, and its counts add up', async () => {
    const whole = await ask(base(vendor), hello);
    const stream = await ask(base(vendor), { ...streamed, ...withUsage });
    expect(answerText(whole)).toContain('Why is the sea salt? “Weil…” 海');
    expect(answerText(stream)).toBe(answerText(whole));
    for (const reply of [whole, stream]) {
      expect(reply.status).toBe(200);
      expect(finish(reply)).toBe('stop');
      const counts = usage(reply);
      expect(counts?.['total_tokens']).toBe(
        Number(counts?.['prompt_tokens']) + Number(counts?.['completion_tokens']),
      );
    }
    expect(stream.text.endsWith('data: [DONE]\n\n')).toBe(style.done);
  });

  test('tells usage in a stream unasked or not at all, as it does', async () => {
    expect(usage(await ask(base(vendor), streamed)) !== undefined).toBe(style.usageUnasked);
    expect(
      usage(await ask(base(vendor), { ...streamed, ...withUsage, model: 'sim-no-usage' })),
    ).toBeUndefined();
    expect(usage(await ask(base(vendor), { ...hello, model: 'sim-no-usage' }))).toBeUndefined();
  });

  test('thinks where its readers look for it, and counts it', async () => {
    const thinking = { ...hello, model: 'sim-think' };
    const whole = await ask(base(vendor), thinking);
    const stream = await ask(base(vendor), { ...thinking, ...withUsage, stream: true });
    const plain = await ask(base(vendor), hello);
    expect(wrap(answerText(whole))).toBe(answerText(plain));
    expect(wrap(answerText(stream))).toBe(answerText(plain));
    const total = (reply: typeof whole) => Number(usage(reply)?.['total_tokens']);
    expect(total(whole)).toBeGreaterThan(total(plain) + 10);
    expect(total(stream)).toBe(total(whole));
    if (style.reasoning === 'reasoning_content' || style.reasoning === 'reasoning')
      expect(object(firstChoice(whole.json)['message'])[style.reasoning]).toContain('should think');
  });

  test('calls a tool', async () => {
    if (vendor === 'perplexity') return;
    const tools = [
      {
        type: 'function',
        function: {
          name: 'get_weather',
          parameters: { type: 'object', properties: { city: { type: 'string' } } },
        },
      },
    ];
    const request = { model: 'sim-chat', messages: prompt('The weather in Paris?'), tools };
    const whole = await ask(base(vendor), request);
    expect(finish(whole)).toBe('tool_calls');
    expect(
      object(list(object(firstChoice(whole.json)['message'])['tool_calls'])[0])['function'],
    ).toEqual({
      name: 'get_weather',
      arguments: '{"city":"Paris"}',
    });
    const stream = await ask(base(vendor), { ...request, stream: true });
    const pieces = stream.events
      .flatMap((event) => list(object(firstChoice(event)['delta'])['tool_calls']))
      .map((call) => object(object(call)['function']));
    expect(pieces.map((piece) => piece['arguments']).join('')).toBe('{"city":"Paris"}');
    expect(finish(stream)).toBe('tool_calls');
  });

  test('refuses in its own shape what scenarios refuse', async () => {
    for (const model of [
      'sim-400',
      'sim-401',
      'sim-402',
      'sim-404',
      'sim-429',
      'sim-500',
      'sim-503',
      'sim-context',
      'sim-policy',
    ]) {
      const reply = await ask(base(vendor), { ...hello, model });
      if (vendor === 'minimax')
        expect(object(reply.json['base_resp'])['status_code'], model).not.toBe(0);
      else expect(reply.status, model).toBeGreaterThanOrEqual(400);
      expect(reply.headers.get('retry-after'), model).toBe(model === 'sim-429' ? '1' : null);
      expect(list(reply.json['choices'])).toEqual([]);
    }
  });

  test('breaks streams as scenarios say', async () => {
    const cut = await ask(base(vendor), { ...streamed, model: 'sim-cut-after-3' });
    expect(finish(cut)).toBeUndefined();
    expect(cut.text).not.toContain('[DONE]');
    const broken = await ask(base(vendor), { ...streamed, model: 'sim-error-in-stream' });
    expect(finish(broken)).toBeUndefined();
    expect(broken.text).toMatch(/error/);
    const half = await ask(base(vendor), { ...streamed, model: 'sim-half-event' });
    expect(half.text.endsWith('\n\n')).toBe(false);
    await expect(ask(base(vendor), { ...streamed, model: 'sim-reset-after-3' })).rejects.toThrow(
      'terminated',
    );
  });
});

test('GET /models answers, other URLs are refused in the vendor’s shape, and / lists the vendors', async () => {
  const get = async (path: string) => {
    const response = await fetch(sim.url + path);
    return [response.status, await response.json()] as const;
  };
  expect(await get('/groq/openai/v1/models')).toMatchObject([200, { object: 'list' }]);
  expect(await get('/openai/v1/assistants')).toMatchObject([
    404,
    { error: { type: 'invalid_request_error' } },
  ]);
  expect(await get('/mistral/v2/x')).toEqual([404, { detail: 'Not Found' }]);
  expect(await get('/')).toMatchObject([200, { vendors: { openai: '/openai/v1' } }]);
});

test('the log keeps what came, how it ended and who left', async () => {
  sim.clear();
  await ask(base('openai'), hello);
  const controller = new AbortController();
  const request = {
    method: 'POST',
    headers: { authorization: 'Bearer k' },
    signal: controller.signal,
  };
  const hanging = fetch(`${base('deepseek')}/chat/completions`, {
    ...request,
    body: JSON.stringify({ ...hello, model: 'sim-hang' }),
  });
  while (sim.requests.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  controller.abort();
  await expect(hanging).rejects.toThrow('aborted');
  await expect.poll(() => sim.requests[1]?.left).toBe(true);
  expect(sim.requests).toMatchObject([
    { vendor: 'openai', path: '/openai/v1/chat/completions', status: 200, left: false },
    { vendor: 'deepseek', status: 0 },
  ]);
  expect(JSON.parse(sim.requests[0]?.body.toString() ?? '')).toEqual(hello);
});
