import type { AccessLine } from './access-log.ts';
import { answerTimeRange, DurationHistogram, ownTimeRange } from './duration-histogram.ts';
import { type MetricFamily, metricFamily, type MetricLabels, labelText } from './exposition.ts';

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

  finished(line: AccessLine): void {
    const model = this.#models.get(line.model) ?? this.#openModel(line.model);
    model.input += line.inputTokens;
    model.output += line.outputTokens;
    model.chargedNano += Number(line.cost);
    if (line.attempts > 1) model.retries += line.attempts - 1;
    model.whole.observe(line.durationMs);
    if (line.vendorMs !== undefined) this.#own.observe(line.durationMs - line.vendorMs);
    const name = line.channel ?? '';
    const channel = model.channels.get(name) ?? openChannel(model, name);
    const outcomes = channel.outcomes.get(line.outcome) ?? openOutcome(channel, line.outcome);
    outcomes.count += 1;
    if (outcomes.isFault || line.status >= 500) channel.failed += 1;
    else if (line.status < 300) channel.ok += 1;
    if (line.firstByteMs !== undefined)
      (this.#firsts.get(name) ?? this.#openFirst(name)).observe(line.firstByteMs);
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
      models.map(([model, of]): [MetricLabels, number] => [{ model }, read(of)]);
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
    const { requests, tokens, charged, retries, whole, first, own } = names;
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
      histogram(own, 'Time that requests spent here while no vendor was at work', [
        this.#own.samples(own, ''),
      ]),
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

function outcomesOf([model, { channels }]: readonly [string, ModelCounts]): [
  MetricLabels,
  number,
][] {
  return [...channels.values()].flatMap(({ channel, outcomes }) =>
    [...outcomes].map(([outcome, { count }]): [MetricLabels, number] => [
      { model, channel, outcome },
      count,
    ]),
  );
}

const tokensOf = ([model, { input, output }]: readonly [string, ModelCounts]): [
  MetricLabels,
  number,
][] => [
  [{ model, direction: 'input' }, input],
  [{ model, direction: 'output' }, output],
];
