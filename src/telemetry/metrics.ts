import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { AccessLine } from './access.ts';

/** Seconds: from a cached word to a long piece of reasoning. */
const secondsBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

/** What a Prometheus server reads. Label values come from the catalogue, never from clients, so their number is bounded. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests: Counter;
  readonly #tokens: Counter;
  readonly #charged: Counter;
  readonly #refusals: Counter;
  readonly #firstByte: Histogram;
  readonly #duration: Histogram;

  /** `gauges`: name → help and reader, asked at each scrape. */
  constructor(gauges: Readonly<Record<string, { readonly help: string; readonly read: () => number }>>) {
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
  }

  finished(line: AccessLine): void {
    const { model } = line;
    this.#requests.inc({ model, channel: line.channel ?? '', outcome: line.outcome });
    if (line.inputTokens > 0) this.#tokens.inc({ model, direction: 'input' }, line.inputTokens);
    if (line.outputTokens > 0) this.#tokens.inc({ model, direction: 'output' }, line.outputTokens);
    this.#charged.inc({ model }, Number(line.cost) / 1e9);
    if (line.firstByteMs !== undefined) this.#firstByte.observe({ model }, line.firstByteMs / 1_000);
    this.#duration.observe({ model }, line.durationMs / 1_000);
  }

  refused(refusal: string): void {
    this.#refusals.inc({ refusal });
  }

  async page(): Promise<{ readonly type: string; readonly text: string }> {
    return { type: this.#registry.contentType, text: await this.#registry.metrics() };
  }
}
