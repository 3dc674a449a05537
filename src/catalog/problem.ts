import type { Reason } from '../base/reason.ts';

/** A mistake in a file that the operator wrote. */
export interface ConfigProblem extends Partial<Omit<Reason, 'message'>> {
  /** From 1; 0 when it is not in the file. */
  readonly line: number;
  /** The place in the file's structure: `models[0].price.input`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
}

export function problemAt(line: number, path: string, why: Reason | string): ConfigProblem {
  return { line, path, ...(typeof why === 'string' ? { message: why } : why) };
}

/** One line each: `tollgate.yaml:12: models[0].price.input: must not be negative, but is -1`. */
export function describeProblems(file: string, problems: readonly ConfigProblem[]): string {
  const at = (line: number): string => (line === 0 ? '' : `${file}:${line}: `);
  return problems
    .map(({ line, path, message }) => `${at(line)}${path === '' ? '' : `${path}: `}${message}`)
    .join('\n');
}

export function inLineOrder(problems: readonly ConfigProblem[]): readonly ConfigProblem[] {
  return [...problems].sort((a, b) => a.line - b.line);
}

export type ConfigPath = readonly PropertyKey[];

/** `['models', 0, 'price']` → `models[0].price`. */
export function pathText(path: ConfigPath): string {
  return path.reduce<string>(
    (text, step) =>
      typeof step === 'number'
        ? `${text}[${step}]`
        : `${text}${text === '' ? '' : '.'}${String(step)}`,
    '',
  );
}
