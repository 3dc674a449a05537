import { expect, test } from 'vitest';
import { forEachDatabase } from '../../../test/databases.ts';
import type { Snapshot } from '../../catalog/snapshot.ts';
import { Health } from '../../routing/candidates.ts';
import { type AccessLine, RequestMetrics } from '../../telemetry/request-metrics.ts';
import { OpenChannels } from '../channels/open-channels.ts';
import { PeriodicChecks } from '../periodic-checks.ts';
import { ChannelCounts } from './counts.ts';
import { reportsMigrations } from './migrations.ts';
import {
  channelCounts,
  channelAcrossNodes,
  healthChanges,
  nodeReports,
  currentLoad,
  countTotals,
} from './report.ts';
import { Reporter } from './reporter.ts';
import type { Database } from '../../storage/database.ts';
import type { OnError } from '../../storage/repeat.ts';
import { unexpected } from '../../../test/support/unexpected.ts';

const line = (changed: Partial<AccessLine> = {}): AccessLine => ({
  ...{
    id: 'req_1',
    userId: 'u',
    keyId: 'k',
    model: 'm',
    group: 'default',
    channel: 'ark',
    stream: true,
    status: 200,
    outcome: 'ok',
  },
  ...{
    attempts: 1,
    inputTokens: 1,
    outputTokens: 1,
    cost: '1',
    firstByteMs: 400,
    durationMs: 900,
    vendorMs: 890,
  },
  ...changed,
});

/** A process with its own health and counts, on a shared clock. */
function node(
  database: Parameters<typeof nodeReports>[0],
  clock: { at: number; now(): number; monotonicMs(): number },
  onError: OnError = unexpected,
) {
  const requests = new RequestMetrics();
  const counts = new ChannelCounts(clock, requests);
  const health = new Health();
  const channel = {
    name: 'ark',
    vendor: 'v',
    baseUrl: undefined,
    secret: undefined,
    groups: [],
    priority: 0,
    weight: 1,
    models: new Map(),
    revision: 3,
  };
  const snapshot: Snapshot = {
    ...{
      version: '1',
      groups: new Map(),
      models: new Map(),
      channels: new Map([['ark', channel]]),
    },
    offer: () => undefined,
    listing: () => [],
  };
  const openChannels = new OpenChannels(new Map(), {
    now: () => clock.at,
    post: () => Promise.reject(new Error('no vendor')),
  });
  const reporter = new Reporter({
    database,
    clock,
    counts,
    health,
    openChannels: openChannels,
    watch: new PeriodicChecks(),
    catalog: () => snapshot,
    onError,
  });
  return { requests, counts, health, reporter };
}

function clockAt(at: number) {
  const clock = { at, now: () => clock.at, monotonicMs: () => clock.at };
  return clock;
}

forEachDatabase((_, openFresh) => {
  test('what several processes see and count is told as one', async () => {
    const db = await openFresh({ migrations: reportsMigrations });
    const clock = clockAt(7_200_000);
    const [one, two] = [node(db, clock), node(db, clock)];
    for (let i = 0; i < 9; i++) one.requests.finished(line());
    two.requests.finished(line({ firstByteMs: 4_000 }));
    two.requests.finished(line({ status: 503, outcome: 'fault:overloaded' }));
    two.counts.failed({ channel: 'ark', fault: 'overloaded' });
    two.health.faulted('ark@3', { kind: 'credentials', message: 'no' }, clock.at);
    await one.reporter.report();
    await two.reporter.report();
    const reports = await nodeReports(db, clock);
    expect(reports).toHaveLength(2);
    expect(channelAcrossNodes(reports, 'ark')).toMatchObject({
      state: 'parked',
      why: 'credentials',
      since: clock.at,
      recent: { attempts: 11, failed: 1 },
    });
    const now = currentLoad(reports);
    expect(now).toMatchObject({ requestsPerMinute: 2.2, openStreams: 0 });
    expect(now.errorShare).toBeCloseTo(1 / 11);
    expect(now.medianMs).toBeGreaterThan(400 / 1.15);
    expect(now.medianMs).toBeLessThan(400 * 1.15);
    expect(now.p95Ms).toBeGreaterThan(4_000 / 1.15);
    const counted = countTotals(
      await channelCounts(db, { from: clock.at - 3_600_000, channel: 'ark' }),
    );
    expect(counted).toMatchObject({ requests: 11, errors: 1, faults: { overloaded: 1 } });
  });

  test('a channel that recovers leaves its story, and a process that is gone is not asked', async () => {
    const db = await openFresh({ migrations: reportsMigrations });
    const clock = clockAt(1_000_000);
    const one = node(db, clock);
    one.health.faulted(
      'ark@3',
      { kind: 'rate_limited', message: 'slowly', retryAfterMs: 40_000 },
      clock.at,
    );
    await one.reporter.report();
    clock.at += 10_000;
    await one.reporter.report();
    clock.at += 40_000;
    one.health.answered('ark@3', clock.at);
    await one.reporter.report();
    expect(await healthChanges(db, 'ark', 10)).toMatchObject([
      { at: 1_050_000, state: 'healthy', why: undefined },
      { at: 1_000_000, state: 'cooling', why: 'rate_limited', until: 1_040_000 },
    ]);
    clock.at += 31_000;
    expect(await nodeReports(db, clock)).toEqual([]);
  });

  test('counts that could not be written are written later, and once, and the failure is reported', async () => {
    const db = await openFresh({ migrations: reportsMigrations });
    const clock = clockAt(600_000);
    const errors: string[] = [];
    const one = node(db, clock, (_, error) => void errors.push(String(error)));
    one.requests.finished(line());
    await db.query('ALTER TABLE node_report RENAME TO elsewhere');
    await one.reporter.report();
    expect(errors).toEqual([expect.stringContaining('node_report')]);
    clock.at += 600_000;
    one.requests.finished(line());
    await db.query('ALTER TABLE elsewhere RENAME TO node_report');
    await one.reporter.report();
    expect(await nodeReports(db, clock)).toHaveLength(1);
    await one.reporter.close();
    expect(await nodeReports(db, clock)).toEqual([]);
    const counts = await channelCounts(db, { from: 0 });
    expect(
      counts.filter(({ kind }) => kind === 'ok').map(({ slot, count }) => [slot, count]),
    ).toEqual([
      [600_000, 1],
      [1_200_000, 1],
    ]);
  });

  test('counts are written once, also when the deletion of old reports after them fails', async () => {
    const db = await openFresh({ migrations: reportsMigrations });
    let transactions = 0;
    const flaky: Database = {
      dialect: db.dialect,
      query: (sql, params) => db.query(sql, params),
      transact: (script) =>
        ++transactions === 2 ? Promise.reject(new Error('no deletion')) : db.transact(script),
      snapshot: (script) => db.snapshot(script),
      call: (procedure, input) => db.call(procedure, input),
      close: () => db.close(),
    };
    const errors: string[] = [];
    const one = node(flaky, clockAt(7_200_000), (work, error) => {
      errors.push(`${work}: ${String(error)}`);
    });
    one.requests.finished(line());
    await one.reporter.report();
    expect(errors).toEqual(['deletion of old reports: Error: no deletion']);
    one.requests.finished(line());
    await one.reporter.close();
    const counts = await channelCounts(db, { from: 0 });
    expect(counts.filter(({ kind }) => kind === 'ok').map(({ count }) => count)).toEqual([2]);
  });
});
