import { hiddenSubjects } from './structure.ts';

interface RefusalRow {
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
  readonly message: string;
}

/** The part of a refusal's entry in docs/reference/errors.md that follows from the table. */
export function refusalFacts(row: RefusalRow): string {
  const message = row.message === '{message}' ? "The vendor's own words." : `\`${row.message}\``;
  return `Status ${row.status} · type \`${row.type}\` · code ${row.code === null ? '`null`' : `\`${row.code}\``}\n\n> ${message}`;
}

/** One heading for each refusal, none without one, and below it the facts of the table. */
export function errorPageViolations(
  page: string,
  refusals: Readonly<Record<string, RefusalRow>>,
): string[] {
  const entries = new Map(
    page
      .split(/^## /m)
      .slice(1)
      .map((entry) => [entry.split('\n', 1)[0]?.trim() ?? '', entry]),
  );
  const missing = Object.entries(refusals).flatMap(([name, row]) => {
    const entry = entries.get(name);
    if (entry === undefined) return [`${name} has no heading`];
    if (!entry.includes(refusalFacts(row))) return [`${name} must say:\n${refusalFacts(row)}`];
    return /To do: \S/.test(entry) ? [] : [`${name} does not say what to do ("To do: …")`];
  });
  const invented = [...entries.keys()]
    .filter((name) => !(name in refusals))
    .map((name) => `${name} is not a refusal`);
  return [...missing, ...invented];
}

interface LockedPackage {
  readonly resolved?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * A lockfile that names a registry host would install from there; `npm ci` refuses one without
 * other platforms' optional packages.
 */
export function lockfileViolations(packages: Readonly<Record<string, LockedPackage>>): string[] {
  return Object.entries(packages).flatMap(([path, { resolved, optionalDependencies = {} }]) => {
    const host = resolved === undefined ? [] : [`${path} names ${resolved}`];
    const missing = Object.keys(optionalDependencies).filter(
      (name) =>
        !(`node_modules/${name}` in packages) && !(`${path}/node_modules/${name}` in packages),
    );
    return [
      ...host,
      ...missing.map(
        (name) =>
          `${path} may need ${name}, which is not locked: node scripts/complete-lockfile.mjs`,
      ),
    ];
  });
}

/** Each dependency has its row in the decision page, and each row its dependency. */
export function dependencyViolations(page: string, dependencies: readonly string[]): string[] {
  const rows = page.split('\n').flatMap((line) => /^\|([^|]+)\|/.exec(line)?.[1] ?? []);
  const named = new Set(
    rows.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '')),
  );
  const unexplained = dependencies
    .filter((name) => !named.has(name))
    .map((name) => `${name} has no row`);
  return [
    ...unexplained,
    ...[...named]
      .filter((name) => !dependencies.includes(name))
      .map((name) => `${name} is no longer a dependency`),
  ];
}

const codePath = /(?<![\w./-])(?:src|sim|web|test|bench)\/[\w./-]*[\w/]/g;

/**
 * Paths of code that a page names must exist. `made`: files that the page tells its reader to make.
 */
export function pathViolations(
  path: string,
  text: string,
  exists: (path: string) => boolean,
  made?: RegExp,
): string[] {
  const named = new Set([...text.matchAll(codePath)].map(([match]) => match));
  return [...named]
    .filter((one) => made?.test(one) !== true && !exists(one))
    .map((one) => `${path} names ${one}, which does not exist`);
}

/** Sentences of a page that hide their subject. */
export function sentenceViolations(path: string, text: string): string[] {
  return text.split('\n').flatMap((line, index) => {
    const [word] = line.match(hiddenSubjects) ?? [];
    return word === undefined ? [] : [`${path}:${index + 1}: ${word}`];
  });
}
