import type { Env } from '../base/env.ts';
import about from '../../package.json' with { type: 'json' };
import { paymentAttention } from '../app/console.ts';
import { systemClock } from '../base/clock.ts';
import { formatYuan } from '../base/money.ts';
import type { OperatorOverview, TrendFigures } from '../console/contract.ts';
import { nanoOf } from '../console/format.ts';
import { operatorOverview } from '../console/operator/overview.ts';
import { operatorTrend } from '../console/operator/trend.ts';
import { type NodeReport, nodeReports } from '../gateway/reports/report.ts';
import type { Database } from '../storage/database.ts';
import { channelTable, channelViews, hourNote } from './channel.ts';
import { countPhrase, print, type SharedOptions } from './command-io.ts';
import { type Installation, withDatabase, withoutPassword } from './installation.ts';
import { isTrouble, paint, paintMoney, paintState } from './terminal.ts';

/** Whether a gateway runs on this installation, and what it reports. */
export async function statusCommand(options: SharedOptions, env: Env): Promise<void> {
  await withDatabase(options, env, (database, found) => showStatus(database, found, options));
}

async function showStatus(
  database: Database,
  { dataFolder, databaseUrl }: Installation,
  options: SharedOptions,
): Promise<void> {
  const at = systemClock.now();
  const nodes = await nodeReports(database, systemClock);
  const attention = [(now: number) => paymentAttention(database, now)];
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const rooms = { database, clock: systemClock, attention };
  const { errors: _, ...overview } = await operatorOverview(rooms, at);
  const { period: today } = await operatorTrend(database, { period: 'today' }, timeZone, at);
  const channels = await channelViews(database);
  const where = { data: dataFolder, database: withoutPassword(databaseUrl) };
  const value = {
    running: nodes.length > 0,
    version: about.version,
    ...where,
    nodes: nodes.map((node) => ({
      node: node.node,
      reported_at: new Date(node.at).toISOString(),
      open_streams: node.openStreams,
      database_ms: node.databaseMs,
    })),
    ...overview,
    today,
    channels,
  };
  const unhealthy = channels.filter(({ state }) => isTrouble(state)).length;
  print(options, value, [
    ...headLines(nodes, where, at),
    ...(nodes.length === 0 ? [] : [line('now', nowText(overview.now))]),
    line('today', todayText(today)),
    line(
      'channels',
      `${countPhrase(channels.length, 'channel')}${unhealthy === 0 ? '' : paint('yellow', `, ${unhealthy} not healthy`)}`,
    ),
    ...overview.attention.map((one) => line('attention', paint('yellow', attentionText(one)))),
    ...(channels.length === 0 ? [] : ['', ...channelTable(channels), hourNote]),
  ]);
}

const line = (name: string, text: string): string => `${paint('dim', name.padEnd(10))} ${text}`;

function headLines(
  nodes: readonly NodeReport[],
  where: Readonly<Record<'data' | 'database', string>>,
  at: number,
): readonly string[] {
  const newest = Math.max(...nodes.map((node) => node.at));
  const state =
    nodes.length === 0
      ? `${paintState('no node')} has reported in the last 30 s: the gateway is not running`
      : `${paintState('running')}: ${countPhrase(nodes.length, 'node')}, the last report ${Math.max(0, Math.round((at - newest) / 1_000))} s ago`;
  return [
    line('gateway', state),
    line('version', about.version),
    line('data', where.data),
    line('database', where.database),
  ];
}

const share = (part: number | null): string =>
  part === null ? 'no requests' : `${(part * 100).toFixed(1)} % errors`;

const nowText = (now: OperatorOverview['now']): string =>
  [
    `${now.requests_per_minute} requests per minute`,
    share(now.error_share),
    ...(now.first_byte_median_ms === null
      ? []
      : [`first byte ${now.first_byte_median_ms} ms (median)`]),
    `${now.open_streams} open streams`,
    `${now.open_tasks} open tasks`,
  ].join(', ');

const todayText = ({ requests, revenue, margin }: TrendFigures): string =>
  [
    countPhrase(requests, 'request'),
    `${paintMoney(formatYuan(nanoOf(revenue)))} yuan`,
    ...(margin === null ? [] : [`margin ${(margin * 100).toFixed(1)} %`]),
  ].join(', ');

/** `channel_parked: channel a, why credentials_refused`. */
function attentionText({ code, values }: OperatorOverview['attention'][number]): string {
  const facts = Object.entries(values).map(([name, value]) => `${name} ${value}`);
  return `${code.replaceAll('_', ' ')}: ${facts.join(', ')}`;
}
