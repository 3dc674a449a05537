import { Fragment, type ReactNode } from 'react';
import type { ModelRow, ModelsView, UnitPrice } from '../../src/console/contract.ts';
import { data, queryClient, useData } from '../api/data.ts';
import { useSearchState } from '../browser/search-state.ts';
import { Button } from '../components/button.tsx';
import { EmptyState } from '../components/error-panel.tsx';
import { Select, TextInput } from '../components/field.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Page, Panel } from '../components/page.tsx';
import { Badge } from '../components/status-badge.tsx';
import { type Column, Table } from '../components/table.tsx';
import { formatCompact, formatCount } from '../format/count.ts';
import { priceText } from '../format/price.ts';
import { modelsWords, sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { useLanguage } from '../words/language.ts';
import {
  Aligned,
  Piece,
  decimalsOf,
  kindsOf,
  modelPath,
  sortsOnPhone,
  tokenPrice,
  tokenRate,
} from './model-parts.tsx';

const searchDefaults = { group: '', kind: '', vendor: '', q: '', sort: 'model' };
type Search = typeof searchDefaults;

export const ahead = () => void queryClient.prefetchQuery(data<ModelsView>('models'));

/** The models that can be called, with prices. */
export function ModelsPage(): ReactNode {
  const words = useWords(modelsWords);
  const [state, set] = useSearchState(searchDefaults);
  const models = useData<ModelsView>('models', { group: state.group || undefined });
  return (
    <Page
      title={words.title}
      wide
      note={<p className="text-caption text-muted">{words.perMillion}</p>}
    >
      <Loaded query={models}>
        {(view) => (
          <div className="flex flex-col gap-3">
            <Filters view={view} state={state} onChange={set} />
            <Panel flush>
              <Found
                view={view}
                state={state}
                onSort={(sort) => set({ sort }, { replace: true })}
                onClear={() => set({ kind: '', vendor: '', q: '' })}
              />
            </Panel>
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function Found({
  view,
  state,
  onSort,
  onClear,
}: {
  readonly view: ModelsView;
  readonly state: Search;
  readonly onSort: (sort: string) => void;
  readonly onClear: () => void;
}): ReactNode {
  const words = useWords(modelsWords);
  const { actions } = useWords(sharedWords);
  const rows = view.items.filter((model) => matches(model, state));
  return (
    <>
      <p role="status" className="border-b border-line px-4 py-2 text-caption text-muted">
        {words.found(formatCount(rows.length), formatCount(view.items.length))}
      </p>
      {rows.length === 0 ? (
        <EmptyState text={words.empty}>
          <Button onClick={onClear}>{actions.clearFilter}</Button>
        </EmptyState>
      ) : (
        <ModelTable rows={rows} group={state.group} sort={state.sort} onSort={onSort} />
      )}
    </>
  );
}

interface FiltersProps {
  readonly view: ModelsView;
  readonly state: Search;
  readonly onChange: (change: Partial<Search>, options?: { readonly replace?: boolean }) => void;
}

function Filters({ view, state, onChange }: FiltersProps): ReactNode {
  const words = useWords(modelsWords);
  const vendors = [...new Set(view.items.map(({ vendor }) => vendor))].toSorted();
  return (
    <div className="grid grid-cols-2 gap-2 md:flex md:flex-wrap md:items-center">
      <TextInput
        type="search"
        aria-label={words.search}
        placeholder={words.searchPlaceholder}
        data-shortcut="filter"
        value={state.q}
        onChange={(event) => onChange({ q: event.target.value }, { replace: true })}
        className="col-span-2 md:w-72"
      />
      <Select
        className="md:w-36"
        aria-label={words.kind}
        value={state.kind}
        onChange={(event) => onChange({ kind: event.target.value })}
      >
        <option value="">{`${words.kind}: ${words.kinds.all}`}</option>
        {kindsOf(view.items).map((kind) => (
          <option key={kind} value={kind}>
            {words.kinds[kind]}
          </option>
        ))}
      </Select>
      <Select
        className="md:w-44"
        aria-label={words.vendor}
        value={state.vendor}
        onChange={(event) => onChange({ vendor: event.target.value })}
      >
        <option value="">{words.allVendors}</option>
        {vendors.map((vendor) => (
          <option key={vendor}>{vendor}</option>
        ))}
      </Select>
      <Select
        className="md:hidden"
        aria-label={words.sort}
        value={state.sort}
        onChange={(event) => onChange({ sort: event.target.value })}
      >
        {sortsOnPhone.map(([sort, name]) => (
          <option key={sort} value={sort}>
            {words.sorts[name]}
          </option>
        ))}
      </Select>
      <label className="flex min-w-0 items-center gap-2 text-table md:ml-auto">
        <span className="whitespace-nowrap text-muted max-md:sr-only">{words.group}</span>
        <Select
          className="min-w-0 flex-1 md:w-44"
          value={view.group}
          onChange={(event) => onChange({ group: event.target.value })}
        >
          {view.groups.map((group) => (
            <option key={group}>{group}</option>
          ))}
        </Select>
      </label>
    </div>
  );
}

function matches({ id, vendor, kind }: ModelRow, state: Search): boolean {
  const text = `${id} ${vendor}`.toLowerCase();
  const wanted = state.q.toLowerCase().split(/\s+/);
  return (
    wanted.every((part) => text.includes(part)) &&
    (state.kind === '' || kind === state.kind) &&
    (state.vendor === '' || vendor === state.vendor)
  );
}

interface ModelTableProps {
  readonly rows: readonly ModelRow[];
  readonly group: string;
  readonly sort: string;
  readonly onSort: (sort: string) => void;
}

function ModelTable({ rows, group, sort, onSort }: ModelTableProps): ReactNode {
  const words = useWords(modelsWords);
  const { columns: names } = words;
  const priced = (of: 'input' | 'cached_input' | 'output', header: string): Column<ModelRow> => {
    const decimals = decimalsOf(rows.flatMap((model) => tokenPrice(model, of)?.amount ?? []));
    return {
      id: of,
      header,
      align: 'right',
      sortBy: (model) => tokenRate(model, of),
      cell: (model) => <TokenPrice price={tokenPrice(model, of)} decimals={decimals} />,
    };
  };
  const columns: readonly Column<ModelRow>[] = [
    ...useAboutColumns(),
    priced('input', names.input),
    priced('cached_input', names.cached),
    priced('output', names.output),
    { id: 'piece', header: names.piece, align: 'right', cell: (model) => <Piece model={model} /> },
  ];
  return (
    <Table
      label={words.title}
      rows={rows}
      rowKey={({ id }) => id}
      columns={columns}
      sort={sort}
      onSort={onSort}
      path={({ id }) => modelPath(id, group)}
      card={(model) => ({
        title: model.id,
        value: <span className="text-caption text-muted">{words.kinds[model.kind]}</span>,
        detail: (
          <>
            <CardPrice model={model} />
            <span className="ml-auto">{model.vendor}</span>
          </>
        ),
      })}
    />
  );
}

/** What the model is. */
function useAboutColumns(): readonly Column<ModelRow>[] {
  const words = useWords(modelsWords);
  const language = useLanguage();
  const { columns: names } = words;
  return [
    {
      id: 'model',
      header: names.model,
      sortBy: ({ id }) => id,
      cell: (model) => <ModelName model={model} />,
      className: 'max-w-96',
    },
    {
      id: 'vendor',
      header: names.vendor,
      sortBy: ({ vendor }) => vendor,
      cell: ({ vendor }) => vendor,
      className: 'text-muted',
    },
    {
      id: 'kind',
      header: names.kind,
      sortBy: ({ kind }) => words.kinds[kind],
      cell: ({ kind }) => words.kinds[kind],
    },
    {
      id: 'context',
      header: names.context,
      align: 'right',
      sortBy: ({ context }) => context,
      cell: ({ context }) =>
        context === null ? (
          <span className="text-faint">—</span>
        ) : (
          <span data-tip={words.tokens(formatCount(context))}>
            {formatCompact(context, language)}
          </span>
        ),
    },
  ];
}

function ModelName({ model: { id, modalities } }: { readonly model: ModelRow }): ReactNode {
  const words = useWords(modelsWords);
  const sees = modalities?.in.includes('image') === true && modalities.out.includes('text');
  return (
    <span className="flex items-center gap-2">
      <span className="truncate font-mono font-medium">{id}</span>
      {sees && <Badge>{words.seesImages}</Badge>}
    </span>
  );
}

function TokenPrice({
  price,
  decimals,
}: {
  readonly price: UnitPrice | undefined;
  readonly decimals: number;
}): ReactNode {
  return price === undefined ? (
    <span className="text-faint">—</span>
  ) : (
    <Aligned amount={price.amount} decimals={decimals} />
  );
}

function CardPrice({ model }: { readonly model: ModelRow }): ReactNode {
  const { columns } = useWords(modelsWords);
  const sides = (['input', 'output'] as const).flatMap((side) => {
    const price = tokenPrice(model, side);
    return price === undefined ? [] : [{ name: columns[side], text: priceText(price.amount) }];
  });
  if (sides.length === 0) return <Piece model={model} />;
  return (
    <span className="flex items-baseline gap-1 text-table text-text figures">
      {sides.map(({ name, text }) => (
        <Fragment key={name}>
          <span className="text-caption text-muted">{name}</span>
          {text}
        </Fragment>
      ))}
    </span>
  );
}
