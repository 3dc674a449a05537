/**
 * The metrics pages of several processes as one. Counters and histograms add up; a gauge says whose
 * it is (`worker`).
 */
export function mergePages(pages: ReadonlyMap<string, string>): string {
  const families = new Map<string, Family>();
  for (const [worker, page] of pages)
    for (const part of page.split(/^(?=# HELP )/m)) add(families, worker, part);
  return [...families.values()]
    .map(
      ({ head, samples }) =>
        head + [...samples].map(([name, value]) => `${name} ${value}\n`).join(''),
    )
    .join('');
}

interface Family {
  /** The lines that say what it is. */
  readonly head: string;
  readonly samples: Map<string, number | string>;
}

function add(families: Map<string, Family>, worker: string, part: string): void {
  const lines = part.split('\n').filter((line) => line !== '');
  const about = lines.filter((line) => line.startsWith('#'));
  const name = /^# HELP (\S+)/.exec(part)?.[1];
  if (name === undefined) return;
  const isGauge = !about.some((line) => /^# TYPE \S+ (?:counter|histogram)$/.test(line));
  const family = families.get(name) ?? { head: `${about.join('\n')}\n`, samples: new Map() };
  families.set(name, family);
  for (const line of lines.slice(about.length)) {
    const end = line.lastIndexOf(' ');
    const sample = line.slice(0, end);
    const value = line.slice(end + 1);
    if (isGauge) family.samples.set(labelled(sample, worker), value);
    else family.samples.set(sample, Number(family.samples.get(sample) ?? 0) + Number(value));
  }
}

function labelled(sample: string, worker: string): string {
  const own = `worker="${worker}"`;
  return sample.endsWith('}') ? `${sample.slice(0, -1)},${own}}` : `${sample}{${own}}`;
}
