import type { Path } from './problem.ts';
import type { Report } from './report.ts';

/** A member of something that has not been checked yet. */
export function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** Two items with one name: the second is reported. */
export function reportTwins(
  list: readonly unknown[],
  where: Path,
  name: string,
  report: Report,
): void {
  const first = new Map<string, number>();
  list.forEach((item, index) => {
    const value = member(item, name);
    if (typeof value !== 'string') return;
    const twin = first.get(value);
    if (twin === undefined) first.set(value, index);
    else
      report.add(
        [...where, index, name],
        `'${value}' is already in line ${report.lineOf([...where, twin, name])}`,
      );
  });
}
