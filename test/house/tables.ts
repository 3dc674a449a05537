import { roomOf } from './floors.ts';
import { isNode, isTest, lineOf, type Source, type SyntaxNode } from './source.ts';

interface TableException {
  readonly tables: readonly string[];
  readonly why: string;
}

const proof = 'compares two rooms for `tollgate check`, within one snapshot';
const readModel = 'a read model: it walks the index by account, which needs the list of accounts';

/** The files that may name tables of other rooms, and why. */
export const tableExceptions: Readonly<Record<string, TableException>> = {
  'src/ledger/check.ts': { tables: ['usage'], why: proof },
  'src/ledger/limit-windows.ts': { tables: ['usage'], why: proof },
  'src/gateway/tasks/migrations.ts': { tables: ['hold', 'account'], why: proof },
  'src/payments/migrations.ts': { tables: ['transfer', 'hold'], why: proof },
  'src/usage/all-accounts.ts': { tables: ['users'], why: readModel },
  'src/usage/ranges.ts': { tables: ['users'], why: readModel },
  'src/usage/rollup.ts': { tables: ['users'], why: readModel },
  'src/usage/totals.ts': { tables: ['users', 'api_keys'], why: readModel },
  'src/notifications/alerts.ts': {
    tables: ['users', 'account'],
    why: 'finds the few balances below their own thresholds; two queries would read all of both',
  },
  'src/catalog/migrations.ts': { tables: ['change'], why: 'a migration' },
};

interface SqlText {
  readonly text: string;
  readonly start: number;
}

/** Literals, and templates with ` ? ` in place of what they insert. */
function sqlTextOf(node: SyntaxNode): SqlText | undefined {
  if (node.type === 'Literal' && typeof node['value'] === 'string')
    return { text: node['value'], start: node.start };
  if (node.type !== 'TemplateLiteral' || !Array.isArray(node['quasis'])) return undefined;
  const parts = node['quasis'].filter(isNode).map(({ value }) => {
    const raw = typeof value === 'object' && value !== null && 'raw' in value ? value.raw : '';
    return String(raw);
  });
  return { text: parts.join(' ? '), start: node.start };
}

const created = /\bCREATE TABLE (?:IF NOT EXISTS )?(\w+)/g;
const clause =
  /\b(?:FROM|JOIN|INTO|UPDATE|TABLE)\s+(\w+(?:\s+(?:AS )?[a-z]\w*)?(?:,\s*\w+(?:\s+(?:AS )?[a-z]\w*)?)*)/g;

/** The room of each table: the one whose files create it. */
function tableOwners(sources: readonly Source[]): ReadonlyMap<string, string> {
  const owners = new Map<string, string>();
  for (const source of sources.filter(inSrc))
    for (const { text } of source.nodes.flatMap((node) => sqlTextOf(node) ?? []))
      for (const [, table = ''] of text.matchAll(created)) owners.set(table, roomOf(source.path));
  return owners;
}

/** Tables that a file of another room names in its SQL, and exceptions that nothing needs. */
export function tableViolations(
  sources: readonly Source[],
  exceptions: Readonly<Record<string, TableException>> = {},
): string[] {
  const owners = tableOwners(sources);
  const unneeded = new Set(
    Object.entries(exceptions).flatMap(([path, { tables }]) =>
      tables.map((table) => `${path} needs no exception for ${table}`),
    ),
  );
  const found = sources.filter(inSrc).flatMap((source) =>
    foreignTables(source, owners).filter(({ table }) => {
      unneeded.delete(`${source.path} needs no exception for ${table}`);
      return exceptions[source.path]?.tables.includes(table) !== true;
    }),
  );
  return [...found.map(({ finding }) => finding), ...unneeded];
}

function foreignTables(
  source: Source,
  owners: ReadonlyMap<string, string>,
): readonly { readonly table: string; readonly finding: string }[] {
  const room = roomOf(source.path);
  return source.nodes.flatMap((node) => {
    const { text, start } = sqlTextOf(node) ?? { text: '', start: 0 };
    const named = [...text.matchAll(clause)].flatMap(([, list = '']) =>
      list.split(/,\s*/).map((item) => item.split(/\s+/)[0] ?? ''),
    );
    return [...new Set(named)].flatMap((table) => {
      const owner = owners.get(table) ?? room;
      const finding = `${source.path}:${lineOf(source, start)}: ${table} belongs to ${owner}/`;
      return owner === room ? [] : [{ table, finding }];
    });
  });
}

const inSrc = ({ path }: Source): boolean => path.startsWith('src/') && !isTest(path);
