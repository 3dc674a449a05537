import { expect, test } from 'vitest';
import { forEachDatabase } from '../../../test/databases.ts';
import { startOperatorConsole } from '../../../test/support/console-operator.ts';
import { sold } from '../../../test/support/console-user.ts';
import { migrations } from '../../app/schema.ts';
import { dayMs } from '../../base/calendar.ts';
import { systemClock } from '../../base/clock.ts';
import { slotMs } from '../../gateway/reports/counts.ts';
import type { Attention, OperatorModel } from '../contract.ts';

forEachDatabase((_name, openFresh) => {
  test('an hour in which half of the attempts fail or more needs attention, fewer failures do not', async () => {
    const { operator, database } = await startOperatorConsole(
      await openFresh({ migrations }),
      sold,
    );
    const count = async (kind: string, many: number, agoMs = 0) => {
      const at = systemClock.now() - agoMs;
      const values = [at - (at % slotMs), 'a', kind, many];
      await database.query('INSERT INTO channel_count VALUES ($1, $2, $3, $4)', values);
    };
    const failing = async () =>
      (await operator.ask('operator/overview')).json.attention.filter(
        ({ code }: { code: string }) => code === 'requests_failing',
      );
    await count('timeout', 900, 2 * 3_600_000);
    await count('timeout', 4);
    expect(await failing()).toEqual([]);
    await count('overloaded', 6);
    expect(await failing()).toMatchObject([
      { values: { failed: '10', attempts: '10' }, path: '/operator/requests' },
    ]);
    await count('ok', 10);
    expect(await failing()).toMatchObject([{ values: { failed: '10', attempts: '20' } }]);
    await count('ok', 1, slotMs);
    expect(await failing()).toEqual([]);
  });

  test('no all-clear while half of the requests of the last minutes fail or more, also if there is only one', async () => {
    const { operator, database } = await startOperatorConsole(
      await openFresh({ migrations }),
      sold,
    );
    const seen = async (requests: number, errors: number) => {
      const report = { openStreams: 0, recent: { requests, errors, firsts: [] }, channels: {} };
      await database.query('DELETE FROM node_report', []);
      await database.query('INSERT INTO node_report (node, at, report) VALUES ($1, $2, $3)', [
        ...['n', systemClock.now()],
        JSON.stringify({ ...report, databaseMs: 1 }),
      ]);
      const { attention } = (await operator.ask('operator/overview')).json;
      return attention.filter(({ code }: { code: string }) => code === 'requests_failing_now');
    };
    expect(await seen(0, 0)).toEqual([]);
    expect(await seen(9, 4)).toEqual([]);
    expect(await seen(1, 1)).toMatchObject([
      { values: { failed: '1', requests: '1', minutes: '5' }, path: '/operator/requests' },
    ]);
    expect(await seen(4, 2)).toMatchObject([{ values: { failed: '2', requests: '4' } }]);
    expect(await seen(4, 3)).toMatchObject([{ values: { failed: '3', requests: '4' } }]);
    await database.query('INSERT INTO channel_count VALUES ($1, $2, $3, $4)', [
      systemClock.now() - (systemClock.now() % slotMs),
      ...['a', 'timeout', 9],
    ]);
    expect(await seen(4, 3), 'the row of the hour says it').toEqual([]);
  });

  test('a day of 80 busy channels is added up by the database, hour by hour', async () => {
    const names = Array.from({ length: 80 }, (_, i) => `c${i}`);
    const channels = names.map(
      (name) => `  - { name: ${name}, vendor: openai, api_key: k, models: [glm] }\n`,
    );
    const { operator, database } = await startOperatorConsole(
      await openFresh({ migrations }),
      sold + channels.join(''),
    );
    const hour = systemClock.now() - (systemClock.now() % 3_600_000);
    const kinds = [
      'ok',
      'timeout',
      'overrun',
      ...Array.from({ length: 17 }, (_, i) => `first:${i}`),
    ];
    const upTo = (name: string, most: number) =>
      `${name}(n) AS (SELECT 0 UNION ALL SELECT n+1 FROM ${name} WHERE n<${most - 1})`;
    const rows = kinds.map((kind, i) => `SELECT '${kind}' AS kind, ${i + 1} AS count`);
    await database.query(
      `WITH RECURSIVE ${upTo('slots', 144)}, ${upTo('names', 80)}
        INSERT INTO channel_count (slot, channel, kind, count)
        SELECT CAST($1 AS BIGINT)-slots.n*${slotMs}, 'c' || names.n, kind, count
        FROM slots, names, (${rows.join(' UNION ALL ')}) AS kinds`,
      [hour],
    );
    const beganMs = performance.now();
    const { errors, attention } = (await operator.ask('operator/overview')).json;
    expect(performance.now() - beganMs).toBeLessThan(1_500);
    const of = (name: string) =>
      errors.find(({ channel }: { channel: string }) => channel === name);
    expect(of('c79').hours).toHaveLength(24);
    expect(of('c79').hours.at(-1)).toMatchObject({ requests: 3, errors: 2 });
    expect(of('c79').hours.at(-2)).toMatchObject({ requests: 18, errors: 12 });
    expect(of('a').hours.at(-2)).toMatchObject({ requests: 0, errors: 0 });
    const overran = attention.filter(({ code }: Attention) => code === 'vendor_overran');
    expect(overran).toHaveLength(80);
    expect(Number(overran[0].values.answers)).toBeGreaterThanOrEqual(3 * (144 - 6));
  });

  test('one model that its vendor retires soon has its row, several have one together', async () => {
    const now = systemClock.now();
    const day = (days: number) => new Date(now + days * dayMs).toISOString().slice(0, 10);
    const retiring = async (dates: Readonly<Record<string, string>>) => {
      const text = sold.replaceAll(/\{ id: ([\w/]+),/g, (whole, id: string) =>
        dates[id] === undefined ? whole : `{ id: ${id}, shutdown_date: "${dates[id]}",`,
      );
      const { operator } = await startOperatorConsole(await openFresh({ migrations }), text);
      return (await operator.ask('operator/overview')).json.attention;
    };
    expect(await retiring({ glm: day(9), alone: day(99) })).toMatchObject([
      { code: 'model_retiring', values: { model: 'glm', date: day(9) } },
    ]);
    expect(await retiring({ glm: day(9), alone: day(3), 'vendor/painter': day(99) })).toMatchObject(
      [
        {
          code: 'models_retiring',
          values: { count: '2', date: day(3) },
          path: '/operator/models?listed=retiring',
        },
      ],
    );
  });

  test('the models that need attention are those whose channels in the table all rest', async () => {
    const { operator, post, remove, database } = await startOperatorConsole(
      await openFresh({ migrations }),
      sold,
    );
    await post('models', { id: 'spare', kind: 'chat', price: { input: '1', output: '1' } });
    const told = async () => {
      const { attention } = (await operator.ask('operator/overview')).json;
      const { items } = (await operator.ask('operator/models')).json;
      return [
        attention.map(({ code, values }: Attention) => [code, values]),
        items.map(({ id, channels, served, not_serving: not }: OperatorModel) => [
          ...[id, channels, served, not],
        ]),
      ];
    };
    expect(await told(), 'no channel lists a model').toEqual([
      [['model_without_channel', { model: 'spare' }]],
      [
        ['alone', ['b'], true, {}],
        ['glm', ['a'], true, {}],
        ['spare', [], false, {}],
        ['vendor/painter', ['a'], true, {}],
      ],
    ]);
    await remove('models/spare', 1);
    await post('channels/b/drain', { accept_unserved: true });
    expect((await told())[0]).toEqual([
      ['model_without_channel', { model: 'alone', channel: 'b', why: 'drained' }],
    ]);
    await post('channels/b/resume', {});
    const parked = { state: 'parked', why: 'credentials', since: 7, running: 0 };
    const report = async (node: string, a: object) => {
      const text = JSON.stringify({
        ...{ openStreams: 0, recent: noRequests, databaseMs: 1 },
        channels: { a },
      });
      const values = [node, systemClock.now(), text];
      await database.query(
        'INSERT INTO node_report (node, at, report) VALUES ($1, $2, $3)',
        values,
      );
    };
    await report('served', { ...parked, state: 'degraded' });
    await report('n', parked);
    const [served, still] = await told();
    expect(served, 'one process serves').toMatchObject([['credentials_refused', { channel: 'a' }]]);
    expect(still).toContainEqual(['glm', ['a'], true, {}]);
    const { state } = (await operator.ask('operator/channels/a')).json;
    expect(state, 'the worst state is shown').toBe('parked');
    await database.query("DELETE FROM node_report WHERE node='served'", []);
    const [attention, models] = await told();
    expect(attention).toMatchObject([
      ['credentials_refused', { channel: 'a' }],
      ['models_without_channel', { count: '2' }],
    ]);
    expect(models).toContainEqual(['glm', ['a'], false, { a: 'parked' }]);
    await report('later', { ...parked, since: 9 });
    const [, unserved] = (await operator.ask('operator/overview')).json.attention;
    expect(unserved.since, 'the last process to park it').toBe('1970-01-01T00:00:00.009Z');
  });

  test('a model that only channels of other groups serve needs attention where channels of the group list it', async () => {
    const { operator, post, database } = await startOperatorConsole(
      await openFresh({ migrations }),
      `${sold.replace('groups: [default, economy]', 'groups: [default]')}
  - { name: c, vendor: openai, base_url: "http://127.0.0.1:9/v1", api_key: up-key, groups: [economy], models: [alone] }
  - { name: d, vendor: openai, base_url: "http://127.0.0.1:9/v1", api_key: up-key, groups: [economy], models: [glm] }
`,
    );
    const told = async (): Promise<readonly Attention[]> =>
      (await operator.ask('operator/overview')).json.attention;
    expect(await told(), 'vendor/painter is not sold in the group').toEqual([]);
    await post('channels/c/drain', { accept_unserved: true });
    const path = '/operator/groups/economy';
    const alone = { model: 'alone', group: 'economy', channel: 'c', why: 'drained' };
    expect(await told()).toMatchObject([
      { code: 'model_without_channel_in_group', values: alone, path },
    ]);
    await post('channels/b/drain', { accept_unserved: true });
    expect(await told(), 'no group has it').toMatchObject([
      { code: 'model_without_channel', values: { model: 'alone' } },
    ]);
    await post('channels/b/resume', {});
    const d = { state: 'parked', why: 'credentials', since: 7, running: 0 };
    const report = { openStreams: 0, recent: noRequests, databaseMs: 1, channels: { d } };
    await database.query('INSERT INTO node_report (node, at, report) VALUES ($1, $2, $3)', [
      ...['n', systemClock.now()],
      JSON.stringify(report),
    ]);
    const since = '1970-01-01T00:00:00.007Z';
    const values = { count: '2', group: 'economy' };
    expect(await told()).toMatchObject([
      { code: 'credentials_refused' },
      { code: 'models_without_channel_in_group', values, since, path },
    ]);
    await post('channels/c/resume', {});
    const parked = { model: 'glm', group: 'economy', channel: 'd', why: 'parked' };
    expect(await told()).toMatchObject([
      { code: 'credentials_refused' },
      { code: 'model_without_channel_in_group', values: parked, since, path },
    ]);
  });
});

const noRequests = { requests: 0, errors: 0, firsts: [] };
