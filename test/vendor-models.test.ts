import { expect, onTestFinished, test } from 'vitest';
import { startSim } from '../sim/index.ts';
import { migrations } from '../src/app/schema.ts';
import { forEachDatabase } from './databases.ts';
import { newBrowser } from './support/console.ts';
import { hello, oneModel, startRunning } from './support/running.ts';
import { json, startVendor } from './support/scripted-vendor.ts';

interface Listed {
  readonly id: string;
  readonly upstream: string;
  readonly sold: boolean;
  readonly prices: readonly { readonly amount: string }[] | null;
}

const soon = { interval: 50 };

async function desk(databaseUrl: string) {
  const vendor = await startVendor();
  const running = await startRunning({ databaseUrl, configuration: oneModel(vendor.url) });
  const operator = await newBrowser(running.url, running.gateway.database, 'operator');
  const post = (path: string, body: object) =>
    operator.ask(`operator/${path}`, { method: 'POST', body });
  return { vendor, running, operator, post };
}

forEachDatabase((_name, _openFresh, fresh) => {
  test('a channel is made from nothing: its models are fetched, priced, tested and sold', async () => {
    const { vendor, running, post } = await desk((await fresh(migrations)).url);
    const draft = { vendor: 'deepseek', base_url: `${vendor.url}/v1`, secret: 'typed-in-the-form' };
    vendor.answer(({ url, headers }, response) => {
      expect([url, headers.authorization]).toEqual(['/v1/models', 'Bearer typed-in-the-form']);
      const data = ['deepseek-chat', 'm1', 'brand-new', 'brand-new', 'two words', 7];
      json(response, 200, JSON.stringify({ data: data.map((id) => ({ id })) }));
    });
    const { json: view } = await post('vendor-models', draft);
    expect(view.failure).toBe(null);
    const known = view.models.map(({ id, sold, prices }: Listed) => [id, sold, prices !== null]);
    expect(known).toEqual([
      ['deepseek-chat', false, true],
      ['m1', true, true],
      ['brand-new', false, false],
    ]);

    vendor.answer((_request, response) =>
      json(
        response,
        200,
        '{"choices":[{"message":{"content":"OK"}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}',
      ),
    );
    const tested = await post('channel-test', { ...draft, capability: 'chat', model: 'brand-new' });
    expect(tested.text).toContain('"ok":true');
    const made = await post('channels', {
      ...{ ...draft, name: 'made', groups: ['default'] },
      models: [{ id: 'brand-new' }, { id: 'deepseek-chat' }],
      new_models: [{ id: 'brand-new', price: { input: '1000', output: '1000' } }],
    });
    expect(made.status).toBe(201);
    const ask = () => running.post('/v1/chat/completions', { ...hello, model: 'brand-new' });
    await expect.poll(async () => (await ask()).status, soon).toBe(200);
    expect(await running.usage()).toMatchObject([{ model: 'brand-new', cost: 2_000_000n }]);
    await running.expectBooks();
  });

  test('a wrong price of a new model leaves no channel and no model behind', async () => {
    const { post, operator } = await desk((await fresh(migrations)).url);
    const wrong = await post('channels', {
      ...{ name: 'made', vendor: 'deepseek', secret: 'k', models: [{ id: 'a' }, { id: 'b' }] },
      new_models: [
        { id: 'a', price: { input: '1', output: '1' } },
        { id: 'b', price: { input: 'much' } },
      ],
    });
    expect([wrong.status, wrong.json.error.fields]).toEqual([
      400,
      { 'new_models[1].price.input': "must be a decimal number, not 'much'" },
    ]);
    expect((await operator.ask('operator/models/a')).status).toBe(404);
    expect((await operator.ask('operator/channels/made')).status).toBe(404);
  });

  test('a channel that is edited gets models with their prices, all of them or none', async () => {
    const { vendor, running, operator, post } = await desk((await fresh(migrations)).url);
    await post('channels', {
      ...{ name: 'made', vendor: 'deepseek', base_url: `${vendor.url}/v1`, secret: 'k' },
      ...{ groups: ['default'], models: [{ id: 'deepseek-chat' }] },
    });
    const patch = (name: string, version: number, body: object) =>
      operator.ask(`operator/channels/${name}`, {
        ...{ method: 'PATCH', body, headers: { 'if-match': String(version) } },
      });
    const sold = async (id: string) => (await operator.ask(`operator/models/${id}`)).status;
    const models = [{ id: 'deepseek-chat' }, { id: 'x' }, { id: 'y' }];
    const right = { id: 'x', price: { input: '1000', output: '1000' } };

    const unpriced = await patch('made', 1, { models, new_models: [right] });
    expect([unpriced.status, unpriced.json.error.fields]).toEqual([
      400,
      { 'models[2]': expect.stringContaining("there is no model 'y'") },
    ]);
    const wrong = await patch('made', 1, {
      ...{ models, disabled: true },
      new_models: [right, { id: 'y', price: { input: '1' } }],
    });
    expect([wrong.status, wrong.json.error.fields]).toEqual([
      400,
      { 'new_models[1].price': expect.stringContaining('a chat model needs a price') },
    ]);
    const good = { models, new_models: [right, { id: 'y', price: { input: '1', output: '2' } }] };
    expect((await patch('made', 7, good)).json.error.code).toBe('version_conflict');
    expect((await patch('made', 1, { ...good, dry_run: true })).json).toEqual({
      unserved_models: [],
    });
    expect((await patch('a', 1, { new_models: [right] })).json.error.code).toBe('read_only');
    expect([await sold('x'), await sold('y')]).toEqual([404, 404]);
    const unchanged = (await operator.ask('operator/channels/made')).json;
    expect([unchanged.version, unchanged.state]).toEqual([1, 'untried']);

    expect((await patch('made', 1, good)).json).toMatchObject({
      version: 2,
      models: models.map(({ id }) => ({ id, priced: true })),
    });
    const { json: trail } = await operator.ask('operator/audit?target=channel:made');
    expect(trail.items.map(({ action }: { action: string }) => action)).toEqual([
      'channel.update',
      'channel.create',
    ]);
    const acts = async (id: string) =>
      (await operator.ask(`operator/audit?target=model:${id}`)).json.items;
    expect(await acts('y')).toMatchObject([
      {
        actor: { kind: 'operator', id: trail.items[0].actor.id },
        action: 'model.create',
        changes: expect.arrayContaining([
          { member: 'input', before: null, after: '1' },
          { member: 'output', before: null, after: '2' },
        ]),
      },
    ]);
    expect(await acts('deepseek-chat')).toMatchObject([{ action: 'model.create' }]);
    vendor.answer((_request, response) =>
      json(
        response,
        200,
        '{"choices":[{"message":{"content":"OK"}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}',
      ),
    );
    const ask = () => running.post('/v1/chat/completions', { ...hello, model: 'x' });
    await expect.poll(async () => (await ask()).status, soon).toBe(200);
    expect(await running.usage()).toMatchObject([{ model: 'x', cost: 2_000_000n }]);
    await running.expectBooks();
  });

  test('a change that disables a channel may bring models, too', async () => {
    const { operator, post } = await desk((await fresh(migrations)).url);
    await post('channels', { name: 'made', vendor: 'deepseek', secret: 'k', models: ['m1'] });
    const changed = await operator.ask('operator/channels/made', {
      ...{ method: 'PATCH', headers: { 'if-match': '1' } },
      body: {
        disabled: true,
        new_models: [{ id: 'x', price: { input: '1', output: '1' } }],
      },
    });
    expect([changed.status, changed.json.state]).toEqual([200, 'disabled']);
    expect((await operator.ask('operator/models/x')).json.active).toBe(true);
  });
});

test('the form hears why there is no list, and never the key', async () => {
  const { vendor, post } = await desk('sqlite::memory:');
  const draft = { vendor: 'openai', base_url: `${vendor.url}/v1`, secret: 'secret-of-the-form' };
  const failure = async (status: number, body: string) => {
    vendor.answer((_request, response) => json(response, status, body));
    const { json: view, text } = await post('vendor-models', draft);
    expect(text).not.toContain(draft.secret);
    return view.failure;
  };
  expect(await failure(401, `{"error":"no: ${draft.secret}"}`)).toEqual({
    code: 'key',
    status: 401,
  });
  expect(await failure(404, '')).toEqual({ code: 'address', status: 404 });
  expect(await failure(200, '<html>')).toEqual({ code: 'not_a_list', status: 200 });
  expect(await failure(200, '{"data":[]}')).toEqual({ code: 'not_a_list', status: 200 });
  expect(await failure(500, '')).toEqual({ code: 'refused', status: 500 });
  const gone = await post('vendor-models', { ...draft, base_url: 'http://127.0.0.1:9/v1' });
  expect(gone.json.failure).toEqual({ code: 'silence', status: null });
  const file = await post('vendor-models', { ...draft, base_url: 'file:///etc/passwd' });
  expect([file.status, file.json.error.fields]).toEqual([400, { base_url: expect.any(String) }]);
  expect((await post('vendor-models', { ...draft, vendor: 'nobody' })).status).toBe(400);
});

test('simulated vendors of each format list their models', async () => {
  const { post } = await desk('sqlite::memory:');
  const sim = await startSim({ port: 0 });
  onTestFinished(() => sim.close());
  const bases = { openai: '/openai/v1', anthropic: '/anthropic/v1', gemini: '/gemini/v1beta' };
  for (const [vendor, base] of Object.entries(bases)) {
    const secret = vendor === 'gemini' ? 'AIzaSy-sim' : `sk-sim-${vendor}`;
    const { json: view } = await post('vendor-models', {
      vendor,
      base_url: sim.url + base,
      secret,
    });
    expect([vendor, view.failure, view.models.length > 1]).toEqual([vendor, null, true]);
  }
});
