import { unknownName } from '../../catalog/config-report.ts';
import { priceSchema } from '../../catalog/config-schema.ts';
import { type ConfigProblem, problemAt } from '../../catalog/problem.ts';
import { reason } from '../../base/reason.ts';

/** Columns that belong to the model and not to its price. */
const ofModel: ReadonlySet<string> = new Set([
  'id',
  'owned_by',
  'kind',
  'context',
  'max_output',
  'shutdown_date',
]);
const columns: ReadonlySet<string> = new Set([...ofModel, ...Object.keys(priceSchema.shape)]);

/** A price list that was written as a table. */
export interface PriceTable {
  /** The same list in JSON, one model a line, so that line numbers stay the same. */
  readonly list: string;
  /** The wrong columns of the header. */
  readonly problems: readonly ConfigProblem[];
}

/**
 * Reads a price list as a table (`id,input,cached_input,output`, one model a line). Undefined when
 * the text is no table. Empty cells become absent members.
 */
export function readPriceTable(text: string): PriceTable | undefined {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const [head, ...rest] = lines;
  const names = cellsOf(head ?? '').map((name) => name.trim());
  if (names.length < 2) return undefined;
  const [first = ''] = names;
  // A first line in JSON or YAML may have commas, too.
  if (first !== 'id' && !names.every((name) => /^[\w ]*$/.test(name))) return undefined;
  if (first !== 'id')
    return { list: '[]', problems: [problemAt(1, '', reason('no_id_column', { written: first }))] };
  const entries = rest.map((line) =>
    line.trim() === '' ? '' : JSON.stringify(entryOf(names, cellsOf(line))),
  );
  const last = entries.findLastIndex((entry) => entry !== '');
  const list = entries.map((entry, index) =>
    entry === '' || index === last ? entry : `${entry},`,
  );
  return { list: ['[', ...list, ']'].join('\n'), problems: headerProblems(names) };
}

const headerProblems = (names: readonly string[]): readonly ConfigProblem[] =>
  names
    .filter((name) => name !== '' && !columns.has(name))
    .map((name) => problemAt(1, name, reason('unknown_column', unknownName(name, columns))));

/**
 * The problems of a table's lines without those that a wrong column of the header causes in each of
 * them.
 */
export function problemsOfTable(
  { problems }: PriceTable,
  ofLines: readonly ConfigProblem[],
): readonly ConfigProblem[] {
  if (problems.length === 0) return ofLines;
  const caused: readonly (string | undefined)[] = ['unknown_member', 'price_lacks'];
  return [...problems, ...ofLines.filter(({ code }) => !caused.includes(code))];
}

function entryOf(
  names: readonly string[],
  cells: readonly string[],
): Readonly<Record<string, unknown>> {
  const filled = names.flatMap((name, index) => {
    const cell = cells[index]?.trim() ?? '';
    return cell === '' ? [] : [[name, cell] as const];
  });
  return {
    ...Object.fromEntries(filled.filter(([name]) => ofModel.has(name))),
    price: Object.fromEntries(filled.filter(([name]) => !ofModel.has(name))),
  };
}

/** Cells may be quoted, and then contain commas and doubled quotes. */
function cellsOf(line: string): readonly string[] {
  const cells: string[] = [];
  for (const [, quoted, plain] of line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g))
    cells.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'));
  return cells;
}
