import { expect, test } from 'vitest';
import { forEachDatabase, onPostgres } from '../../../test/databases.ts';
import { charge, noon, sold } from '../../../test/support/console-user.ts';
import { eventsIn, startOperatorConsole } from '../../../test/support/console-operator.ts';
import { newCustomer } from '../../../test/support/customer.ts';
import { holdLock } from '../../../test/support/held-lock.ts';
import { completion, json, startVendor } from '../../../test/support/scripted-vendor.ts';
import { migrations } from '../../app/schema.ts';
import { lockCatalogVersion } from '../../catalog/editing.ts';
import { publishPrice } from '../../catalog/price-versions.ts';
import { storedCatalog } from '../../catalog/stored-catalog.ts';
import { rollUp } from '../../usage/rollup.ts';
import type { PriceImportReport } from '../contract.ts';

const clock = { now: () => noon, monotonicMs: () => 0 };
const yuan = 1_000_000_000n;

forEachDatabase((_name, openFresh) => {
  test('a channel is made, changed by its version, drained, and its secret never told', async () => {
    const { post, patch, operator, acts, snapshot } = await startOperatorConsole(
      await openFresh({ migrations }),
      sold,
    );
    const wish = {
      name: 'ds',
      vendor: 'deepseek',
      secret: 'sk-of-the-vendor-9f2c',
      groups: ['economy'],
      models: ['glm', { id: 'alone', upstream: 'x' }],
    };
    const made = await post('channels', wish);
    expect(made).toMatchObject({
      status: 201,
      json: { name: 'ds', origin: 'console', state: 'untried', version: 1 },
    });
    expect(made.json.secret).toMatchObject({ set: true, last4: '9f2c' });
    expect(
      (await snapshot())
        .offer('economy', 'alone')
        ?.candidates.map(({ upstreamModel }) => upstreamModel),
    ).toEqual(['x']);
    expect(await post('channels', wish)).toMatchObject({
      status: 409,
      json: { error: { code: 'conflict' } },
    });
    const changed = await patch('channels/ds', 1, { secret: 'sk-another-secret-77aa', weight: 3 });
    expect(changed.json).toMatchObject({
      weight: 3,
      version: 2,
      secret: { last4: '77aa' },
      bills_cancelled_input: false,
    });
    expect(await patch('channels/ds', 1, { weight: 4 })).toMatchObject({
      status: 409,
      json: {
        error: { code: 'version_conflict' },
        current: {
          version: 2,
          weight: 3,
          groups: ['economy'],
          models: [{ id: 'glm' }, { id: 'alone', upstream: 'x' }],
        },
      },
    });
    expect(
      (await patch('channels/ds', 2, { vendor: 'nobody', weight: -1 })).json.error.fields,
    ).toMatchObject({
      weight: expect.any(String),
      vendor: expect.any(String),
    });
    const refused = await post('channels/ds/drain', {});
    expect(refused).toMatchObject({
      status: 409,
      json: { error: { code: 'would_unserve' }, current: { unserved_models: ['alone'] } },
    });
    const drained = await post('channels/ds/drain', { accept_unserved: true });
    expect(drained.json.state).toBe('drained');
    expect((await snapshot()).offer('economy', 'alone')).toBeUndefined();
    expect((await post('channels/ds/resume', {})).json.state).toBe('untried');
    expect(await acts()).toEqual([
      'channel.resume ds',
      'channel.drain ds',
      'channel.update ds',
      'channel.create ds',
    ]);
    const trail = await operator.ask('operator/audit?target=channel:ds&action=channel.update');
    expect(trail.json.items[0].changes).toContainEqual({
      member: 'secret',
      before: 'set',
      after: 'changed',
    });
    const said = `${trail.text}${(await operator.ask('operator/channels')).text}${(await operator.ask('operator/audit.csv')).text}`;
    expect(said).not.toMatch(/sk-of-the-vendor|sk-another-secret/);
  });

  test('what the configuration names is read-only, but for its switch and its costs', async () => {
    const { post, patch, remove, operator } = await startOperatorConsole(
      await openFresh({ migrations }),
      sold,
    );
    expect(await patch('channels/a', 1, { weight: 9 })).toMatchObject({
      status: 409,
      json: { error: { code: 'read_only' } },
    });
    expect(await patch('groups/economy', 1, { rpm: 9 })).toMatchObject({
      status: 409,
      json: { error: { code: 'read_only' } },
    });
    expect(await patch('models/glm', 1, { context: 9 })).toMatchObject({
      status: 409,
      json: { error: { code: 'read_only' } },
    });
    expect((await remove('channels/a', 1)).status).toBe(409);
    expect(
      (await patch('channels/a', 1, { costs: { glm: { input: '2', output: '8' } } })).json.costs,
    ).toMatchObject([{ model: 'glm' }]);
    const costs = await operator.ask('operator/audit?target=channel:a');
    expect(costs.json.items[0].changes).toEqual([
      { member: 'costs of glm: input', before: null, after: '2' },
      { member: 'costs of glm: output', before: null, after: '8' },
    ]);
    const dry = await patch('channels/a', 2, { disabled: true, dry_run: true });
    expect(dry.json).toEqual({ unserved_models: ['glm', 'vendor/painter'] });
    expect((await operator.ask('operator/channels/a')).json.state).toBe('untried');
    expect((await operator.ask('operator/channels/nobodys/health')).json.error.code).toBe(
      'not_found',
    );
    expect(
      (await patch('channels/a', 2, { disabled: true, accept_unserved: true })).json.state,
    ).toBe('disabled');
    expect((await post('channels/nobody/drain', {})).status).toBe(404);
  });

  test('a group is made, changed and removed when nobody needs it', async () => {
    const { post, patch, remove, operator, database } = await startOperatorConsole(
      await openFresh({ migrations }),
      sold,
    );
    expect(
      await post('groups', { name: '无限制-0.85x', multiplier: '0.85', rpm: 60 }),
    ).toMatchObject({
      status: 201,
      json: { multiplier: '0.85', rpm: 60 },
    });
    const path = `groups/${encodeURIComponent('无限制-0.85x')}`;
    expect(
      (await patch(path, 1, { rpm: null, tpm: 1_000, fallback_models: ['m1'] })).json,
    ).toMatchObject({
      rpm: null,
      fallback_models: ['m1'],
      tpm: 1_000,
      multiplier: '0.85',
      version: 2,
    });
    expect((await patch(path, 1, { rpm: 9 })).json.current).toMatchObject({
      rpm: null,
      tpm: 1_000,
      multiplier: '0.85',
      version: 2,
    });
    expect((await patch(path, 2, { multiplier: 'much' })).json.error.fields).toHaveProperty(
      'price_multiplier',
    );
    await newCustomer(database, 0n, { group: '无限制-0.85x' });
    expect(await remove(path, 2)).toMatchObject({
      status: 409,
      json: { error: { code: 'in_use' }, current: { keys: 1 } },
    });
    await database.query("UPDATE api_keys SET status='deleted'");
    expect((await remove(path, 2)).status).toBe(204);
    expect((await operator.ask(`operator/${path}`)).status).toBe(404);
    const { json: groups } = await operator.ask('operator/groups');
    expect(groups.items[1]).toMatchObject({
      name: 'economy',
      origin: 'configuration',
      models: [{ id: 'glm', channels: ['a'] }, { id: 'vendor/painter' }],
      not_serving: {},
    });
    await post('channels/a/drain', { accept_unserved: true });
    expect((await operator.ask('operator/groups/economy')).json).toMatchObject({
      models: [{ id: 'glm', channels: ['a'] }, { id: 'vendor/painter' }],
      not_serving: { a: 'drained' },
    });
  });

  test('a model without a price is refused, one of the bundled list needs only its id, and a retired one is sold no more', async () => {
    const { post, patch, operator } = await startOperatorConsole(
      await openFresh({ migrations }),
      sold,
    );
    expect((await post('models', { id: 'new', kind: 'chat' })).json.error.fields).toHaveProperty(
      'price',
    );
    expect(
      (await post('models', { id: 'new', price: { input: '1' } })).json.error.fields,
    ).toHaveProperty('price');
    expect(
      await post('models', { id: 'lab/new', price: { input: '1', output: '2' } }),
    ).toMatchObject({
      status: 201,
      json: { price_version: 1, active: true },
    });
    const created = await operator.ask('operator/audit?target=model:lab/new');
    expect(created.json.items[0].changes).toEqual(
      expect.arrayContaining([
        { member: 'input', before: null, after: '1' },
        { member: 'output', before: null, after: '2' },
      ]),
    );
    expect(created.text).not.toContain('1000000000');
    expect((await post('models', { id: 'deepseek-chat' })).json).toMatchObject({
      vendor: 'deepseek',
      origin: 'console',
    });
    expect((await patch('models/lab%2Fnew', 1, { context: 4_096 })).json).toMatchObject({
      context: 4_096,
      version: 2,
    });
    expect((await patch('models/lab%2Fnew', 1, { context: 9 })).json.current).toMatchObject({
      context: 4_096,
      max_output: null,
      version: 2,
    });
    expect((await patch('models/lab%2Fnew', 2, { active: false })).json).toMatchObject({
      active: false,
    });
    expect(
      (await operator.ask('operator/models')).json.items.filter(
        ({ active }: { active: boolean }) => active,
      ),
    ).toHaveLength(4);
  });

  test('another price is looked at on the last seven days, published once, and never below what it costs without a word', async () => {
    const database = await openFresh({ migrations });
    const { post, patch, operator, acts } = await startOperatorConsole(database, sold, { clock });
    await patch('channels/a', 1, { costs: { glm: { input: '2', output: '9' } } });
    const [heavy, light] = [
      await newCustomer(database, 100n * yuan),
      await newCustomer(database, 100n * yuan, { group: 'economy' }),
    ];
    const at = noon - 2 * 86_400_000;
    const line = (measure: string, quantity: number, rate: bigint) =>
      [measure, quantity, rate, (rate * BigInt(quantity)) / 1_000_000n] as const;
    // Three searches at the vendor's list fee.
    const searches = [line('web_search', 3, 180_000n * yuan)];
    await charge(database, {
      id: 'req_0',
      account: heavy.userId,
      keyId: heavy.key.id,
      at,
      lines: searches,
    });
    await charge(database, {
      id: 'req_1',
      account: heavy.userId,
      keyId: heavy.key.id,
      at,
      lines: [line('output', 1_000_000, 10n * yuan)],
    });
    await charge(database, {
      id: 'req_2',
      account: light.userId,
      keyId: light.key.id,
      at,
      group: 'economy',
      lines: [line('input', 2_000_000, 2_125_000_000n)],
    });
    while (await rollUp(database, noon)) continue;
    const price = { input: '2.2', cached_input: '0.22', output: '11' };
    const { json: preview } = await post('prices/preview', { model: 'glm', price });
    expect(preview).toMatchObject({
      from_version: 1,
      to_version: 2,
      revenue: { now: '14.790000000', new: '15.280000000' },
      vendor_cost: '13.000000000',
      users: { pay_more: 1, pay_less: 1, same: 0 },
      publishable: true,
    });
    expect(preview.lines).toContainEqual(
      expect.objectContaining({
        quantity: '1000000',
        cost_now: '10.000000000',
        cost_new: '11.000000000',
      }),
    );
    const fee = { amount: '0.18', per: 1, unit: 'call', class: 'web_search' };
    expect(preview.lines).toContainEqual({
      now: fee,
      new: fee,
      quantity: '3',
      cost_now: '0.540000000',
      cost_new: '0.540000000',
    });
    expect(preview.groups[1].prices).toContainEqual({ ...fee, amount: '0.153' });
    expect((await operator.ask('operator/models/glm')).json.further_prices).toContainEqual(fee);
    const without = (
      await post('prices/preview', { model: 'glm', price: { ...price, list_fees: false } })
    ).json;
    expect(without.revenue.new).toBe('14.740000000');
    // A request of a moment ago is in no hour yet.
    await charge(database, {
      id: 'req_3',
      account: heavy.userId,
      keyId: heavy.key.id,
      at: noon - 30_000,
      lines: [line('output', 1_000_000, 10n * yuan)],
    });
    const recent = (await post('prices/preview', { model: 'glm', price })).json;
    expect(recent.revenue).toMatchObject({ now: '24.790000000', new: '26.280000000' });
    const warned = (await post('prices/preview', { model: 'glm', price: { ...price, input: '1' } }))
      .json.warnings;
    expect(
      warned.map(({ code, values }: { code: string; values: object }) => ({ code, ...values })),
    ).toEqual(
      expect.arrayContaining([
        { code: 'below_vendor_cost', class: 'input', group: 'default', channel: 'a' },
        { code: 'large_change', class: 'input', percent: '-60' },
        { code: 'until_the_configuration_changes' },
      ]),
    );
    expect(
      (
        await post('prices/publish', {
          changes: [{ model: 'glm', price: { input: '1' } }],
          reason: 'x',
        })
      ).json.error.fields,
    ).toHaveProperty(['changes.0.price']);
    const wish = { changes: [{ model: 'glm', price }], reason: 'dearer vendor' };
    expect((await post('prices/publish', wish, 'form-publish')).json).toEqual({
      versions: [{ model: 'glm', version: 2 }],
    });
    expect((await post('prices/publish', wish, 'form-publish')).json).toEqual({
      versions: [{ model: 'glm', version: 2 }],
    });
    // The 2 M of input of group economy, at 2.2 × 0.85, and at half of it.
    expect((await post('groups/economy/preview', { multiplier: '0.425' })).json).toEqual({
      revenue: { now: '3.740000000', new: '1.870000000', change: -0.5 },
      users: 1,
      below_vendor_cost: ['glm'],
    });
    expect(
      (await post('groups/economy/preview', { multiplier: 'much' })).json.error.fields,
    ).toHaveProperty('multiplier');
    expect((await post('groups/nobodys/preview', { multiplier: '1' })).status).toBe(404);
    const { json: versions } = await operator.ask('operator/models/glm/prices');
    expect(versions.items).toMatchObject([
      {
        version: 2,
        reason: 'dearer vendor',
        actor: operator.userId,
        actor_name: 'test',
      },
      { version: 1, actor: 'configuration', actor_name: null },
    ]);
    // As a start writes it that fills an empty catalog.
    await database.query(
      `INSERT INTO price_versions (model, version, price, source, published_at, effective_at)
        SELECT model, 0, price, 'console', published_at, effective_at FROM price_versions WHERE model='glm' AND version=1`,
      [],
    );
    const { json: seeded } = await operator.ask('operator/models/glm/prices');
    expect(seeded.items.at(-1)).toMatchObject({ version: 0, actor: 'start', actor_name: null });
    expect((await acts()).filter((act) => act.startsWith('price'))).toEqual(['price.publish glm']);
    const later = {
      ...wish,
      effective_at: new Date(noon + 3_600_000).toISOString(),
      changes: [{ model: 'glm', price: { ...price, output: '12' } }],
    };
    expect((await post('prices/publish', later)).json.versions).toEqual([
      { model: 'glm', version: 3 },
    ]);
    // The same price at another time is another version, which replaces the one that waits.
    const postponed = { ...later, effective_at: new Date(noon + 7_200_000).toISOString() };
    for (const body of [postponed, postponed])
      expect((await post('prices/publish', body)).json.versions).toEqual([
        { model: 'glm', version: 4 },
      ]);
    expect((await operator.ask('operator/models/glm/prices')).json.items[0]).toMatchObject({
      version: 4,
      since: postponed.effective_at,
    });
    expect((await operator.ask('operator/models/glm')).json).toMatchObject({
      price_version: 2,
      waiting_price: { version: 4, since: postponed.effective_at },
    });
    expect((await post('prices/preview', { model: 'glm', price })).json).toMatchObject({
      from_version: 4,
      to_version: 5,
    });
  });

  test('a price is published only over the version that its author read, where that is said', async () => {
    const { post } = await startOperatorConsole(await openFresh({ migrations }), sold);
    const wish = (input: string, output: string, from?: number) => ({
      changes: [
        {
          model: 'glm',
          price: { input, cached_input: '0.25', output },
          ...(from !== undefined && { from_version: from }),
        },
      ],
      reason: 'x',
    });
    const published = (version: number) => ({
      status: 200,
      json: { versions: [{ model: 'glm', version }] },
    });
    const first = wish('2', '10', 1);
    expect(await post('prices/publish', first)).toMatchObject(published(2));
    // The same once more is the same form sent twice.
    expect(await post('prices/publish', first)).toMatchObject(published(2));
    expect(await post('prices/publish', wish('2.5', '11', 1))).toMatchObject({
      status: 409,
      json: {
        error: { code: 'version_conflict' },
        current: { model: 'glm', version: 2, prices: [{ class: 'input', amount: '2.00' }, {}, {}] },
      },
    });
    expect(await post('prices/publish', wish('2', '11', 2))).toMatchObject(published(3));
    expect(await post('prices/publish', wish('3', '12'))).toMatchObject(published(4));
    // Another operator's price waits: one that takes effect before then would replace it.
    const since = '2100-01-01T00:00:00.000Z';
    const waiting = { ...wish('5', '12', 4), effective_at: since };
    expect(await post('prices/publish', waiting)).toMatchObject(published(5));
    expect(await post('prices/publish', wish('4', '12', 4))).toMatchObject({
      status: 409,
      json: {
        current: { version: 5, since, prices: [{ class: 'input', amount: '5.00' }, {}, {}] },
      },
    });
    expect(await post('prices/publish', wish('4', '12', 5))).toMatchObject(published(6));
    // A price that waits is known, and comes into force while the form is open.
    const soon = Date.now() + 1_000;
    const next = { ...wish('6', '13', 6), effective_at: new Date(soon).toISOString() };
    expect(await post('prices/publish', next)).toMatchObject(published(7));
    await expect.poll(() => Date.now(), { timeout: 5_000 }).toBeGreaterThan(soon);
    const over = (inForce: number) => {
      const [one] = wish('6', '14', 7).changes;
      return { changes: [{ ...one, price_version: inForce }], reason: 'x' };
    };
    expect(await post('prices/publish', over(6))).toMatchObject({
      status: 409,
      json: { error: { code: 'version_conflict' }, current: { version: 7 } },
    });
    expect(await post('prices/publish', over(7))).toMatchObject(published(8));
  });

  test('a price list is told in four lists before anything changes, and then published together', async () => {
    const { post, operator } = await startOperatorConsole(await openFresh({ migrations }), sold);
    const text =
      'id,kind,input,cached_input,output,image\nglm,,3,0.25,10,\nvendor/painter,,,,,0.42\nfresh,chat,1,,2,\nalone,,minus,,1,';
    const dry = await post('prices/import', { text, dry_run: true });
    expect(dry.json).toMatchObject({
      new: [{ model: 'fresh' }],
      changed: [{ model: 'glm', changes: [{ class: 'input', from: '2.5', to: '3', percent: 20 }] }],
      unchanged: ['vendor/painter'],
      refused: [{ line: 5, text: 'alone,,minus,,1,' }],
      published: false,
    });
    expect(
      (await post('prices/import', { text, dry_run: false, reason: 'list of November' })).json
        .published,
    ).toBe(false);
    const good = text.split('\n').slice(0, 4).join('\n');
    expect(
      (await post('prices/import', { text: good, dry_run: false, reason: 'list of November' })).json
        .published,
    ).toBe(true);
    const { json: models } = await operator.ask('operator/models');
    expect(
      models.items.map(({ id, price_version: version }: { id: string; price_version: number }) => [
        id,
        version,
      ]),
    ).toEqual([
      ['alone', 1],
      ['fresh', 1],
      ['glm', 2],
      ['vendor/painter', 1],
    ]);
  });

  test('a price a thousand times the present one is published only where that is accepted', async () => {
    const { post } = await startOperatorConsole(await openFresh({ migrations }), sold);
    const text = 'id,kind,input,output,character\nalone,,1000,0.002,\nvoice,speech,,,100';
    const wish = { text, reason: 'list of November' };
    expect((await post('prices/import', { ...wish, dry_run: true })).json).toMatchObject({
      new: [{ model: 'voice', far_off: true }],
      changed: [
        {
          changes: [
            { class: 'input', unit: 'token', to: '1000', far_off: true },
            { class: 'output', to: '0.002', far_off: false },
          ],
        },
      ],
    });
    const refused = await post('prices/import', { ...wish, dry_run: false });
    expect(refused.json.error.fields).toHaveProperty('accept_far_off');
    const unchanged = await post('prices/import', { ...wish, dry_run: true });
    expect(unchanged.json.new, 'nothing was published').toHaveLength(1);
    const accepted = { ...wish, dry_run: false, accept_far_off: true };
    expect((await post('prices/import', accepted)).json.published).toBe(true);
    const voice = 'id,character\nvoice,0.0001';
    expect((await post('prices/import', { text: voice, dry_run: true })).json).toMatchObject({
      changed: [{ changes: [{ unit: 'character', from: '100', to: '0.0001', far_off: true }] }],
    });
  });

  test('a wrong header of a price list is refused in line 1, once, also above empty cells', async () => {
    const { post } = await startOperatorConsole(await openFresh({ migrations }), sold);
    const refusedOf = async (text: string) => {
      const wish = { text, dry_run: false, reason: 'list of November' };
      const { published, refused }: PriceImportReport = (await post('prices/import', wish)).json;
      expect(published).toBe(false);
      return refused.map(({ line, text: shown, why }) => [line, shown, why]);
    };
    const head = 'id,input,outptu';
    const wrong = [1, head, "there is no column 'outptu', did you mean 'output'?"];
    expect(await refusedOf(`${head}\nglm,1,1\nalone,2,2`)).toEqual([wrong]);
    expect(await refusedOf(`${head}\nglm,minus,1`)).toEqual([
      wrong,
      [2, 'glm,minus,1', "must be a decimal number, not 'minus'"],
    ]);
    const spare = await refusedOf('id,input,output,zz\nglm,3,10,');
    expect(spare).toEqual([[1, 'id,input,output,zz', "there is no column 'zz'"]]);
    const other = 'id,input-price,输出';
    expect(await refusedOf(`${other}\nglm,3,10`)).toEqual([
      [1, other, "there is no column 'input-price'"],
      [1, other, "there is no column '输出'"],
    ]);
    const nameless = await refusedOf('model,input,output\nglm,3,10');
    expect(nameless).toEqual([
      [1, 'model,input,output', "the first column must be id, not 'model'"],
    ]);
  });

  test('a channel is tested stage by stage, in its vendor’s own words, and nobody pays', async () => {
    const vendor = await startVendor();
    const text = sold.replaceAll('http://127.0.0.1:9/v1', `${vendor.url}/v1`);
    const { operator, database } = await startOperatorConsole(
      await openFresh({ migrations }),
      text,
    );
    const ask = async (body: object) =>
      eventsIn((await operator.ask('operator/channels/a/test', { method: 'POST', body })).text);
    vendor.answer((_, response) => json(response, 200, completion('It works.')));
    const events = await ask({ capability: 'chat', model: 'glm' });
    expect(events.map(({ event, data }) => data.stage ?? event)).toEqual([
      'resolve',
      'connect',
      'first_byte',
      'done',
      'done',
    ]);
    expect(events.at(-1)?.data).toMatchObject({
      ok: true,
      status: 200,
      usage: { input: 19, output: 10 },
      answer: 'It works.',
      said: null,
    });
    vendor.answer((_, response) =>
      json(response, 401, '{"error":{"message":"Incorrect API key provided: up-key."}}'),
    );
    const refused = (await ask({ capability: 'chat', model: 'glm' })).at(-1)?.data;
    expect(refused).toMatchObject({
      ok: false,
      status: 401,
      said: expect.stringContaining('Incorrect API key provided'),
    });
    expect(refused.said).not.toContain('up-key');
    const made = {
      name: 'fresh',
      vendor: 'openai',
      base_url: `${vendor.url}/v1`,
      secret: 'sk-fresh',
      models: ['glm'],
    };
    await operator.ask('operator/channels', { method: 'POST', body: made });
    vendor.answer((_, response) => json(response, 200, completion('At once.')));
    const fresh = await operator.ask('operator/channels/fresh/test', {
      method: 'POST',
      body: { capability: 'chat', model: 'glm' },
    });
    expect(eventsIn(fresh.text).at(-1)?.data.answer).toBe('At once.');
    vendor.answer((_, response) => response.destroy());
    expect((await ask({ capability: 'chat', model: 'glm' })).at(-1)?.data).toMatchObject({
      ok: false,
      status: null,
    });
    expect(
      (
        await operator.ask('operator/channels/a/test', {
          method: 'POST',
          body: { capability: 'video', model: 'glm' },
        })
      ).status,
    ).toBe(400);
    expect(await database.query('SELECT id FROM usage')).toEqual([]);
  });
});

onPostgres((_name, _openFresh, fresh) => {
  test('a price keeps the terms of the version that is published at the same moment', async () => {
    const { url, open } = await fresh(migrations);
    const database = await open();
    const { post } = await startOperatorConsole(database, sold);
    const glm = async () =>
      (await storedCatalog(database)).models.find(({ id }) => id === 'glm')?.price;
    const rates = { input: yuan, output: yuan };
    const modes = { flex: { times: { all: { numerator: 1n, denominator: 2n } } } };
    const busy = 'SELECT pg_advisory_xact_lock(1)';
    const lock = await holdLock(url, busy);
    const other = database.transact(function* () {
      yield* lockCatalogVersion();
      yield* publishPrice(
        'glm',
        { rates, tiers: [], by: undefined, modes },
        { source: 'import', at: noon },
      );
      yield { sql: busy, params: [] };
    });
    await lock.waiting(1);
    const price = { input: '2', cached_input: '0.25', output: '10' };
    const published = post('prices/publish', { changes: [{ model: 'glm', price }], reason: 'x' });
    await lock.waiting(2);
    await lock.release();
    await other;
    expect((await published).json).toEqual({ versions: [{ model: 'glm', version: 3 }] });
    expect(await glm()).toMatchObject({ modes, rates: { input: 2n * yuan } });
  });

  test('of two channels that alone sell a model, two changes at once drain only one', async () => {
    const { url, open } = await fresh(migrations);
    const { post } = await startOperatorConsole(await open(), sold);
    await post('channels', { name: 'c', vendor: 'deepseek', secret: 'sk-1', models: ['alone'] });
    const lock = await holdLock(url, "SELECT 1 FROM change WHERE topic='catalog' FOR UPDATE");
    const drained = Promise.all(['b', 'c'].map((name) => post(`channels/${name}/drain`, {})));
    await lock.waiting(2);
    await lock.release();
    const answers = await drained;
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(answers.find(({ status }) => status === 409)?.json).toMatchObject({
      error: { code: 'would_unserve' },
      current: { unserved_models: ['alone'] },
    });
  });
});
