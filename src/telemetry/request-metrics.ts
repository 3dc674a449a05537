import type { Log } from './log.ts';
import { memoize } from '../base/memoize.ts';
import type { Refusal } from '../base/refusal.ts';
import { type MetricFamily, metricFamily, labelText, type MetricSample } from './exposition.ts';

/** One channel's request counts. The channel is '' where no vendor was called. */
export interface ChannelRequests {
  readonly channel: string;
  /** Requests that succeeded, requests that failed through no fault of the client, and all. */
  readonly ok: number;
  readonly failed: number;
  readonly all: number;
}

/** The same for one model. */
interface ModelChannel {
  readonly channel: string;
  ok: number;
  failed: number;
  readonly outcomes: Map<string, OutcomeCount>;
}

interface OutcomeCount {
  readonly isFault: boolean;
  count: number;
}

interface ModelCounts {
  input: number;
  output: number;
  chargedNano: number;
  retries: number;
  readonly whole: DurationHistogram;
  readonly channels: Map<string, ModelChannel>;
}

/**
 * Counts every finished request once: metrics and this process's reports read the counts. Plain
 * numbers in maps by name, since each request writes and readers come a few times a minute. They
 * only grow.
 */
export class RequestMetrics {
  readonly #models = new Map<string, ModelCounts>();
  readonly #firsts = new Map<string, DurationHistogram>();
  readonly #own = new DurationHistogram(ownTimeRange);
  readonly #before = new DurationHistogram(ownTimeRange);
  readonly #after = new DurationHistogram(ownTimeRange);

  finished(line: AccessLine): void {
    const model = this.#models.get(line.model) ?? this.#openModel(line.model);
    model.input += line.inputTokens;
    model.output += line.outputTokens;
    model.chargedNano += Number(line.cost);
    if (line.attempts > 1) model.retries += line.attempts - 1;
    model.whole.observe(line.durationMs);
    if (line.vendorMs !== undefined) this.#observeOwn(line, line.vendorMs);
    const name = line.channel ?? '';
    const channel = model.channels.get(name) ?? openChannel(model, name);
    const outcomes = channel.outcomes.get(line.outcome) ?? openOutcome(channel, line.outcome);
    outcomes.count += 1;
    if (outcomes.isFault || line.status >= 500) channel.failed += 1;
    else if (line.status < 300) channel.ok += 1;
    if (line.firstByteMs !== undefined)
      (this.#firsts.get(name) ?? this.#openFirst(name)).observe(line.firstByteMs);
  }

  #observeOwn({ durationMs, beforeMs }: AccessLine, vendorMs: number): void {
    this.#own.observe(durationMs - vendorMs);
    if (beforeMs === undefined) return;
    this.#before.observe(beforeMs);
    this.#after.observe(durationMs - vendorMs - beforeMs);
  }

  /** Adds the charge of a task that ended after its request: a video's. */
  charged(model: string, costNano: string): void {
    (this.#models.get(model) ?? this.#openModel(model)).chargedNano += Number(costNano);
  }

  /** Counts by channel, over all models; requests without a vendor are under ''. */
  channels(): readonly ChannelRequests[] {
    const sums = new Map<string, ChannelRequests>();
    for (const { channels } of this.#models.values()) {
      for (const { channel, ok, failed, outcomes } of channels.values()) {
        const sum = sums.get(channel) ?? { channel, ok: 0, failed: 0, all: 0 };
        let all = sum.all;
        for (const { count } of outcomes.values()) all += count;
        sums.set(channel, { channel, ok: sum.ok + ok, failed: sum.failed + failed, all });
      }
    }
    return [...sums.values()];
  }

  /** Times to the first byte, by channel. */
  get firsts(): ReadonlyMap<string, DurationHistogram> {
    return this.#firsts;
  }

  families(): readonly MetricFamily[] {
    const models = [...this.#models];
    const ofModel = (read: (model: ModelCounts) => number) =>
      models.map(([model, of]): MetricSample => [{ model }, read(of)]);
    const histogram = (name: string, help: string, samples: readonly string[]): MetricFamily => ({
      name,
      type: 'histogram',
      help,
      samples: samples.join(''),
    });
    const times = (
      name: string,
      label: string,
      all: Iterable<readonly [string, DurationHistogram]>,
    ) =>
      [...all].map(([value, durations]) => durations.samples(name, labelText({ [label]: value })));
    const { requests, tokens, charged, retries, whole, first, own, before, after } = names;
    return [
      metricFamily(
        requests,
        'counter',
        'Requests that were admitted, by how they ended',
        models.flatMap(outcomesOf),
      ),
      metricFamily(tokens, 'counter', 'Tokens charged', models.flatMap(tokensOf)),
      metricFamily(
        charged,
        'counter',
        'Money charged, in yuan',
        ofModel(({ chargedNano }) => chargedNano / 1e9),
      ),
      metricFamily(
        retries,
        'counter',
        'Attempts beyond the first of their request',
        ofModel((of) => of.retries),
      ),
      histogram(
        whole,
        'Time to the last byte',
        times(
          whole,
          'model',
          models.map(([model, of]) => [model, of.whole]),
        ),
      ),
      histogram(
        first,
        'Time to the first byte for the client',
        times(first, 'channel', this.#firsts),
      ),
      this.#own.family(own, 'Time that requests spent here while no vendor was at work'),
      this.#before.family(before, 'The part of it before the first attempt'),
      this.#after.family(after, 'The part of it after the first attempt'),
    ];
  }

  #openModel(name: string): ModelCounts {
    const model = {
      input: 0,
      output: 0,
      chargedNano: 0,
      retries: 0,
      whole: new DurationHistogram(answerTimeRange),
      channels: new Map<string, ModelChannel>(),
    };
    this.#models.set(name, model);
    return model;
  }

  #openFirst(channel: string): DurationHistogram {
    const durations = new DurationHistogram(answerTimeRange);
    this.#firsts.set(channel, durations);
    return durations;
  }
}

const names = {
  requests: 'tollgate_requests_total',
  tokens: 'tollgate_tokens_total',
  charged: 'tollgate_charged_yuan_total',
  retries: 'tollgate_retries_total',
  whole: 'tollgate_request_seconds',
  first: 'tollgate_first_byte_seconds',
  own: 'tollgate_overhead_seconds',
  before: 'tollgate_before_vendor_seconds',
  after: 'tollgate_after_vendor_seconds',
} as const;

function openChannel(model: ModelCounts, channel: string): ModelChannel {
  const opened = { channel, ok: 0, failed: 0, outcomes: new Map<string, OutcomeCount>() };
  model.channels.set(channel, opened);
  return opened;
}

function openOutcome({ outcomes }: ModelChannel, outcome: string): OutcomeCount {
  const opened = { isFault: outcome === 'cut' || outcome.startsWith('fault:'), count: 0 };
  outcomes.set(outcome, opened);
  return opened;
}

function outcomesOf([model, { channels }]: readonly [
  string,
  ModelCounts,
]): readonly MetricSample[] {
  return [...channels.values()].flatMap(({ channel, outcomes }) =>
    [...outcomes].map(([outcome, { count }]): MetricSample => [{ model, channel, outcome }, count]),
  );
}

const tokensOf = ([model, { input, output }]: readonly [
  string,
  ModelCounts,
]): readonly MetricSample[] => [
  [{ model, direction: 'input' }, input],
  [{ model, direction: 'output' }, output],
];

/** How requests end whose client got the whole answer. */
export const answeredOutcomes = ['ok', 'length', 'ok, not kept', 'length, not kept'] as const;

/** The log line of one finished request. No prompt, no answer, no secret. */
export interface AccessLine {
  readonly id: string;
  readonly userId: string;
  readonly keyId: string;
  readonly model: string;
  readonly group: string;
  readonly channel: string | undefined;
  readonly stream: boolean;
  /** The status that the client was sent, or 499 when it left before its answer began. */
  readonly status: number;
  /** `ok`, `cut`, `left`, `length`, or the name of the refusal or fault. */
  readonly outcome: string;
  readonly attempts: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Nano-yuan, as a decimal string. */
  readonly cost: string;
  readonly firstByteMs: number | undefined;
  readonly durationMs: number;
  /**
   * The part of `durationMs` in which a vendor attempt was under way; absent where it was not
   * measured.
   */
  readonly vendorMs?: number;
  /** The part of `durationMs` before the first attempt; absent where none was made. */
  readonly beforeMs?: number | undefined;
}

/** A name as JSON text. Names come from the catalog and recur, so the text is kept. */
const quote = memoize((name) => JSON.stringify(name));

/**
 * The line's members as JSON text, without the braces. Written by hand, because every request makes
 * one. Ids and outcomes are our own values.
 */
function accessText(line: AccessLine): string {
  const channel = line.channel === undefined ? '' : `,"channel":${quote(line.channel)}`;
  const firstByte =
    line.firstByteMs === undefined ? '' : `,"firstByteMs":${line.firstByteMs.toFixed(1)}`;
  return (
    `"id":"${line.id}","user":"${line.userId}","key":"${line.keyId}","model":${quote(line.model)},"group":${quote(line.group)}${channel}` +
    `,"stream":${line.stream},"status":${line.status},"outcome":${quote(line.outcome)},"attempts":${line.attempts},"inputTokens":${line.inputTokens}` +
    `,"outputTokens":${line.outputTokens},"costNano":"${line.cost}"${firstByte},"durationMs":${line.durationMs.toFixed(1)}`
  );
}

/**
 * Sixteen classes to a factor of ten: each is a seventh wider than the one before, and reported
 * values are that exact.
 */
const perDecade = 16;
export const bucketGrowth = 10 ** (1 / perDecade);
/** Prometheus gets one in four of these. */
const significantBuckets = 4;
const decades = 8;
const last = decades * perDecade;

/**
 * A histogram of durations. Counting costs a logarithm and two additions; readers add the classes
 * up.
 */
export class DurationHistogram {
  /** The count in each class; class n ends at `durationMsMin × growth ** n`. */
  readonly counts: readonly number[];
  readonly #counts: number[];
  readonly #durationMsMin: number;
  readonly #from: number;
  readonly #to: number;
  #sumMs = 0;

  /**
   * A duration shorter than `durationMsMin` falls into the first class. Prometheus gets bounds from
   * `fromMs` to `toMs`, which are powers of ten.
   */
  constructor({ durationMsMin, fromMs, toMs }: HistogramRange) {
    this.#counts = Array.from({ length: last + 1 }, () => 0);
    this.counts = this.#counts;
    this.#durationMsMin = durationMsMin;
    this.#from = Math.round(Math.log10(fromMs / durationMsMin)) * perDecade;
    this.#to = Math.round(Math.log10(toMs / durationMsMin)) * perDecade;
  }

  observe(ms: number): void {
    const at =
      ms <= this.#durationMsMin
        ? 0
        : Math.min(last, Math.ceil(Math.log10(ms / this.#durationMsMin) * perDecade));
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#sumMs += ms;
  }

  /**
   * Its samples in the text format (prometheus.io, "Exposition formats", version 0.0.4), in
   * seconds; `labels`: `model="x"`, escaped.
   */
  samples(name: string, labels: string): string {
    const [more, only] = labels === '' ? ['', ''] : [`,${labels}`, `{${labels}}`];
    let total = 0;
    let text = '';
    this.#counts.forEach((count, at) => {
      total += count;
      if (at >= this.#from && at <= this.#to && at % significantBuckets === 0)
        text += `${name}_bucket{le="${this.#seconds(at)}"${more}} ${total}\n`;
    });
    return `${text}${name}_bucket{le="+Inf"${more}} ${total}\n${name}_sum${only} ${this.#sumMs / 1_000}\n${name}_count${only} ${total}\n`;
  }

  /** Its family where it has no labels. */
  family(name: string, help: string): MetricFamily {
    return { name, type: 'histogram', help, samples: this.samples(name, '') };
  }

  /** Where a class ends. */
  #seconds(at: number): number {
    return Number(((this.#durationMsMin * bucketGrowth ** at) / 1_000).toPrecision(4));
  }
}

interface HistogramRange {
  readonly durationMsMin: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** From a cached answer to a long piece of reasoning. */
export const answerTimeRange: HistogramRange = { durationMsMin: 1, fromMs: 10, toMs: 1_000_000 };
/** From a request that waits for nothing to one that waits for money or for a database. */
export const ownTimeRange: HistogramRange = { durationMsMin: 0.01, fromMs: 0.1, toMs: 10_000 };

/**
 * What happens with every finished request: its line in the log, its counts and its trace.
 * `troubled` gets requests that failed or needed more than one attempt; `why` is the refusal that
 * the client gets instead of an answer.
 */
export const recordRequests =
  (
    log: Log,
    requests: RequestMetrics,
    traces: { finished(line: AccessLine): void } | undefined,
    troubled: (line: AccessLine, why: Refusal | undefined) => void,
  ) =>
  (line: AccessLine, why: Refusal | undefined): void => {
    log.text('request', accessText(line));
    requests.finished(line);
    traces?.finished(line);
    if (why !== undefined || line.status !== 200 || line.attempts > 1) troubled(line, why);
  };
