import type * as z from 'zod';
import { meant, reason, type Reason, type ReasonValues } from '../base/reason.ts';
import {
  inLineOrder,
  type ConfigPath,
  type ConfigProblem,
  pathText,
  problemAt,
} from './problem.ts';
import type { YamlSource } from './yaml-source.ts';

/** Gathers every problem of one file, so that the operator corrects it once. */
export class ConfigReport {
  readonly #source: YamlSource;
  readonly #problems: ConfigProblem[];

  constructor(source: YamlSource) {
    this.#source = source;
    this.#problems = [...source.problems];
  }

  get problems(): readonly ConfigProblem[] {
    return inLineOrder(this.#problems);
  }

  get clean(): boolean {
    return this.#problems.length === 0;
  }

  lineOf(path: ConfigPath): number {
    return this.#source.lineOf(path);
  }

  /**
   * Skips a value whose variable is not set: that was reported, and further problems of the value
   * are no news.
   */
  add(path: ConfigPath, why: Reason | string): void {
    const place = pathText(path);
    if (!this.#source.problems.some((problem) => problem.path === place))
      this.#problems.push(problemAt(this.lineOf(path), place, why));
  }

  addOutside(path: string, message: string): void {
    this.#problems.push({ line: 0, path, message });
  }

  /** The value parsed by `schema`; undefined after reporting the problems. */
  parse<Schema extends z.ZodType>(
    schema: Schema,
    value: unknown,
    path: ConfigPath,
  ): z.output<Schema> | undefined {
    const result = schema.safeParse(value, { jitless: true });
    if (result.success) return result.data;
    for (const issue of result.error.issues) {
      const at = [...path, ...issue.path];
      const unknown = issue.code === 'unrecognized_keys' ? issue.keys : undefined;
      issue.message
        .split('\n')
        .forEach((message, index) =>
          this.add(unknown === undefined ? at : [...at, unknown[index] ?? ''], readReason(message)),
        );
    }
    return undefined;
  }
}

/** A report on values that come from no file: its problems have no lines. */
export function reportWithoutLines(): ConfigReport {
  return new ConfigReport({ value: undefined, problems: [], lineOf: () => 0 });
}

/** A reason as the message of a schema, which can only be text. */
export const schemaMessage = (why: Reason): string => JSON.stringify(why);

function readReason(message: string): Reason | string {
  return message.startsWith('{"code":') ? (JSON.parse(message) as Reason) : message;
}

/** A member of a value that has not been checked yet. */
export function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** Reports the second of two items with one name. */
export function reportDuplicates(
  list: readonly unknown[],
  where: ConfigPath,
  name: string,
  report: ConfigReport,
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
        reason('duplicate', {
          written: value,
          line: String(report.lineOf([...where, twin, name])),
        }),
      );
  });
}

/**
 * The name that was probably meant: the one fewest letters away, when that is at most a third of
 * them; else the first that has all its words, such as `above_input_tokens` for `above_input`.
 */
function nearestName(written: string, names: Iterable<string>): string | undefined {
  const all = [...names];
  let best: string | undefined;
  let least = Math.max(1, Math.floor(written.length / 3)) + 1;
  for (const name of all) {
    const letters = editDistance(written.toLowerCase(), name.toLowerCase());
    if (letters < least) {
      best = name;
      least = letters;
    }
  }
  if (best !== undefined) return best;
  const parts = written.split('_');
  return all.find((name) => {
    const its = name.split('_');
    return parts.every((part) => its.includes(part));
  });
}

/** The values of a reason for an unknown name. */
export function unknownName(written: string, names: Iterable<string>): ReasonValues {
  const name = nearestName(written, names);
  return { written, ...(name !== undefined && { meant: name }) };
}

/** `, did you mean 'x'?`, or nothing. */
export function didYouMean(written: string, names: Iterable<string>): string {
  return meant(unknownName(written, names));
}

/** Letters to insert, delete, change or swap with their neighbour (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      const swapped =
        row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const steps = [
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      ];
      if (swapped) steps.push((before[column - 2] ?? 0) + 1);
      current.push(Math.min(...steps));
    }
    before = last;
    last = current;
  }
  return last[b.length] ?? 0;
}
