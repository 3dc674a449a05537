/** One metric with all its samples, as a Prometheus server reads it. */
export interface MetricFamily {
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
 * Label values by name. Values come from the catalog or are our own, never a client's, so that
 * their number is bounded.
 */
type MetricLabels = Readonly<Record<string, string>>;

/** A number of a metric, and what it counts. */
export type MetricSample = readonly [MetricLabels, number];

export function labelText(labels: MetricLabels): string {
  return Object.entries(labels)
    .map(
      ([name, value]) =>
        `${name}="${value.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`))}"`,
    )
    .join();
}

/** A counter or a gauge: one number, or one for each set of labels. */
export function metricFamily(
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  numbers: number | Iterable<MetricSample>,
): MetricFamily {
  if (typeof numbers === 'number') return { name, type, help, samples: `${name} ${numbers}\n` };
  let samples = '';
  for (const [labels, value] of numbers) samples += `${name}{${labelText(labels)}} ${value}\n`;
  return { name, type, help, samples };
}

export function expositionText(families: readonly MetricFamily[]): string {
  return families
    .map(
      ({ name, type, help, samples }) =>
        `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${samples}`,
    )
    .join('');
}

/**
 * The metrics pages of several processes as one. Counters and histograms add up; a gauge keeps the
 * process in its label `worker`. `ended`: the pages of processes that have ended, which count and
 * have no gauges.
 */
export function mergeMetricsPages(
  pages: ReadonlyMap<string, string>,
  ended: readonly string[] = [],
): string {
  const families = new Map<string, SampleFamily>();
  const all = [...pages, ...ended.map((page) => [undefined, page] as const)];
  for (const [worker, page] of all)
    for (const part of page.split(/^(?=# HELP )/m)) addSamples(families, worker, part);
  return [...families.values()]
    .map(
      ({ head, samples }) =>
        head + [...samples].map(([name, value]) => `${name} ${value}\n`).join(''),
    )
    .join('');
}

interface SampleFamily {
  /** The lines that describe the metric. */
  readonly head: string;
  readonly samples: Map<string, number | string>;
}

function addSamples(
  families: Map<string, SampleFamily>,
  worker: string | undefined,
  part: string,
): void {
  const lines = part.split('\n').filter((line) => line !== '');
  const about = lines.filter((line) => line.startsWith('#'));
  const name = /^# HELP (\S+)/.exec(part)?.[1];
  if (name === undefined) return;
  const isGauge = !about.some((line) => /^# TYPE \S+ (?:counter|histogram)$/.test(line));
  if (isGauge && worker === undefined) return;
  const family = families.get(name) ?? { head: `${about.join('\n')}\n`, samples: new Map() };
  families.set(name, family);
  for (const line of lines.slice(about.length)) {
    const end = line.lastIndexOf(' ');
    const sample = line.slice(0, end);
    const value = line.slice(end + 1);
    if (isGauge && worker !== undefined) family.samples.set(labelled(sample, worker), value);
    else family.samples.set(sample, Number(family.samples.get(sample) ?? 0) + Number(value));
  }
}

function labelled(sample: string, worker: string): string {
  const own = `worker="${worker}"`;
  return sample.endsWith('}') ? `${sample.slice(0, -1)},${own}}` : `${sample}{${own}}`;
}
