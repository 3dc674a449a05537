import type { Snapshot } from '../catalog/snapshot.ts';
import type { OpenChannels } from '../gateway/channels/open-channels.ts';
import { healthOrder } from '../gateway/reports/report.ts';
import type { Reporter } from '../gateway/reports/reporter.ts';
import type { PeriodicChecks } from '../gateway/periodic-checks.ts';
import type { Tasks } from '../gateway/tasks/tasks.ts';
import type { LiveTill } from '../ledger/till.ts';
import { tillFamilies } from '../ledger/till-metrics.ts';
import type { RequestRecorder } from '../request-log/recorder.ts';
import { type MetricFamily, metricFamily, type MetricSample } from '../telemetry/exposition.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { RequestMetrics } from '../telemetry/request-metrics.ts';

/** The counters of requests and attempts. */
export interface MetricsCounters {
  readonly metrics: Metrics;
  readonly requests: RequestMetrics;
}

export interface MetricsSubjects {
  readonly version: string;
  readonly till: LiveTill;
  readonly watch: PeriodicChecks;
  readonly openChannels: OpenChannels;
  readonly reporter: Reporter;
  readonly tasks: Tasks;
  readonly catalog: () => Snapshot;
  /** Metrics of what the nodes share. */
  readonly nodes: () => readonly MetricFamily[];
  /** Whether new requests are admitted. */
  readonly ready: () => boolean;
  readonly log: Pick<Log, 'dropped'>;
  readonly recorder: Pick<RequestRecorder, 'dropped'>;
}

/**
 * Registers the metrics of every module. They are read only at a scrape, so they cost requests
 * nothing.
 */
export function registerMetrics(
  { metrics, requests }: MetricsCounters,
  measured: MetricsSubjects,
): void {
  const { version, till, watch, reporter, tasks, ready, log, recorder } = measured;
  metrics.add(() => [
    metricFamily('tollgate_info', 'gauge', 'Always 1: which version this is', [
      [{ version, node: process.versions.node }, 1],
    ]),
    metricFamily('tollgate_ready', 'gauge', '1 while new requests are let in', ready() ? 1 : 0),
    metricFamily(
      'tollgate_log_lines_dropped_total',
      'counter',
      'Log lines dropped because standard output is not read',
      log.dropped,
    ),
    metricFamily(
      'tollgate_request_log_dropped_total',
      'counter',
      'Failed requests left out of the request log: a limit of it was reached, or the database refused them',
      recorder.dropped,
    ),
    metricFamily('tollgate_open_streams', 'gauge', 'Streams that are open now', watch.open),
    metricFamily(
      'tollgate_tasks_due',
      'gauge',
      'Videos whose vendor should have been asked again by now',
      tasks.polls.due,
    ),
    metricFamily(
      'tollgate_tasks_polling',
      'gauge',
      'Videos whose vendor is being asked, or whose file is being copied',
      tasks.polls.busy,
    ),
    metricFamily(
      'tollgate_database_seconds',
      'gauge',
      'How long the last report of this process took to write',
      reporter.databaseMs / 1_000,
    ),
  ]);
  metrics.add(() => requests.families());
  metrics.add(() => tillFamilies(till));
  metrics.add(() => channelFamilies(measured));
  metrics.add(measured.nodes);
}

function channelFamilies({
  catalog,
  openChannels,
  reporter,
}: MetricsSubjects): readonly MetricFamily[] {
  const names = [...catalog().channels.keys()];
  const each = (read: (channel: string) => number) =>
    names.map((channel): MetricSample => [{ channel }, read(channel)]);
  const states = names.flatMap((channel) => {
    const now = reporter.channels[channel]?.state ?? 'healthy';
    return healthOrder.map((state): MetricSample => [{ channel, state }, state === now ? 1 : 0]);
  });
  const running = each((channel) => reporter.channels[channel]?.running ?? 0);
  const open = each((channel) => openChannels.connections(channel, 'open'));
  const waiting = each((channel) => openChannels.connections(channel, 'waiting'));
  return [
    metricFamily(
      'tollgate_channel_state',
      'gauge',
      '1 for the state in which this process sees a channel',
      states,
    ),
    metricFamily('tollgate_channel_running', 'gauge', 'Attempts under way', running),
    metricFamily(
      'tollgate_channel_connections',
      'gauge',
      'Connections to the vendor, in use or kept',
      open,
    ),
    metricFamily(
      'tollgate_channel_waiting',
      'gauge',
      'Attempts that wait for a connection',
      waiting,
    ),
  ];
}
