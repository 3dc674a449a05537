import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseDocument,
} from 'yaml';
import type { Env } from '../base/env.ts';
import { reason, type Reason } from '../base/reason.ts';
import { type ConfigPath, type ConfigProblem, pathText, problemAt } from './problem.ts';

/**
 * A YAML (or JSON) file as plain maps, lists and text. Numbers stay text as they were written, so
 * that 0.1 is exact; true and false are booleans; a member without a value is undefined.
 */
export interface YamlSource {
  readonly value: unknown;
  readonly problems: readonly ConfigProblem[];
  /** The line of the value at `path`, or of the nearest value around it. */
  lineOf(path: ConfigPath): number;
}

/** Aliases can make a small file large; a file of this many values is no configuration. */
const nodesMax = 500_000;
// A variable stands between two characters of Unicode's private area while YAML is parsed: `${X}`
// itself is no plain text inside { }.
const [open, close, escaped] = ['\uE000', '\uE001', '\uE002'];
const placeholder = new RegExp(`${open}([^${close}]*)${close}|${escaped}`, 'g');

/**
 * `environment` fills `${NAME}` in values (`$${` is a plain `${`); undefined leaves them unchanged.
 * Reports mistakes in the text as problems and never throws.
 */
export function readYaml(text: string, environment?: Env): YamlSource {
  const reader = new Reader(text, environment);
  const value = reader.read();
  return { value, problems: reader.problems, lineOf: (path) => reader.lineOf(path) };
}

class Reader {
  readonly problems: ConfigProblem[] = [];
  readonly #lines = new Map<string, number>();
  readonly #counter = new LineCounter();
  readonly #document;
  readonly #environment: Env | undefined;
  /** The maps and lists that are being read: an alias to one of them would never end. */
  readonly #around = new Set<unknown>();
  #nodes = 0;

  constructor(text: string, environment: Env | undefined) {
    const prepared =
      environment === undefined
        ? text
        : text.replace(/\$\$\{|\$\{([^}\n]*)\}/g, (_, name: string | undefined) =>
            name === undefined ? escaped : open + name + close,
          );
    this.#document = parseDocument(prepared, {
      lineCounter: this.#counter,
      prettyErrors: false,
      // With 'silent', the parser drops a second document without a word.
      logLevel: 'error',
    });
    this.#environment = environment;
  }

  read(): unknown {
    for (const { code, message, pos } of this.#document.errors) {
      const { line } = this.#counter.linePos(pos[0]);
      const why = code === 'DUPLICATE_KEY' ? 'repeated' : 'not_yaml';
      const parser =
        code === 'MULTIPLE_DOCS' ? 'the file has more than one document: --- begins one' : message;
      // The parser reports some mistakes once for each bracket that they leave open.
      if (!this.problems.some((problem) => problem.line === line && problem.message === parser))
        this.problems.push(problemAt(line, '', reason(why, { parser })));
    }
    return this.problems.length > 0 ? undefined : this.#plain(this.#document.contents, []);
  }

  lineOf(path: ConfigPath): number {
    for (let length = path.length; length > 0; length--) {
      const line = this.#lines.get(pathText(path.slice(0, length)));
      if (line !== undefined) return line;
    }
    return 1;
  }

  #problem(path: ConfigPath, why: Reason | string): undefined {
    this.problems.push(problemAt(this.lineOf(path), pathText(path), why));
  }

  #mark(path: ConfigPath, node: unknown): void {
    const place = pathText(path);
    if (isNode(node) && node.range && !this.#lines.has(place))
      this.#lines.set(place, this.#counter.linePos(node.range[0]).line);
  }

  #plain(node: unknown, path: ConfigPath): unknown {
    this.#mark(path, node);
    if (++this.#nodes > nodesMax)
      return this.#nodes === nodesMax + 1
        ? this.#problem([], reason('too_many_values', { most: String(nodesMax) }))
        : undefined;
    if (this.#around.has(node)) return this.#problem(path, reason('refers_to_itself'));
    if (isAlias(node)) return this.#plain(node.resolve(this.#document), path);
    if (isMap(node) || isSeq(node)) {
      this.#around.add(node);
      const inside = isMap(node)
        ? this.#members(node.items, path)
        : node.items.map((item, index) => this.#plain(item, [...path, index]));
      this.#around.delete(node);
      return inside;
    }
    if (!isScalar(node) || node.value === null) return undefined;
    if (typeof node.value === 'boolean') return node.value;
    return this.#substituted(node.source ?? '', path);
  }

  #members(items: readonly Pair[], path: ConfigPath): Readonly<Record<string, unknown>> {
    const members: Record<string, unknown> = Object.create(null);
    for (const { key, value } of items) {
      const name = isScalar(key) ? (key.source ?? '') : '';
      const place = [...path, name];
      this.#mark(place, key);
      if (name === '') this.#problem(place, reason('nameless'));
      else members[name] = this.#plain(value, place);
    }
    return members;
  }

  #substituted(text: string, path: ConfigPath): string {
    const environment = this.#environment;
    if (environment === undefined) return text;
    return text.replace(placeholder, (_, name: string | undefined): string => {
      if (name === undefined) return '${';
      const value = environment[name];
      if (!/^[A-Za-z_]\w*$/.test(name))
        this.#problem(
          path,
          `'\${${name}}' does not name an environment variable (a plain \${ is written $\${)`,
        );
      else if (value === undefined || value === '')
        this.#problem(path, `the environment variable ${name} is not set`);
      // The unset name stays in the text, so that the rest of the file can be checked.
      return value === undefined || value === '' ? `\${${name}}` : value;
    });
  }
}
