import { isNode, isTest, lineOf, type Source, type SyntaxNode } from './source.ts';

export const fileLinesMax = 800;
export const functionLinesMax = 70;

const functions = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

/** Tests are grouped in callbacks, so that only their files are measured. */
export function sizeViolations(source: Source): string[] {
  const lines = source.text.trimEnd().split('\n').length;
  const long =
    lines > fileLinesMax ? [`${source.path} has ${lines} lines, more than ${fileLinesMax}`] : [];
  if (isTest(source.path)) return long;
  const longFunctions = source.nodes.filter(
    (node) => functions.has(node.type) && linesOf(source, node) > functionLinesMax,
  );
  return [
    ...long,
    ...longFunctions.map(
      (node) =>
        `${at(source, node)}: a function of ${linesOf(source, node)} lines, more than ${functionLinesMax}`,
    ),
  ];
}

/** Time and randomness come in by argument: only base/ calls the system. */
export function clockViolations(source: Source): string[] {
  if (!source.path.startsWith('src/') || source.path.startsWith('src/base/') || isTest(source.path))
    return [];
  return source.nodes.flatMap((node) => {
    const asked = asksForTimeOrChance(node);
    return asked === undefined
      ? []
      : [`${at(source, node)}: ${asked}; take a Clock or a Random by argument`];
  });
}

const systemCalls = new Set(['Date.now', 'Math.random', 'performance.now', 'process.hrtime']);

function asksForTimeOrChance(node: SyntaxNode): string | undefined {
  if (node.type === 'MemberExpression') {
    const name = `${nameOf(node['object'])}.${nameOf(node['property'])}`;
    return systemCalls.has(name) ? name : undefined;
  }
  const makesDate =
    (node.type === 'NewExpression' || node.type === 'CallExpression') &&
    nameOf(node['callee']) === 'Date';
  return makesDate && Array.isArray(node['arguments']) && node['arguments'].length === 0
    ? 'Date()'
    : undefined;
}

/** Only the command line writes to the terminal. */
export function consoleViolations(source: Source): string[] {
  const silent = /^(src\/(?!cli\/)|sim\/|web\/)/.test(source.path) && !isTest(source.path);
  if (!silent) return [];
  return source.nodes
    .filter((node) => node.type === 'MemberExpression' && nameOf(node['object']) === 'console')
    .map((node) => `${at(source, node)}: console belongs to cli/`);
}

const emptyWords = new Set([
  'util',
  'utils',
  'helper',
  'helpers',
  'manager',
  'service',
  'common',
  'misc',
]);
const declarations = new Set([
  'FunctionDeclaration',
  'ClassDeclaration',
  'VariableDeclarator',
  'TSInterfaceDeclaration',
  'TSTypeAliasDeclaration',
]);

/** Names are specific: kebab-case files, and no catch-all words. */
export function nameViolations(source: Source): string[] {
  const segments = source.path.replace(/(\.test|\.config)?\.tsx?$/, '').split('/');
  const file = segments
    .filter((segment) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(segment))
    .map((name) => `${source.path}: ${name} is not kebab-case`);
  const empty = segments.filter((segment) =>
    segment.split('-').some((word) => emptyWords.has(word)),
  );
  const declared = source.nodes.filter(
    (node) =>
      declarations.has(node.type) && emptyWords.has(wordsOf(nameOf(node['id'])).at(-1) ?? ''),
  );
  return [
    ...file,
    ...empty.map((name) => `${source.path}: ${name} says nothing`),
    ...declared.map((node) => `${at(source, node)}: ${nameOf(node['id'])} says nothing`),
  ];
}

/** Vendors whose names are ordinary words, too: only a literal that equals the name counts. */
const ordinaryWords = new Set([
  'together',
  'vertex',
  'bedrock',
  'fireworks',
  'perplexity',
  'moonshot',
  'replicate',
  'fal',
  'runway',
]);
const vendorRooms = /^(src\/(providers|payments|signin|cli)|web\/samples|sim|test|bench)\//;

/** Vendors are data: code outside the rooms that know vendors may not name one. Comments may. */
export function vendorViolations(source: Source, vendors: ReadonlySet<string>): string[] {
  if (vendorRooms.test(source.path) || isTest(source.path)) return [];
  return source.nodes.flatMap((node) => {
    const text = writtenText(node);
    const named =
      text === undefined || (node.type === 'Identifier' && ordinaryWords.has(text))
        ? undefined
        : vendorIn(text, vendors);
    return named === undefined ? [] : [`${at(source, node)}: names the vendor ${named}`];
  });
}

function writtenText(node: SyntaxNode): string | undefined {
  if (node.type === 'Identifier') return nameOf(node);
  if (node.type === 'Literal' && typeof node['value'] === 'string') return node['value'];
  const cooked = node.type === 'TemplateElement' ? node['value'] : undefined;
  return typeof cooked === 'object' && cooked !== null && 'raw' in cooked
    ? String(cooked.raw)
    : undefined;
}

function vendorIn(text: string, vendors: ReadonlySet<string>): string | undefined {
  if (vendors.has(text)) return text;
  return wordsOf(text).find((word) => vendors.has(word) && !ordinaryWords.has(word));
}

// Written in two pieces, so that this file does not find itself.
const leftovers = new RegExp(
  [
    '\\bTO' + 'DO\\b',
    '\\bFIX' + 'ME\\b',
    '\\b(?:it|test|describe)(?:\\.\\w+)*\\.(?:on' + 'ly|sk' + 'ip)\\(',
  ].join('|'),
);
const machinePath = new RegExp('(?:^|[\\s\'"`(])/(?:work|root|home|farm)/[A-Za-z]');

/** For any text file: no unfinished work, no skipped tests, no path of one machine. */
export function leftoverViolations(path: string, text: string): string[] {
  return text.split('\n').flatMap((line, index) => {
    const found = leftovers.exec(line) ?? machinePath.exec(line);
    return found ? [`${path}:${index + 1}: ${found[0].trim()}`] : [];
  });
}

function nameOf(node: unknown): string {
  return isNode(node) && typeof node['name'] === 'string' ? node['name'] : '';
}

/** `openaiChat`, `openai-chat` and `OPENAI_CHAT` are `openai`, `chat`. */
function wordsOf(text: string): string[] {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
}

function linesOf(source: Source, node: SyntaxNode): number {
  return lineOf(source, node.end) - lineOf(source, node.start) + 1;
}

function at(source: Source, node: SyntaxNode): string {
  return `${source.path}:${lineOf(source, node.start)}`;
}
