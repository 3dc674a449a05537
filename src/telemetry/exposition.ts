/** One metric with all its samples, as a Prometheus server reads it. */
export interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /**
   * Lines of the text format (prometheus.io, "Exposition formats", version 0.0.4), each with its
   * end.
   */
  readonly samples: string;
}

/**
 * A label's value by its name. Values come from the catalogue or are words of ours, never a
 * client's, so that their number is bounded.
 */
export type Labels = Readonly<Record<string, string>>;

export function labelText(labels: Labels): string {
  return Object.entries(labels)
    .map(
      ([name, value]) =>
        `${name}="${value.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`))}"`,
    )
    .join();
}

/** A counter or a gauge: one number, or one for each set of labels. */
export function family(
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  numbers: number | Iterable<readonly [Labels, number]>,
): Family {
  if (typeof numbers === 'number') return { name, type, help, samples: `${name} ${numbers}\n` };
  let samples = '';
  for (const [labels, value] of numbers) samples += `${name}{${labelText(labels)}} ${value}\n`;
  return { name, type, help, samples };
}

export function expositionText(families: readonly Family[]): string {
  return families
    .map(
      ({ name, type, help, samples }) =>
        `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${samples}`,
    )
    .join('');
}
