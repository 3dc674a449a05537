import type { ReactNode } from 'react';
import type { List, OperatorModel } from '../../../src/console/contract.ts';
import { data, queryClient, useData } from '../../api/data.ts';
import { useSearchState } from '../../browser/search-state.ts';
import { Button, ButtonLink, CreateButton } from '../../components/button.tsx';
import { EmptyState } from '../../components/error-panel.tsx';
import { Select, TextInput } from '../../components/field.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Page, Panel } from '../../components/page.tsx';
import { Badge } from '../../components/status-badge.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { longestFraction, padFraction } from '../../format/money.ts';
import { priceText } from '../../format/price.ts';
import { modelsWords, priceWords, sharedWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { kindsOf, Piece, sortsOnPhone, tokenPrice, tokenRate } from '../model-parts.tsx';
import { NewModel } from './model-form.tsx';
import { operatorModelPath } from './model-parts.ts';

const searchDefaults = { q: '', kind: '', listed: '', sort: 'model', form: '' };
type Search = Readonly<Record<keyof typeof searchDefaults, string>>;

export const ahead = () =>
  void queryClient.prefetchQuery(data<List<OperatorModel>>('operator/models'));

/** The models that are or were sold, at base prices. */
export function OperatorModelsPage(): ReactNode {
  const { models: words } = useWords(priceWords);
  const models = useData<List<OperatorModel>>('operator/models');
  const [state, setState] = useSearchState(searchDefaults);
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
      <Loaded query={models}>
        {({ items }) => <Listed models={items} state={state} onChange={setState} />}
      </Loaded>
      {state.form === 'new' && <NewModel onClose={() => setState({ form: '' })} />}
    </Page>
  );
}

interface ListedProps {
  readonly models: readonly OperatorModel[];
  readonly state: Search;
  readonly onChange: (change: Partial<Search>, options?: { readonly replace?: boolean }) => void;
}

function Listed({ models, state, onChange }: ListedProps): ReactNode {
  const { models: words } = useWords(priceWords);
  const { actions } = useWords(sharedWords);
  const rows = models.filter((model) => matches(model, state));
  return (
    <div className="flex flex-col gap-3">
      <Filters models={models} state={state} onChange={onChange} />
      <Panel flush>
        {rows.length > 0 && (
          <ModelTable
            models={rows}
            sort={state.sort}
            onSort={(sort) => onChange({ sort }, { replace: true })}
          />
        )}
        {models.length === 0 && <EmptyState text={words.empty} />}
        {models.length > 0 && rows.length === 0 && (
          <EmptyState text={words.nothing}>
            <Button onClick={() => onChange({ q: '', kind: '', listed: '' })}>
              {actions.clearFilter}
            </Button>
          </EmptyState>
        )}
      </Panel>
    </div>
  );
}

function Filters({ models, state, onChange }: ListedProps): ReactNode {
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
      <Select
        className="md:w-40"
        aria-label={words.kind}
        value={state.kind}
        onChange={({ target }) => onChange({ kind: target.value })}
      >
        <option value="">{anyKind}</option>
        {kindsOf(models).map((kind) => (
          <option key={kind} value={kind}>
            {kinds[kind]}
          </option>
        ))}
      </Select>
      <Select
        className="md:w-44"
        aria-label={words.listed}
        value={state.listed}
        onChange={({ target }) => onChange({ listed: target.value })}
      >
        <option value="">{words.states.all}</option>
        {(['active', 'retired', 'unserved'] as const).map((each) => (
          <option key={each} value={each}>
            {words.states[each]}
          </option>
        ))}
      </Select>
      <Select
        className="max-md:col-span-2 md:hidden"
        aria-label={sortLabel}
        value={state.sort}
        onChange={({ target }) => onChange({ sort: target.value })}
      >
        {sortsOnPhone
          .filter(([sort]) => sort !== '-context')
          .map(([sort, name]) => (
            <option key={sort} value={sort}>
              {sortBy(sorts[name])}
            </option>
          ))}
      </Select>
    </div>
  );
}

function matches(
  { id, vendor, channels, kind, active }: OperatorModel,
  { q, kind: wanted, listed }: Search,
): boolean {
  const text = [id, vendor, ...channels].join(' ').toLowerCase();
  const states = [
    '',
    active ? 'active' : 'retired',
    ...(active && channels.length === 0 ? ['unserved'] : []),
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

function useModelColumns(models: readonly OperatorModel[]): readonly Column<OperatorModel>[] {
  const { models: words } = useWords(priceWords);
  const { kinds } = useWords(modelsWords);
  const { columns } = words;
  const token = (
    id: 'input' | 'cached_input' | 'output',
    header: string,
  ): Column<OperatorModel> => {
    const texts = new Map(models.flatMap((model) => tokenText(model, id)));
    const places = longestFraction([...texts.values()]);
    const cell = (model: OperatorModel) =>
      padFraction(texts.get(model.id) ?? '—', texts.has(model.id) ? places : 0);
    const sortBy = (model: OperatorModel) => tokenRate(model, id);
    const spare = id === 'cached_input' && { spare: 3 };
    return { id, header, align: 'right', sortBy, cell, ...spare };
  };
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
  const columns = useModelColumns(models);
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
        value: words.version(model.price_version),
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
  const { columns } = words;
  return [
    {
      id: 'version',
      header: columns.version,
      align: 'right',
      sortBy: (model) => model.price_version,
      spare: 4,
      cell: (model) => words.version(model.price_version),
    },
    {
      id: 'channels',
      header: columns.channels,
      sortBy: ({ channels }) => channels.length,
      spare: 1,
      cell: ({ channels }) => (
        <span className="block max-w-60 truncate">{channels.join(' · ')}</span>
      ),
    },
    { id: 'state', header: columns.state, cell: (model) => <ModelBadge model={model} /> },
  ];
}

function tokenText(
  model: OperatorModel,
  of: 'input' | 'cached_input' | 'output',
): readonly (readonly [string, string])[] {
  const price = tokenPrice(model, of);
  return price === undefined ? [] : [[model.id, priceText(price.amount)]];
}

function PriceLine({ model }: { readonly model: OperatorModel }): ReactNode {
  const input = tokenPrice(model, 'input');
  const output = tokenPrice(model, 'output');
  if (input === undefined || output === undefined) return <Piece model={model} />;
  return (
    <span className="figures">
      {priceText(input.amount)} · {priceText(output.amount)}
    </span>
  );
}

/** Only for a model that is not in order. */
export function ModelBadge({
  model: { active, channels, shutdown_date: ends },
}: {
  readonly model: OperatorModel;
}): ReactNode {
  const { models: words } = useWords(priceWords);
  if (!active) return <Badge icon="pause">{words.retired}</Badge>;
  if (channels.length === 0)
    return (
      <Badge icon="warning" tone="warn">
        {words.unserved}
      </Badge>
    );
  return (
    ends !== null && (
      <Badge icon="clock" tone="warn">
        {words.retiring(ends)}
      </Badge>
    )
  );
}
