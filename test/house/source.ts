import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { parseSync } from 'oxc-parser';

/**
 * A node of the syntax tree (ESTree with TypeScript), loosely typed: each rule checks the members
 * that it reads.
 */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

export interface Import {
  /** As written. */
  readonly specifier: string;
  /** Path from the project's root for relative ones, else undefined. */
  readonly target: string | undefined;
}

export interface Source {
  /** From the project's root, with `/`. */
  readonly path: string;
  readonly text: string;
  readonly nodes: readonly SyntaxNode[];
  readonly imports: readonly Import[];
}

/** Throws with the file's name when it does not parse. */
export function parse(path: string, text: string): Source {
  const { program, errors } = parseSync(path, text, {
    lang: path.endsWith('.tsx') ? 'tsx' : 'ts',
    sourceType: 'module',
  });
  if (errors[0]) throw new Error(`${path}: ${errors[0].message}`);
  const nodes: SyntaxNode[] = [];
  visit(program, nodes);
  return { path, text, nodes, imports: nodes.flatMap((node) => importOf(path, node)) };
}

/** Every TypeScript file below the given folders of `root`. */
export function readSources(root: string, folders: readonly string[]): Source[] {
  const paths = folders.flatMap((folder) => [
    ...filesBelow(root, folder, '.ts'),
    ...filesBelow(root, folder, '.tsx'),
  ]);
  return paths.map((path) => parse(path, readFileSync(join(root, path), 'utf8')));
}

export function filesBelow(root: string, folder: string, ending: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => posix.relative(root, posix.join(entry.parentPath, entry.name)))
    .sort();
}

export function isNode(value: unknown): value is SyntaxNode {
  return (
    typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
  );
}

/** The line of a position, from 1. */
export function lineOf(source: Source, position: number): number {
  return source.text.slice(0, position).split('\n').length;
}

export function isTest(path: string): boolean {
  return path.endsWith('.test.ts');
}

function visit(value: unknown, into: SyntaxNode[]): void {
  if (Array.isArray(value)) for (const item of value) visit(item, into);
  else if (isNode(value)) {
    into.push(value);
    for (const child of Object.values(value)) if (typeof child === 'object') visit(child, into);
  }
}

const importing = new Set([
  'ImportDeclaration',
  'ExportNamedDeclaration',
  'ExportAllDeclaration',
  'ImportExpression',
  'TSImportType',
]);

/** `new URL('./thread.ts', import.meta.url)` counts as an import. */
function importOf(path: string, node: SyntaxNode): Import[] {
  const from = importing.has(node.type) ? literal(node['source']) : addressedFile(node);
  if (from === undefined) return [];
  return [
    {
      specifier: from,
      target: from.startsWith('.') ? posix.join(posix.dirname(path), from) : undefined,
    },
  ];
}

function addressedFile(node: SyntaxNode): string | undefined {
  const callee = node.type === 'NewExpression' ? node['callee'] : undefined;
  if (!isNode(callee) || callee['name'] !== 'URL' || !Array.isArray(node['arguments']))
    return undefined;
  const file = literal(node['arguments'][0]);
  return file?.startsWith('.') && file.endsWith('.ts') ? file : undefined;
}

function literal(node: unknown): string | undefined {
  return isNode(node) && typeof node['value'] === 'string' ? node['value'] : undefined;
}
