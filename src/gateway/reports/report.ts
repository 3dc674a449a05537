import type { Clock } from '../../base/clock.ts';
import type { FaultKind } from '../../base/fault.ts';
import type { Database, Row, Transaction } from '../../storage/database.ts';
import { optionalNumber, optionalText, WhereClause } from '../../storage/sql.ts';
import {
  type ChannelCount,
  firstBytePrefix,
  firstByteShare,
  overrunKind,
  type RecentAttempts,
  type RecentCounts,
  recentMinutes,
  slotMs,
} from './counts.ts';

/**
 * `parked`: the vendor refuses our key or account. `cooling`: the vendor requested a pause.
 * `degraded`: the channel fails, and other channels are preferred.
 */
export type ChannelHealthState = 'healthy' | 'degraded' | 'cooling' | 'parked';

/** The state of one of several keys. */
export interface KeyReport {
  readonly state: ChannelHealthState;
  readonly why: FaultKind | undefined;
}

/** A channel as one process sees it. Times are wall clock, ms. */
export interface ChannelReport {
  readonly state: ChannelHealthState;
  readonly why: FaultKind | undefined;
  readonly since: number;
  readonly until: number | undefined;
  /** Attempts under way. */
  readonly running: number;
  /** Of the last five minutes; a process of an older release does not report it. */
  readonly recent?: RecentAttempts;
  /** Each key, where the channel has several. */
  readonly keys?: readonly KeyReport[];
}

/** The report of one process about itself. */
export interface NodeReport {
  readonly node: string;
  readonly at: number;
  readonly openStreams: number;
  readonly recent: RecentCounts;
  /** How long writing the last report took. */
  readonly databaseMs: number;
  readonly channels: Readonly<Record<string, ChannelReport>>;
}

/** A process whose report is older than this is gone. */
const reportAgeMsMax = 30_000;

/** The reports of every live process. */
export async function nodeReports(
  database: Database,
  clock: Clock,
): Promise<readonly NodeReport[]> {
  const rows = await database.query(
    'SELECT node, at, report FROM node_report WHERE at>$1 ORDER BY node',
    [clock.now() - reportAgeMsMax],
  );
  // Written by the reporter.
  return rows.map((row) => ({
    ...(JSON.parse(String(row['report'])) as NodeReport),
    node: String(row['node']),
    at: Number(row['at']),
  }));
}

/** From good to bad. */
export const healthOrder: readonly ChannelHealthState[] = [
  'healthy',
  'degraded',
  'cooling',
  'parked',
];

interface WithHealth {
  readonly state: ChannelHealthState;
}
export const isWorse = (a: WithHealth, b: WithHealth): boolean =>
  healthOrder.indexOf(a.state) > healthOrder.indexOf(b.state);

/** A channel as all processes see it: the worst reported state, and the sums of their attempts. */
export function channelAcrossNodes(
  reports: readonly NodeReport[],
  channel: string,
): ChannelReport & { readonly recent: RecentAttempts } {
  let worst: ChannelReport = {
    state: 'healthy',
    why: undefined,
    since: 0,
    until: undefined,
    running: 0,
  };
  let running = 0;
  const recent = { attempts: 0, failed: 0 };
  for (const { channels } of reports) {
    const one = channels[channel];
    if (one === undefined) continue;
    running += one.running;
    recent.attempts += one.recent?.attempts ?? 0;
    recent.failed += one.recent?.failed ?? 0;
    if (isWorse(one, worst)) worst = one;
  }
  return { ...worst, running, recent };
}

/** The same for one of its keys, by position. */
export function keyAcrossNodes(
  reports: readonly NodeReport[],
  channel: string,
  place: number,
): KeyReport {
  const healthy: KeyReport = { state: 'healthy', why: undefined };
  const seen = reports.flatMap(({ channels }) => channels[channel]?.keys?.[place] ?? []);
  return seen.reduce((worst, one) => (isWorse(one, worst) ? one : worst), healthy);
}

/**
 * Since when every process that reports the channel has it parked, wall clock ms; undefined: one
 * has not.
 */
export function parkedEverywhereSince(
  reports: readonly NodeReport[],
  channel: string,
): number | undefined {
  const seen = reports.flatMap(({ channels }) => channels[channel] ?? []);
  if (seen.length === 0 || seen.some(({ state }) => state !== 'parked')) return undefined;
  return Math.max(...seen.map(({ since }) => since));
}

/** The last minutes of all processes together. */
export interface CurrentLoad {
  readonly requests: number;
  readonly errors: number;
  readonly requestsPerMinute: number;
  readonly errorShare: number | undefined;
  readonly medianMs: number | undefined;
  readonly p95Ms: number | undefined;
  readonly openStreams: number;
}

export function currentLoad(reports: readonly NodeReport[]): CurrentLoad {
  const sum = (of: (report: NodeReport) => number): number =>
    reports.reduce((total, report) => total + of(report), 0);
  const requests = sum(({ recent }) => recent.requests);
  const errors = sum(({ recent }) => recent.errors);
  const firsts = reports.flatMap(({ recent }) => recent.firsts);
  return {
    requests,
    errors,
    requestsPerMinute: Math.round((requests / recentMinutes) * 10) / 10,
    errorShare: requests === 0 ? undefined : errors / requests,
    medianMs: firstByteShare(firsts, 0.5),
    p95Ms: firstByteShare(firsts, 0.95),
    openStreams: sum(({ openStreams }) => openStreams),
  };
}

/** The counts of all processes since `from`, for one channel or all. */
export async function channelCounts(
  database: Database,
  { from, channel }: { from: number; channel?: string },
): Promise<readonly ChannelCount[]> {
  const where = new WhereClause();
  where.add('slot>=?', from - (from % slotMs));
  where.add('channel=?', channel);
  const sql = `SELECT * FROM channel_count${where.text} ORDER BY slot`;
  const rows = await database.query(sql, where.params);
  return rows.map((row) => ({
    slot: Number(row['slot']),
    channel: String(row['channel']),
    kind: String(row['kind']),
    count: Number(row['count']),
  }));
}

/** Totals of counts: attempts, failed attempts by kind, and the speed of the others. */
export interface CountTotals {
  readonly requests: number;
  readonly errors: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly medianMs: number | undefined;
  readonly p95Ms: number | undefined;
}

export function countTotals(counts: readonly ChannelCount[]): CountTotals {
  const faults: Record<string, number> = {};
  let answered = 0;
  for (const { kind, count } of counts) {
    if (kind === 'ok') answered += count;
    else if (kind !== overrunKind && !kind.startsWith(firstBytePrefix))
      faults[kind] = (faults[kind] ?? 0) + count;
  }
  const errors = Object.values(faults).reduce((sum, count) => sum + count, 0);
  return {
    requests: answered + errors,
    errors,
    faults,
    medianMs: firstByteShare(counts, 0.5),
    p95Ms: firstByteShare(counts, 0.95),
  };
}

/** A channel's attempts, and how many of them failed. */
export interface ChannelAttempts {
  readonly channel: string;
  readonly attempts: number;
  readonly failed: number;
}

/** The attempts of each channel within a range of whole slots, added up by the database. */
export function* attemptsByChannel(
  from: number,
  to: number,
): Transaction<readonly ChannelAttempts[]> {
  const rows = yield {
    sql: `SELECT channel, ${attemptSums} AND slot<$3 GROUP BY channel`,
    params: [from, overrunKind, to],
  };
  return rows.map(attemptsOf);
}

/** The same by hour (its beginning, wall clock, ms) since `from`. */
export function* attemptsByHour(
  from: number,
): Transaction<readonly (ChannelAttempts & { readonly hour: number })[]> {
  const hour = 'slot-slot%3600000';
  const rows = yield {
    sql: `SELECT ${hour} AS hour, channel, ${attemptSums} GROUP BY ${hour}, channel`,
    params: [from, overrunKind],
  };
  return rows.map((row) => ({ ...attemptsOf(row), hour: Number(row['hour']) }));
}

const attemptSums = `CAST(SUM(count) AS BIGINT) AS attempts, CAST(SUM(CASE WHEN kind='ok' THEN 0 ELSE count END) AS BIGINT) AS failed
  FROM channel_count WHERE slot>=$1 AND kind<>$2 AND kind NOT LIKE '${firstBytePrefix}%'`;

const attemptsOf = (row: Row): ChannelAttempts => ({
  channel: String(row['channel']),
  attempts: Number(row['attempts']),
  failed: Number(row['failed']),
});

/** The beginning of the oldest counts that are kept; undefined: there are none. */
export function* oldestCounts(): Transaction<number | undefined> {
  const [row] = yield { sql: 'SELECT MIN(slot) AS slot FROM channel_count', params: [] };
  return optionalNumber(row, 'slot');
}

/**
 * The number of answers beyond the bound of their requests, for each channel that requests were
 * sent to since `from`.
 */
export async function overrunsByChannel(
  database: Database,
  from: number,
): Promise<ReadonlyMap<string, number>> {
  const rows = await database.query(
    `SELECT channel, CAST(SUM(CASE WHEN kind=$2 THEN count ELSE 0 END) AS BIGINT) AS overruns
      FROM channel_count WHERE slot>=$1 GROUP BY channel`,
    [from - (from % slotMs), overrunKind],
  );
  return new Map(rows.map((row) => [String(row['channel']), Number(row['overruns'])]));
}

/** When a channel's state changed, the latest first. */
export interface HealthChange {
  readonly at: number;
  readonly node: string;
  readonly state: ChannelHealthState;
  readonly why: string | undefined;
  readonly until: number | undefined;
}

export async function healthChanges(
  database: Database,
  channel: string,
  limit: number,
): Promise<readonly HealthChange[]> {
  const rows = await database.query(
    'SELECT * FROM channel_turn WHERE channel=$1 ORDER BY at DESC, node LIMIT $2',
    [channel, limit],
  );
  return rows.map((row) => ({
    at: Number(row['at']),
    node: String(row['node']),
    state: healthOrder.find((state) => state === row['state']) ?? 'healthy',
    why: optionalText(row, 'why'),
    until: optionalNumber(row, 'until'),
  }));
}

export interface NewHealthChange extends Omit<HealthChange, 'node'> {
  readonly channel: string;
}

/** Adds counts and state changes to the tables, and replaces the process's report. */
export function* writeReport(
  report: NodeReport,
  counts: readonly ChannelCount[],
  changes: readonly NewHealthChange[],
): Transaction<void> {
  for (const { slot, channel, kind, count } of counts)
    yield {
      sql: `INSERT INTO channel_count (slot, channel, kind, count) VALUES ($1, $2, $3, $4)
        ON CONFLICT (slot, channel, kind) DO UPDATE SET count=channel_count.count+excluded.count`,
      params: [slot, channel, kind, count],
    };
  for (const { channel, at, state, why, until } of changes)
    yield {
      sql: 'INSERT INTO channel_turn (channel, at, node, state, why, until) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (channel, at, node) DO NOTHING',
      params: [channel, at, report.node, state, why ?? null, until ?? null],
    };
  yield {
    sql: 'INSERT INTO node_report (node, at, report) VALUES ($1, $2, $3) ON CONFLICT (node) DO UPDATE SET at=excluded.at, report=excluded.report',
    params: [report.node, report.at, JSON.stringify(report)],
  };
}

const countsKeptMs = 8 * 86_400_000;
const changesKeptMs = 30 * 86_400_000;

/** Deletes expired counts, state changes and reports. */
export function* forgetReports(now: number): Transaction<void> {
  yield { sql: 'DELETE FROM channel_count WHERE slot<$1', params: [now - countsKeptMs] };
  yield { sql: 'DELETE FROM channel_turn WHERE at<$1', params: [now - changesKeptMs] };
  yield { sql: 'DELETE FROM node_report WHERE at<$1', params: [now - 10 * reportAgeMsMax] };
}
