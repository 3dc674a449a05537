/** Seconds: from a cached word to a long piece of reasoning. */
const secondsBounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

/** How long something took, for Prometheus: counting costs a few additions, the text is made when somebody reads it. */
export class Durations {
  readonly #counts = Array.from({ length: secondsBounds.length + 1 }, () => 0);
  #sum = 0;

  observe(ms: number): void {
    const seconds = ms / 1_000;
    let i = 0;
    while (i < secondsBounds.length && seconds > (secondsBounds[i] ?? 0)) i += 1;
    this.#counts[i] = (this.#counts[i] ?? 0) + 1;
    this.#sum += seconds;
  }

  /** Its samples in the text format (prometheus.io, "Exposition formats", version 0.0.4); `label`: `model="x"`, escaped. */
  samples(name: string, label: string): string {
    let total = 0;
    let text = '';
    this.#counts.forEach((count, i) => {
      total += count;
      text += `${name}_bucket{le="${secondsBounds[i] ?? '+Inf'}",${label}} ${total}\n`;
    });
    return `${text}${name}_sum{${label}} ${this.#sum}\n${name}_count{${label}} ${total}\n`;
  }
}

/** A label with its value, as the text format wants it. */
export function labelled(name: string, value: string): string {
  return `${name}="${value.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`))}"`;
}
