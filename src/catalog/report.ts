import type * as z from 'zod';
import { inLineOrder, type Path, type Problem, pathText } from './problem.ts';
import type { YamlSource } from './yaml-source.ts';

/** Gathers all that is wrong with one file, so that the operator corrects it once. */
export class Report {
  readonly #source: YamlSource;
  readonly #problems: Problem[];

  constructor(source: YamlSource) {
    this.#source = source;
    this.#problems = [...source.problems];
  }

  get problems(): readonly Problem[] {
    return inLineOrder(this.#problems);
  }

  get clean(): boolean {
    return this.#problems.length === 0;
  }

  lineOf(path: Path): number {
    return this.#source.lineOf(path);
  }

  /** A value whose variable is not set has been reported; what else is wrong with it is no news. */
  add(path: Path, message: string): void {
    const place = pathText(path);
    if (!this.#source.problems.some((problem) => problem.path === place))
      this.#problems.push({ line: this.lineOf(path), path: place, message });
  }

  addOutside(path: string, message: string): void {
    this.#problems.push({ line: 0, path, message });
  }

  /** The value by `schema`, or undefined and what is wrong with it. */
  parse<Schema extends z.ZodType>(
    schema: Schema,
    value: unknown,
    path: Path,
  ): z.output<Schema> | undefined {
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    for (const issue of result.error.issues) {
      const at = [...path, ...issue.path];
      const unknown = issue.code === 'unrecognized_keys' ? issue.keys : undefined;
      issue.message
        .split('\n')
        .forEach((message, index) =>
          this.add(unknown === undefined ? at : [...at, unknown[index] ?? ''], message),
        );
    }
    return undefined;
  }
}
