import { posix } from 'node:path';
import { isNode, isTest, lineOf, type Source, type SyntaxNode } from './source.ts';

/** Files of a folder, its tests apart, at most. `vendors/` has one file a vendor. */
export const folderFilesMax = 45;

const inSrc = (source: Source): boolean => source.path.startsWith('src/') && !isTest(source.path);

/**
 * Groups of files of `src/` that import each other, types included: each is one finding that lists
 * its files. An arrow to a file that is loaded later (`import()`) counts, too.
 */
export function cycleViolations(sources: readonly Source[]): string[] {
  const imports = new Map(
    sources
      .filter(inSrc)
      .map(({ path, imports: all }) => [path, all.flatMap(({ target }) => target ?? [])]),
  );
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const cycles: string[][] = [];
  const visit = (path: string): void => {
    order.set(path, order.size);
    lowest.set(path, order.size - 1);
    open.push(path);
    for (const target of imports.get(path) ?? []) {
      if (!imports.has(target)) continue;
      if (!order.has(target)) visit(target);
      if (open.includes(target))
        lowest.set(path, Math.min(lowest.get(path) ?? 0, lowest.get(target) ?? 0));
    }
    if (lowest.get(path) !== order.get(path)) return;
    const cycle = open.splice(open.indexOf(path));
    if (cycle.length > 1 || imports.get(path)?.includes(path)) cycles.push(cycle);
  };
  for (const path of imports.keys()) if (!order.has(path)) visit(path);
  return cycles.map((cycle) => `these import each other: ${cycle.toSorted().join(', ')}`);
}

/** Names that more than one file of `src/` exports: a reader could not tell which is meant. */
export function twiceExported(sources: readonly Source[]): string[] {
  const files = new Map<string, Set<string>>();
  for (const source of sources.filter(inSrc))
    for (const name of source.nodes.flatMap(exportedNames))
      files.set(name, (files.get(name) ?? new Set()).add(source.path));
  return [...files].flatMap(([name, paths]) =>
    paths.size > 1 ? [`${name} is exported by ${[...paths].join(' and ')}`] : [],
  );
}

function exportedNames(node: SyntaxNode): string[] {
  const declared = node.type === 'ExportNamedDeclaration' ? node['declaration'] : undefined;
  if (!isNode(declared)) return [];
  const several = declared['declarations'];
  const named = Array.isArray(several) ? several.filter(isNode) : [declared];
  return named.flatMap(({ id }) =>
    isNode(id) && typeof id['name'] === 'string' ? id['name'] : [],
  );
}

/** Folders of `src/` with too many files for a reader to overlook. */
export function folderViolations(sources: readonly Source[]): string[] {
  const counts = new Map<string, number>();
  for (const { path } of sources.filter(inSrc)) {
    const folder = posix.dirname(path);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts].flatMap(([folder, count]) =>
    count > folderFilesMax && folder !== 'src/providers/vendors'
      ? [`${folder} has ${count} files, more than ${folderFilesMax}`]
      : [],
  );
}

/** Words that stand in for a subject: a sentence names its own. */
export const hiddenSubjects = /\bwho(?:ever|m)\b/gi;

const texts = new Set(['Literal', 'TemplateElement', 'JSXText']);

/**
 * Plain English: a sentence names its subject. Texts that users and clients read are left out;
 * titles of tests are not.
 */
export function languageViolations(source: Source): string[] {
  if (!/^(src|sim|web)\//.test(source.path)) return [];
  const read = isTest(source.path) ? [] : source.nodes.filter(({ type }) => texts.has(type));
  return [...source.text.matchAll(hiddenSubjects)].flatMap(({ 0: word, index }) =>
    read.some(({ start, end }) => start <= index && index < end)
      ? []
      : [`${source.path}:${lineOf(source, index)}: ${word}`],
  );
}
