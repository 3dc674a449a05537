import type { ReactNode } from 'react';
import type { List, OperatorModel } from '../../../src/console/contract.ts';
import { prefetch, useData } from '../../api/data.ts';
import { useSearchState } from '../../browser/search-state.ts';
import { ButtonLink, CreateButton } from '../../components/button.tsx';
import { Choice } from '../../components/choice.tsx';
import { TextInput } from '../../components/field.tsx';
import { ListPanel } from '../../components/list-panel.tsx';
import { Page } from '../../components/page.tsx';
import { Badge } from '../../components/status-badge.tsx';
import { named } from '../../components/named-columns.ts';
import { type Column, Table } from '../../components/table.tsx';
import { priceText } from '../../format/price.ts';
import { modelsWords, priceWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { kindsOf, Piece, sortsOnPhone, tokenPrice, useLineName } from '../model-parts.tsx';
import { NewModel } from './model-form.tsx';
import { operatorModelPath, useChannelName } from './model-parts.ts';

const noFilter = { q: '', kind: '', listed: '' };
const searchDefaults = { ...noFilter, sort: 'model', form: '' };
type Search = Readonly<Record<keyof typeof searchDefaults, string>>;

export const ahead = () => prefetch('operator/models');

/** The models that are or were sold, at base prices. */
export function OperatorModelsPage(): ReactNode {
  const { models: words } = useWords(priceWords);
  const models = useData<List<OperatorModel>>('operator/models');
  const search = useSearchState(searchDefaults);
  const [state, setState] = search;
  return (
    <Page
      title={words.title}
      wide
      note={<p className="text-caption text-muted">{words.perMillion}</p>}
      actions={
        <>
          <ButtonLink icon="up" to="/operator/models/import">
            {words.import}
          </ButtonLink>
          <CreateButton onClick={() => setState({ form: 'new' })}>{words.add}</CreateButton>
        </>
      }
    >
      <Filters models={models.data?.items ?? []} state={state} onChange={setState} />
      <ListPanel
        query={models}
        search={search}
        noFilter={noFilter}
        keep={(model) => matches(model, state)}
        empty={words.empty}
        nothing={words.nothing}
      >
        {(rows) => (
          <ModelTable
            models={rows}
            sort={state.sort}
            onSort={(sort) => setState({ sort }, { replace: true })}
          />
        )}
      </ListPanel>
      {state.form === 'new' && <NewModel onClose={() => setState({ form: '' })} />}
    </Page>
  );
}

interface FiltersProps {
  readonly models: readonly OperatorModel[];
  readonly state: Search;
  readonly onChange: (change: Partial<Search>, options?: { readonly replace?: boolean }) => void;
}

function Filters({ models, state, onChange }: FiltersProps): ReactNode {
  const { models: words } = useWords(priceWords);
  const { anyKind, kinds, sort: sortLabel, sortBy, sorts } = useWords(modelsWords);
  return (
    <div className="grid grid-cols-2 gap-2 md:flex">
      <TextInput
        type="search"
        aria-label={words.search}
        placeholder={words.searchPlaceholder}
        data-shortcut="filter"
        className="max-md:col-span-2 md:max-w-72"
        value={state.q}
        onChange={({ target }) => onChange({ q: target.value }, { replace: true })}
      />
      <Choice
        className="md:w-40"
        label={words.kind}
        value={state.kind}
        any={anyKind}
        options={kindsOf(models).map((kind) => [kind, kinds[kind]])}
        onChange={(kind) => onChange({ kind })}
      />
      <Choice
        className="md:w-44"
        label={words.listed}
        value={state.listed}
        any={words.states.all}
        options={(['active', 'retired', 'unserved', 'retiring'] as const).map((each) => [
          each,
          words.states[each],
        ])}
        onChange={(listed) => onChange({ listed })}
      />
      <Choice
        className="max-md:col-span-2 md:hidden"
        label={sortLabel}
        value={state.sort}
        options={sortsOnPhone
          .filter(([sort]) => sort !== '-context')
          .map(([sort, name]) => [sort, sortBy(sorts[name])])}
        onChange={(sort) => onChange({ sort })}
      />
    </div>
  );
}

function matches(model: OperatorModel, { q, kind: wanted, listed }: Search): boolean {
  const { id, vendor, channels, served, kind, active, shutdown_date: ends } = model;
  const text = [id, vendor, ...channels].join(' ').toLowerCase();
  const states = [
    '',
    active ? 'active' : 'retired',
    ...(active && !served ? ['unserved'] : []),
    ...(active && channels.length > 0 && ends !== null ? ['retiring'] : []),
  ];
  return (
    text.includes(q.toLowerCase().trim()) && ['', kind].includes(wanted) && states.includes(listed)
  );
}

interface ModelTableProps {
  readonly models: readonly OperatorModel[];
  readonly sort: string;
  readonly onSort: (sort: string) => void;
}

function useModelColumns(): readonly Column<OperatorModel>[] {
  const { models: words } = useWords(priceWords);
  const { kinds } = useWords(modelsWords);
  const { columns } = words;
  const token = (
    id: 'input' | 'cached_input' | 'output',
    header: string,
  ): Column<OperatorModel> => ({
    id,
    header,
    amount: (model) => tokenPrice(model, id)?.amount ?? null,
    as: 'price',
    ...(id === 'cached_input' && { spare: 3 }),
  });
  return [
    {
      id: 'model',
      header: columns.model,
      sortBy: ({ id }) => id,
      cell: ({ id }) => (
        <span className="block max-w-60 truncate font-medium xl:max-w-80">{id}</span>
      ),
    },
    {
      id: 'kind',
      header: columns.kind,
      sortBy: ({ kind }) => kinds[kind],
      spare: 2,
      cell: ({ kind }) => kinds[kind],
    },
    token('input', columns.input),
    token('cached_input', columns.cached),
    token('output', columns.output),
    {
      id: 'piece',
      header: columns.piece,
      align: 'right',
      cell: (model) => <Piece model={model} />,
    },
    ...useSaleColumns(),
  ];
}

function ModelTable({ models, sort, onSort }: ModelTableProps): ReactNode {
  const { models: words } = useWords(priceWords);
  const { kinds } = useWords(modelsWords);
  const columns = useModelColumns();
  return (
    <Table
      label={words.title}
      rows={models}
      rowKey={({ id }) => id}
      columns={columns}
      sort={sort}
      onSort={onSort}
      path={({ id }) => operatorModelPath(id)}
      card={(model) => ({
        title: model.id,
        value: `${words.columns.version} ${model.price_version}`,
        detail: (
          <>
            <span>{kinds[model.kind]}</span>
            <PriceLine model={model} />
            <ModelBadge model={model} />
          </>
        ),
      })}
    />
  );
}

/** How the model is sold. */
function useSaleColumns(): readonly Column<OperatorModel>[] {
  const { models: words } = useWords(priceWords);
  const nameOf = useChannelName();
  const { columns } = words;
  return named(columns, [
    {
      id: 'version',
      align: 'right',
      sortBy: (model) => model.price_version,
      spare: 4,
      cell: (model) => words.version(model.price_version),
    },
    {
      id: 'channels',
      sortBy: ({ channels }) => channels.length,
      spare: 1,
      cell: (model) => (
        <span className="block max-w-44 truncate 2xl:max-w-60">
          {model.channels.map((name) => nameOf(model, name)).join(' · ') || '—'}
        </span>
      ),
    },
    { id: 'state', cell: (model) => <ModelBadge model={model} /> },
  ]);
}

function PriceLine({ model }: { readonly model: OperatorModel }): ReactNode {
  const nameOf = useLineName();
  const input = tokenPrice(model, 'input');
  const output = tokenPrice(model, 'output');
  const prices = [input, output].filter((price) => price !== undefined);
  if (prices.length === 0) return <Piece model={model} />;
  const texts = prices.map((price) => `${nameOf(price)} ${priceText(price.amount)}`);
  return <span className="figures">{texts.join(' · ')}</span>;
}

/** Badges only for what is not in order; a cell left blank would read as unknown. */
function ModelBadge({ model }: { readonly model: OperatorModel }): ReactNode {
  const { models: words, model: notes } = useWords(priceWords);
  const { active, served, shutdown_date: ends } = model;
  if (!active)
    return (
      <span className="inline-flex max-w-full" data-tip={notes.retiredNote}>
        <Badge icon="pause">{words.retired}</Badge>
      </span>
    );
  if (!served)
    return (
      <Badge icon="warning" tone="warn">
        {words.unserved}
      </Badge>
    );
  if (ends === null) return <span className="text-muted">{words.states.active}</span>;
  return (
    <Badge icon="clock" tone="warn">
      {words.retiring(ends)}
    </Badge>
  );
}
