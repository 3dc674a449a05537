import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { AccessLine } from './access.ts';

/** Seconds: from a cached word to a long piece of reasoning. */
const secondsBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

interface BoundToModel {
  readonly input: Counter.Internal;
  readonly output: Counter.Internal;
  readonly charged: Counter.Internal;
  readonly firstByte: Histogram.Internal<string>;
  readonly duration: Histogram.Internal<string>;
}

/** What a Prometheus server reads. Label values come from the catalogue, never from clients, so their number is bounded. */
export class Metrics {
  readonly #registry = new Registry();
  /** Children looked up once: finding one by its labels costs more than counting. */
  readonly #requestsBound = new Map<string, Counter.Internal>();
  readonly #models = new Map<string, BoundToModel>();
  readonly #requests: Counter;
  readonly #tokens: Counter;
  readonly #charged: Counter;
  readonly #refusals: Counter;
  readonly #firstByte: Histogram;
  readonly #duration: Histogram;

  /** `gauges` and `counters`: name → help and reader, asked at each scrape. */
  constructor(
    gauges: Readonly<Record<string, { readonly help: string; readonly read: () => number }>>,
    counters: Readonly<Record<string, { readonly help: string; readonly total: () => number }>> = {},
  ) {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    this.#requests = new Counter({
      name: 'tollgate_requests_total',
      help: 'Requests that were admitted',
      labelNames: ['model', 'channel', 'outcome'],
      registers,
    });
    this.#tokens = new Counter({ name: 'tollgate_tokens_total', help: 'Tokens charged', labelNames: ['model', 'direction'], registers });
    this.#charged = new Counter({ name: 'tollgate_charged_yuan_total', help: 'Money charged, in yuan', labelNames: ['model'], registers });
    this.#refusals = new Counter({
      name: 'tollgate_refusals_total',
      help: 'Requests refused at the door',
      labelNames: ['refusal'],
      registers,
    });
    this.#firstByte = new Histogram({
      name: 'tollgate_first_byte_seconds',
      help: 'Time to the first byte for the client',
      labelNames: ['model'],
      buckets: secondsBuckets,
      registers,
    });
    this.#duration = new Histogram({
      name: 'tollgate_request_seconds',
      help: 'Time to the last byte',
      labelNames: ['model'],
      buckets: secondsBuckets,
      registers,
    });
    for (const [name, { help, read }] of Object.entries(gauges)) {
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      });
    }
    for (const [name, { help, total }] of Object.entries(counters)) {
      new Counter({
        name,
        help,
        registers,
        collect() {
          this.reset();
          this.inc(total());
        },
      });
    }
  }

  finished(line: AccessLine): void {
    this.#requestsOf(line).inc();
    const bound = this.#bound(line.model);
    if (line.inputTokens > 0) bound.input.inc(line.inputTokens);
    if (line.outputTokens > 0) bound.output.inc(line.outputTokens);
    bound.charged.inc(Number(line.cost) / 1e9);
    if (line.firstByteMs !== undefined) bound.firstByte.observe(line.firstByteMs / 1_000);
    bound.duration.observe(line.durationMs / 1_000);
  }

  #requestsOf({ model, channel = '', outcome }: AccessLine): Counter.Internal {
    const name = `${model}\n${channel}\n${outcome}`;
    let counter = this.#requestsBound.get(name);
    if (counter === undefined) {
      counter = this.#requests.labels({ model, channel, outcome });
      this.#requestsBound.set(name, counter);
    }
    return counter;
  }

  #bound(model: string): BoundToModel {
    let bound = this.#models.get(model);
    if (bound === undefined) {
      bound = {
        input: this.#tokens.labels({ model, direction: 'input' }),
        output: this.#tokens.labels({ model, direction: 'output' }),
        charged: this.#charged.labels({ model }),
        firstByte: this.#firstByte.labels({ model }),
        duration: this.#duration.labels({ model }),
      };
      this.#models.set(model, bound);
    }
    return bound;
  }

  refused(refusal: string): void {
    this.#refusals.inc({ refusal });
  }

  async page(): Promise<{ readonly type: string; readonly text: string }> {
    return { type: this.#registry.contentType, text: await this.#registry.metrics() };
  }
}
