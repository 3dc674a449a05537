import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import type { AccessLine } from './access.ts';
import { Durations, labelled } from './tally.ts';

/** What was counted of one model's requests. Plain numbers: a client library's counters hash their labels each time. */
interface OfModel {
  input: number;
  output: number;
  chargedNano: number;
  readonly firstByte: Durations;
  readonly whole: Durations;
}

interface OfRequests {
  readonly labels: string;
  count: number;
}

/** What a Prometheus server reads. Label values come from the catalogue, never from clients, so their number is bounded. */
export class Metrics {
  readonly #registry = new Registry();
  /** By model, channel and outcome. */
  readonly #requests = new Map<string, OfRequests>();
  readonly #models = new Map<string, OfModel>();
  readonly #refusals: Counter;

  /** `gauges` and `counters`: name → help and reader, asked at each scrape. */
  constructor(
    gauges: Readonly<Record<string, { readonly help: string; readonly read: () => number }>>,
    counters: Readonly<Record<string, { readonly help: string; readonly total: () => number }>> = {},
  ) {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    this.#refusals = new Counter({
      name: 'tollgate_refusals_total',
      help: 'Requests refused at the door',
      labelNames: ['refusal'],
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
    this.#requestsOf(line).count += 1;
    const model = this.#model(line.model);
    model.input += line.inputTokens;
    model.output += line.outputTokens;
    model.chargedNano += Number(line.cost);
    if (line.firstByteMs !== undefined) model.firstByte.observe(line.firstByteMs);
    model.whole.observe(line.durationMs);
  }

  #requestsOf({ model, channel = '', outcome }: AccessLine): OfRequests {
    const name = `${model}\n${channel}\n${outcome}`;
    let requests = this.#requests.get(name);
    if (requests === undefined) {
      requests = { labels: [labelled('model', model), labelled('channel', channel), labelled('outcome', outcome)].join(), count: 0 };
      this.#requests.set(name, requests);
    }
    return requests;
  }

  #model(name: string): OfModel {
    let model = this.#models.get(name);
    if (model === undefined) {
      model = { input: 0, output: 0, chargedNano: 0, firstByte: new Durations(), whole: new Durations() };
      this.#models.set(name, model);
    }
    return model;
  }

  refused(refusal: string): void {
    this.#refusals.inc({ refusal });
  }

  async page(): Promise<{ readonly type: string; readonly text: string }> {
    return { type: this.#registry.contentType, text: `${await this.#registry.metrics()}${this.#counted()}` };
  }

  #counted(): string {
    const models = [...this.#models].map(([name, counted]) => ({ label: labelled('model', name), ...counted }));
    const family = (name: string, kind: string, help: string, samples: readonly string[]): string =>
      `\n# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n${samples.join('')}`;
    const tokens = models.flatMap(({ label, input, output }) => [
      `tollgate_tokens_total{${label},direction="input"} ${input}\n`,
      `tollgate_tokens_total{${label},direction="output"} ${output}\n`,
    ]);
    const durations = (name: string, of: 'firstByte' | 'whole'): string[] => models.map((model) => model[of].samples(name, model.label));
    return [
      family(
        'tollgate_requests_total',
        'counter',
        'Requests that were admitted',
        [...this.#requests.values()].map(({ labels, count }) => `tollgate_requests_total{${labels}} ${count}\n`),
      ),
      family('tollgate_tokens_total', 'counter', 'Tokens charged', tokens),
      family(
        'tollgate_charged_yuan_total',
        'counter',
        'Money charged, in yuan',
        models.map(({ label, chargedNano }) => `tollgate_charged_yuan_total{${label}} ${chargedNano / 1e9}\n`),
      ),
      family(
        'tollgate_first_byte_seconds',
        'histogram',
        'Time to the first byte for the client',
        durations('tollgate_first_byte_seconds', 'firstByte'),
      ),
      family('tollgate_request_seconds', 'histogram', 'Time to the last byte', durations('tollgate_request_seconds', 'whole')),
    ].join('');
  }
}
