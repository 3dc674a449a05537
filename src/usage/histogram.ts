import type { Row, Transaction } from '../storage/database.ts';
import { sqlHour, SqlParameters } from '../storage/sql.ts';
import { recordsOf, type TimeRange } from './ranges.ts';

/**
 * Times to first byte are counted in classes, each named by its upper end in ms; the last one has
 * none.
 */
const classEnds = [
  50, 75, 100, 150, 200, 300, 400, 500, 650, 800, 1_000, 1_300, 1_700, 2_200, 3_000, 4_000, 5_500,
  8_000, 12_000, 20_000, 35_000, 60_000,
];
const lastClassEnd = 3_600_000;

/** SQL: the class in which a column of milliseconds lies. */
export function firstByteClass(column: string): string {
  return `CASE ${classEnds.map((end) => `WHEN ${column}<=${end} THEN ${end}`).join(' ')} ELSE ${lastClassEnd} END`;
}

/** SQL: the figures of a group of records (table `r`), by their columns in `speed_hour`. */
export const speedSums = {
  requests: 'COUNT(*)',
  cut: "SUM(CASE WHEN r.status='cut' THEN 1 ELSE 0 END)",
  cost: 'SUM(r.cost-r.shortfall)',
  duration: 'SUM(r.duration_ms)',
  output: 'SUM(r.output_tokens)',
};

/** Requests whose first bytes took about as long, and how long all of them took. */
interface FirstByteClass {
  readonly requests: number;
  readonly durationMs: number;
}

/** The figures of a model, or of one of its channels, for one whole hour. */
export interface SpeedHour {
  readonly model: string;
  readonly channel: string;
  readonly hour: number;
  readonly requests: number;
  /** Cut off by the vendor. */
  readonly cut: number;
  readonly cost: bigint;
  readonly durationMs: number;
  /** Output tokens, and the duration of the requests whose output tokens are known. */
  readonly outputTokens: number;
  readonly outputMs: number;
  /** By the upper end of their first byte's class. */
  readonly firstBytes: ReadonlyMap<number, FirstByteClass>;
}

export interface SpeedQuery extends TimeRange {
  readonly model?: string;
}

/**
 * All channels' figures by model and hour, as far as they are rolled up: `speedsOfRecords` has the
 * last minutes.
 */
export function* speedsByHour({ model, from, to }: SpeedQuery): Transaction<readonly SpeedHour[]> {
  const values = new SqlParameters();
  const ofModel = model === undefined ? '' : ` AND model=${values.place(model)}`;
  const rows = yield {
    sql: `SELECT model, channel, hour, first_byte, requests, cut, cost, duration, output FROM speed_hour
      WHERE hour>=${values.place(from)} AND hour<${values.place(to)}${ofModel} ORDER BY model, channel, hour, first_byte`,
    params: values.params,
  };
  return speedsOf(rows);
}

/** The same, counted from the records of a range: of one that is not rolled up yet. */
export function* speedsOfRecords({
  model,
  ...range
}: SpeedQuery): Transaction<readonly SpeedHour[]> {
  const values = new SqlParameters();
  const sums = Object.entries(speedSums).map(
    ([column, sum]) => `CAST(${sum} AS BIGINT) AS ${column}`,
  );
  const records = recordsOf(values, range);
  const ofModel = model === undefined ? '' : ` AND r.model=${values.place(model)}`;
  const rows = yield {
    sql: `SELECT r.model, COALESCE(r.channel, '') AS channel, ${sqlHour('r.finished_at')} AS hour,
        ${firstByteClass('r.first_byte_ms')} AS first_byte, ${sums.join(', ')}
      ${records}${ofModel} GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`,
    params: values.params,
  };
  return speedsOf(rows);
}

/** The figures of each model, with all hours of the range and all channels in one. */
export function* speedsByModel({ from, to }: TimeRange): Transaction<readonly SpeedHour[]> {
  const rows = yield {
    sql: `SELECT model, '' AS channel, 0 AS hour, first_byte, CAST(SUM(requests) AS BIGINT) AS requests,
        CAST(SUM(cut) AS BIGINT) AS cut, CAST(SUM(cost) AS BIGINT) AS cost,
        CAST(SUM(duration) AS BIGINT) AS duration,
        CASE WHEN COUNT(*)=COUNT(output) THEN CAST(SUM(output) AS BIGINT) END AS output
      FROM speed_hour WHERE hour>=$1 AND hour<$2 GROUP BY model, first_byte ORDER BY model, first_byte`,
    params: [from, to],
  };
  return speedsOf(rows);
}

/** Rows in the order of model, channel and hour, one for each class of first bytes. */
function speedsOf(rows: readonly Row[]): readonly SpeedHour[] {
  const speeds: (SpeedHour & { firstBytes: Map<number, FirstByteClass> })[] = [];
  for (const row of rows) {
    const [name, channel, hour] = [
      String(row['model']),
      String(row['channel']),
      Number(row['hour']),
    ];
    const last = speeds.at(-1);
    const same =
      last !== undefined && last.model === name && last.channel === channel && last.hour === hour;
    const before = same ? speeds.pop() : undefined;
    const firstBytes = before?.firstBytes ?? new Map<number, FirstByteClass>();
    firstBytes.set(Number(row['first_byte']), {
      requests: Number(row['requests']),
      durationMs: Number(row['duration']),
    });
    speeds.push({
      model: name,
      channel,
      hour,
      firstBytes,
      requests: (before?.requests ?? 0) + Number(row['requests']),
      cut: (before?.cut ?? 0) + Number(row['cut']),
      cost: (before?.cost ?? 0n) + BigInt(row['cost'] ?? 0),
      durationMs: (before?.durationMs ?? 0) + Number(row['duration']),
      outputTokens: (before?.outputTokens ?? 0) + Number(row['output'] ?? 0),
      outputMs: (before?.outputMs ?? 0) + (row['output'] == null ? 0 : Number(row['duration'])),
    });
  }
  return speeds;
}

export interface SpeedSummary {
  readonly requests: number;
  readonly cut: number;
  /** To the first byte. */
  readonly medianMs: number | undefined;
  readonly p95Ms: number | undefined;
  /** To the last byte, over the same requests: never less than to the first. */
  readonly medianDurationMs: number | undefined;
  readonly meanDurationMs: number | undefined;
  /** Output tokens in a second, from the request to the last byte; undefined: none were counted. */
  readonly outputPerSecond: number | undefined;
}

/** The sum of several hours, channels or models. */
export function summarizeSpeeds(speeds: readonly SpeedHour[]): SpeedSummary {
  const sum = (of: (speed: SpeedHour) => number): number =>
    speeds.reduce((total, speed) => total + of(speed), 0);
  const requests = sum((speed) => speed.requests);
  const classes = addedUp(speeds);
  const medianMs = quantile(classes, 0.5);
  const wholeMs = medianDuration(speeds);
  const outputTokens = sum((speed) => speed.outputTokens);
  const outputMs = sum((speed) => speed.outputMs);
  return {
    requests,
    cut: sum((speed) => speed.cut),
    medianMs,
    p95Ms: quantile(classes, 0.95),
    medianDurationMs: wholeMs === undefined ? undefined : Math.max(wholeMs, medianMs ?? 0),
    meanDurationMs:
      requests === 0 ? undefined : Math.round(sum((speed) => speed.durationMs) / requests),
    outputPerSecond:
      outputTokens === 0 || outputMs === 0
        ? undefined
        : Math.round((outputTokens / outputMs) * 10_000) / 10,
  };
}

function addedUp(speeds: readonly SpeedHour[]): ReadonlyMap<number, FirstByteClass> {
  const classes = new Map<number, FirstByteClass>();
  for (const { firstBytes } of speeds)
    for (const [end, { requests, durationMs }] of firstBytes) {
      const before = classes.get(end);
      classes.set(end, {
        requests: (before?.requests ?? 0) + requests,
        durationMs: (before?.durationMs ?? 0) + durationMs,
      });
    }
  return classes;
}

/**
 * As exact as the figures are: the requests of one hour, channel and class count as equally long.
 */
function medianDuration(speeds: readonly SpeedHour[]): number | undefined {
  const parts = speeds
    .flatMap(({ firstBytes }) => [...firstBytes.values()])
    .toSorted((a, b) => a.durationMs / a.requests - b.durationMs / b.requests);
  const half = parts.reduce((total, { requests }) => total + requests, 0) / 2;
  let before = 0;
  for (const { requests, durationMs } of parts) {
    before += requests;
    if (before >= half) return Math.round(durationMs / requests);
  }
  return undefined;
}

/**
 * Interpolates within its class as if the values lay evenly, below the mean of the whole answers;
 * undefined without any.
 */
function quantile(classes: ReadonlyMap<number, FirstByteClass>, share: number): number | undefined {
  const total = [...classes.values()].reduce((sum, { requests }) => sum + requests, 0);
  if (total === 0) return undefined;
  let before = 0;
  let below = 0;
  for (const end of [...classEnds, lastClassEnd]) {
    const { requests = 0, durationMs = 0 } = classes.get(end) ?? {};
    if (requests > 0 && before + requests >= total * share) {
      const classEnd = end === lastClassEnd ? (classEnds.at(-1) ?? 0) : end;
      const upper = Math.max(below, Math.min(classEnd, durationMs / requests));
      return Math.round(below + (upper - below) * ((total * share - before) / requests));
    }
    before += requests;
    below = end;
  }
  return below;
}
