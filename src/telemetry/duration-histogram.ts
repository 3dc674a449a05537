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
  /** The count in each class; class n ends at `leastMs × growth ** n`. */
  readonly counts: readonly number[];
  readonly #counts: number[];
  readonly #leastMs: number;
  readonly #from: number;
  readonly #to: number;
  #sumMs = 0;

  /**
   * A duration shorter than `leastMs` falls into the first class. Prometheus gets bounds from
   * `fromMs` to `toMs`, which are powers of ten.
   */
  constructor({ leastMs, fromMs, toMs }: HistogramRange) {
    this.#counts = Array.from({ length: last + 1 }, () => 0);
    this.counts = this.#counts;
    this.#leastMs = leastMs;
    this.#from = Math.round(Math.log10(fromMs / leastMs)) * perDecade;
    this.#to = Math.round(Math.log10(toMs / leastMs)) * perDecade;
  }

  observe(ms: number): void {
    const at =
      ms <= this.#leastMs
        ? 0
        : Math.min(last, Math.ceil(Math.log10(ms / this.#leastMs) * perDecade));
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

  /** Where a class ends. */
  #seconds(at: number): number {
    return Number(((this.#leastMs * bucketGrowth ** at) / 1_000).toPrecision(4));
  }
}

export interface HistogramRange {
  readonly leastMs: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** From a cached answer to a long piece of reasoning. */
export const answerTimeRange: HistogramRange = { leastMs: 1, fromMs: 10, toMs: 1_000_000 };
/** From a request that waits for nothing to one that waits for money or for a database. */
export const ownTimeRange: HistogramRange = { leastMs: 0.01, fromMs: 0.1, toMs: 10_000 };
