import { collectDefaultMetrics, Registry } from 'prom-client';
import {
  expositionText,
  type MetricFamily,
  metricFamily,
  type MetricSample,
} from './exposition.ts';

/** A source of metrics, read at the moment of a scrape. */
export type MetricsSource = () => readonly MetricFamily[];

/**
 * The page that a Prometheus server reads: the current values of its sources, then those of the
 * process.
 */
export class Metrics {
  readonly #process = new Registry();
  readonly #sources: MetricsSource[] = [];
  readonly #refusals = new Map<string, number>();
  readonly #faults = new Map<string, Map<string, number>>();
  readonly #hedges = new Map<string, Map<string, number>>();
  readonly #brokenOff = new Map<string, number>();
  readonly #tasks = new Map<string, Map<string, number>>();
  readonly #overruns = new Map<string, number>();
  readonly #losses = new Map<string, number>();

  /**
   * `watched`: the page is served. Otherwise the event loop and the garbage collector are not
   * measured.
   */
  constructor(watched: boolean) {
    if (watched) collectDefaultMetrics({ register: this.#process });
    this.add(() => [
      metricFamily(
        'tollgate_refusals_total',
        'counter',
        'Requests refused at the door, and answers that became an error',
        byLabel(this.#refusals, 'refusal'),
      ),
      metricFamily(
        'tollgate_attempt_faults_total',
        'counter',
        'Attempts that failed, whether or not the client saw it',
        byLabels(this.#faults, 'channel', 'fault'),
      ),
      metricFamily(
        'tollgate_hedges_total',
        'counter',
        'Requests that two channels were asked for, by whose answer was delivered',
        byLabels(this.#hedges, 'model', 'won'),
      ),
      metricFamily(
        'tollgate_hedge_input_tokens_total',
        'counter',
        'Input tokens of attempts that were broken off because another was faster: what vendors may charge for them',
        byLabel(this.#brokenOff, 'channel'),
      ),
      metricFamily(
        'tollgate_overruns_total',
        'counter',
        'Answers beyond what their requests can have cost: more was reported, or they did not end',
        byLabel(this.#overruns, 'channel'),
      ),
      metricFamily(
        'tollgate_loss_yuan_total',
        'counter',
        'Cost that vendors reported beyond what requests can have cost, and that no user paid, in yuan',
        byLabel(this.#losses, 'channel'),
      ),
      metricFamily(
        'tollgate_tasks_total',
        'counter',
        'Videos that ended, by how',
        byLabels(this.#tasks, 'model', 'outcome'),
      ),
    ]);
  }

  add(source: MetricsSource): void {
    this.#sources.push(source);
  }

  refused(refusal: string): void {
    more(this.#refusals, refusal);
  }

  /** Counts a failed attempt on a channel. */
  failed(channel: string, fault: string): void {
    more(within(this.#faults, channel), fault);
  }

  /**
   * Counts a request sent to two channels; `brokenOff` is the channel that was broken off, if it
   * had not failed before.
   */
  hedged(model: string, won: string, brokenOff: string | undefined, inputTokens: number): void {
    more(within(this.#hedges, model), won);
    if (brokenOff !== undefined) more(this.#brokenOff, brokenOff, inputTokens);
  }

  /** Counts an answer of a channel beyond its request's bound, at this loss. */
  overran(channel: string, excessNano: bigint): void {
    more(this.#overruns, channel);
    more(this.#losses, channel, Number(excessNano) / 1e9);
  }

  /** Counts a background task that has ended. */
  ended(model: string, outcome: string): void {
    more(within(this.#tasks, model), outcome);
  }

  /** The content type of the page. */
  get type(): string {
    return this.#process.contentType;
  }

  async page(): Promise<{ readonly type: string; readonly text: string }> {
    const families = this.#sources.flatMap((source) => source());
    return { type: this.type, text: expositionText(families) + (await this.#process.metrics()) };
  }
}

const byLabel = (counts: ReadonlyMap<string, number>, label: string): readonly MetricSample[] =>
  [...counts].map(([name, count]) => [{ [label]: name }, count]);

function more(counts: Map<string, number>, name: string, by = 1): void {
  counts.set(name, (counts.get(name) ?? 0) + by);
}

function within(counts: Map<string, Map<string, number>>, name: string): Map<string, number> {
  let inner = counts.get(name);
  if (inner === undefined) {
    inner = new Map();
    counts.set(name, inner);
  }
  return inner;
}

function* byLabels(
  counts: ReadonlyMap<string, ReadonlyMap<string, number>>,
  outer: string,
  inner: string,
): Iterable<MetricSample> {
  for (const [a, within] of counts)
    for (const [b, count] of within) yield [{ [outer]: a, [inner]: b }, count];
}
