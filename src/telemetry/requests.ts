import type { AccessLine } from './access.ts';
import { answerTimes, Durations, ownTimes } from './durations.ts';
import { type Family, family, type Labels, labelText } from './exposition.ts';

/** What one channel did. The channel is '' where no vendor was asked. */
export interface OfChannel {
  readonly channel: string;
  /** Requests that went well, those that failed by no fault of the client's, and all. */
  readonly ok: number;
  readonly failed: number;
  readonly all: number;
}

/** The same for one model. */
interface Pair {
  readonly channel: string;
  ok: number;
  failed: number;
  readonly outcomes: Map<string, Outcomes>;
}

interface Outcomes {
  readonly isFault: boolean;
  count: number;
}

interface OfModel {
  input: number;
  output: number;
  chargedNano: number;
  retries: number;
  readonly whole: Durations;
  readonly channels: Map<string, Pair>;
}

/**
 * Every finished request is counted here, once: metrics read it, and so do the reports of this
 * process. Plain numbers in maps by name, since this is done for every request and read a few times
 * a minute. They only grow.
 */
export class Requests {
  readonly #models = new Map<string, OfModel>();
  readonly #firsts = new Map<string, Durations>();
  readonly #own = new Durations(ownTimes);

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

  /** Work that ended after its request had: of a film, the money. */
  charged(model: string, costNano: string): void {
    (this.#models.get(model) ?? this.#openModel(model)).chargedNano += Number(costNano);
  }

  /** By channel, of all models; those without a vendor among them, under ''. */
  channels(): readonly OfChannel[] {
    const sums = new Map<string, OfChannel>();
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
  get firsts(): ReadonlyMap<string, Durations> {
    return this.#firsts;
  }

  families(): readonly Family[] {
    const models = [...this.#models];
    const ofModel = (read: (model: OfModel) => number) =>
      models.map(([model, of]): [Labels, number] => [{ model }, read(of)]);
    const histogram = (name: string, help: string, samples: readonly string[]): Family => ({
      name,
      type: 'histogram',
      help,
      samples: samples.join(''),
    });
    const times = (name: string, label: string, all: Iterable<readonly [string, Durations]>) =>
      [...all].map(([value, durations]) => durations.samples(name, labelText({ [label]: value })));
    const { requests, tokens, charged, retries, whole, first, own } = names;
    return [
      family(
        requests,
        'counter',
        'Requests that were admitted, by how they ended',
        models.flatMap(outcomesOf),
      ),
      family(tokens, 'counter', 'Tokens charged', models.flatMap(tokensOf)),
      family(
        charged,
        'counter',
        'Money charged, in yuan',
        ofModel(({ chargedNano }) => chargedNano / 1e9),
      ),
      family(
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

  #openModel(name: string): OfModel {
    const model = {
      input: 0,
      output: 0,
      chargedNano: 0,
      retries: 0,
      whole: new Durations(answerTimes),
      channels: new Map<string, Pair>(),
    };
    this.#models.set(name, model);
    return model;
  }

  #openFirst(channel: string): Durations {
    const durations = new Durations(answerTimes);
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

function openChannel(model: OfModel, channel: string): Pair {
  const opened = { channel, ok: 0, failed: 0, outcomes: new Map<string, Outcomes>() };
  model.channels.set(channel, opened);
  return opened;
}

function openOutcome({ outcomes }: Pair, outcome: string): Outcomes {
  const opened = { isFault: outcome === 'cut' || outcome.startsWith('fault:'), count: 0 };
  outcomes.set(outcome, opened);
  return opened;
}

function outcomesOf([model, { channels }]: readonly [string, OfModel]): [Labels, number][] {
  return [...channels.values()].flatMap(({ channel, outcomes }) =>
    [...outcomes].map(([outcome, { count }]): [Labels, number] => [
      { model, channel, outcome },
      count,
    ]),
  );
}

const tokensOf = ([model, { input, output }]: readonly [string, OfModel]): [Labels, number][] => [
  [{ model, direction: 'input' }, input],
  [{ model, direction: 'output' }, output],
];
