/** Columns that belong to the model and not to its price. */
const ofModel = new Set(['id', 'owned_by', 'kind', 'context', 'max_output', 'shutdown_date']);

/**
 * A price list as a table (`id,input,cached_input,output`, one model a line) → the same as JSON
 * with one model a line, so that line numbers stay what they are. Undefined where the text is no
 * such table. Cells that are empty are members that are absent.
 */
export function csvAsList(text: string): string | undefined {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const [head, ...rest] = lines;
  const names = cellsOf(head ?? '').map((name) => name.trim());
  if (names[0] !== 'id' || names.length < 2) return undefined;
  const entries = rest.map((line) =>
    line.trim() === '' ? '' : JSON.stringify(entryOf(names, cellsOf(line))),
  );
  const last = entries.findLastIndex((entry) => entry !== '');
  return [
    '[',
    ...entries.map((entry, index) => (entry === '' || index === last ? entry : `${entry},`)),
    ']',
  ].join('\n');
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

/** Cells may stand in quotes, and then hold commas and doubled quotes. */
function cellsOf(line: string): readonly string[] {
  const cells: string[] = [];
  for (const [, quoted, plain] of line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g))
    cells.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'));
  return cells;
}
