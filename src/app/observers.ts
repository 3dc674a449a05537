import type { EntryLog } from '../api/entry.ts';
import type { GatewayParts } from '../gateway/parts.ts';
import type { ChannelCounts } from '../gateway/reports/counts.ts';
import type { TaskParts } from '../gateway/tasks/parts.ts';
import type { RequestRecorder } from '../request-log/recorder.ts';
import type { OnError } from '../storage/repeat.ts';
import type { Log } from '../telemetry/log.ts';
import { recordRequests } from '../telemetry/request-metrics.ts';
import type { Traces } from '../telemetry/traces.ts';
import type { MetricsCounters } from './metrics.ts';

/** Where requests are logged, counted and recorded. */
export interface Observation {
  readonly log: Log;
  readonly counters: MetricsCounters & { readonly counts: ChannelCounts };
  readonly recorder: RequestRecorder;
  /** Undefined: requests are not traced. */
  readonly traces: Traces | undefined;
}

export const observeBackgroundWork =
  (log: Log): OnError =>
  (work, error) =>
    log.error('background work failed', error, { work });

/** What is logged, counted and recorded for every request and every attempt. */
export function observeRequests({
  log,
  counters: { metrics, requests, counts },
  recorder,
  traces,
}: Observation): Pick<GatewayParts, 'access' | 'failed' | 'hedged' | 'overran' | 'traces'> {
  return {
    traces,
    access: recordRequests(log, requests, traces, (line, why) => recorder.finished(line, why)),
    failed({ status, beganMs, endedMs, mayRetry, ...line }) {
      log.warn('attempt failed', line);
      counts.failed(line);
      metrics.failed(line.channel, line.fault);
      const { id, channel, key, fault, stage, why } = line;
      const times = { beganMs: Math.round(beganMs), endedMs: Math.round(endedMs) };
      recorder.attemptFailed(id, { channel, key, fault, stage, status, why, ...times, mayRetry });
    },
    hedged(line) {
      log.line('hedged', line);
      metrics.hedged(line.model, line.won, line.brokenOff, line.inputTokens);
    },
    overran({ excess, ...line }) {
      log.line('overrun', { ...line, excess: excess.toString() });
      counts.overran(line.channel);
      metrics.overran(line.channel, excess);
    },
  };
}

/** What is logged and counted for a background task. */
export const observeTasks = ({
  log,
  counters: { metrics, requests },
}: Pick<Observation, 'log' | 'counters'>): Pick<TaskParts, 'ended' | 'trouble'> => ({
  ended(line) {
    log.line('task', line);
    metrics.ended(line.model, line.outcome);
    requests.charged(line.model, line.costNano);
  },
  trouble: (task, error) => log.error('task', error, { id: task?.id }),
});

/** What is logged, counted and recorded for a request that the entry refuses. */
export const observeEntry = ({
  log,
  counters: { metrics },
  recorder,
  traces,
}: Observation): EntryLog => ({
  refused(id, status, refusal, method, path) {
    log.line('refused', { id, status, refusal, method, path });
    metrics.refused(refusal);
    traces?.refused(id, status, refusal);
  },
  refusedOfKey: (request, why) => recorder.refused(request, why),
  bug: (id, error) => log.error('bug', error, { id }),
});
