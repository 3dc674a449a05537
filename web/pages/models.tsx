import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import type { ModelRow, ModelsView } from '../../src/console/contract.ts';
import { prefetch, useData } from '../api/data.ts';
import { useSearchState } from '../browser/search-state.ts';
import { Button, IconButton } from '../components/button.tsx';
import { EmptyState } from '../components/error-panel.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Page, Panel } from '../components/page.tsx';
import { formatCount } from '../format/count.ts';
import { modelsWords, sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { ModelId } from './model-facts.tsx';
import { modelsAddress, useWithoutLostGroup } from './model-parts.tsx';
import { Comparison } from './models-compare.tsx';
import {
  Filters,
  type FiltersProps,
  marketDefaults,
  type MarketSearch,
  matchesFilter,
  unfiltered,
} from './models-filter.tsx';
import { ModelCards, ModelTable, type Picking } from './models-list.tsx';

export const ahead = () => prefetch(modelsAddress());

const comparedMax = 4;

/** Ids may contain every character: a comma in one is escaped. */
const idsIn = (list: string): readonly string[] =>
  list
    .split(',')
    .filter(Boolean)
    .map((id) => id.replaceAll('%2C', ',').replaceAll('%25', '%'));
const listOf = (ids: readonly string[]): string =>
  ids.map((id) => id.replaceAll('%', '%25').replaceAll(',', '%2C')).join();

const defaults = new Map<string, string>(Object.entries(marketDefaults));

/** The market as it was before the comparison, with what is chosen. */
function listPath(state: MarketSearch): string {
  const kept = Object.entries({ ...state, show: '' }).filter(
    ([name, value]) => value !== defaults.get(name),
  );
  return kept.length === 0 ? '/models' : `/models?${new URLSearchParams(kept)}`;
}

/** The models that can be called, with prices, abilities and speed. */
export function ModelsPage(): ReactNode {
  const words = useWords(modelsWords);
  const [state, set] = useSearchState(marketDefaults);
  const models = useData<ModelsView>(modelsAddress(), { group: state.group || undefined });
  useWithoutLostGroup(models.error, state.group, set);
  const ids = idsIn(state.compare);
  const chosen =
    models.data?.items.filter(({ id }) => ids.includes(id)).slice(0, comparedMax) ?? [];
  const pick = (next: readonly string[]) => set({ compare: listOf(next) }, { replace: true });
  const picked = chosen.map(({ id }) => id);
  const picking: Picking = {
    chosen: picked,
    full: chosen.length >= comparedMax,
    toggle: (id) =>
      pick(picked.includes(id) ? picked.filter((each) => each !== id) : [...picked, id]),
    clear: () => pick([]),
  };
  const comparing = state.show === 'comparison';
  return (
    <Page
      title={comparing ? words.compare.title : words.title}
      above={comparing ? [{ label: words.title, to: listPath(state) }] : []}
      wide
      note={<p className="text-caption text-muted">{words.perMillion}</p>}
    >
      <Loaded query={models}>
        {(view) =>
          comparing ? (
            <Comparison models={chosen} group={state.group} picking={picking} />
          ) : (
            <div className="flex flex-col gap-3">
              <Filters view={view} state={state} onChange={set} />
              <Found view={view} state={state} onChange={set} picking={picking} />
              <Chosen
                models={chosen}
                picking={picking}
                onCompare={() => set({ show: 'comparison' })}
              />
            </div>
          )
        }
      </Loaded>
    </Page>
  );
}

function Found({
  view,
  state,
  onChange,
  picking,
}: FiltersProps & { readonly picking: Picking }): ReactNode {
  const words = useWords(modelsWords);
  const { actions } = useWords(sharedWords);
  const rows = view.items.filter((model) => matchesFilter(model, state));
  const asTable = state.view === 'table';
  const boxed = asTable || rows.length === 0;
  const found = (
    <p
      role="status"
      className={clsx('text-caption text-muted', boxed && 'border-b border-line px-4 py-2')}
    >
      {words.found(formatCount(rows.length), formatCount(view.items.length))}
    </p>
  );
  if (rows.length === 0)
    return (
      <Panel flush>
        {found}
        <EmptyState text={words.empty}>
          <Button onClick={() => onChange(unfiltered)}>{actions.clearFilter}</Button>
        </EmptyState>
      </Panel>
    );
  const list = { rows, group: state.group, sort: state.sort, picking };
  if (!asTable)
    return (
      <>
        {found}
        <ModelCards {...list} />
      </>
    );
  return (
    <Panel flush>
      {found}
      <ModelTable {...list} onSort={(sort) => onChange({ sort }, { replace: true })} />
    </Panel>
  );
}

interface ChosenProps {
  readonly models: readonly ModelRow[];
  readonly picking: Picking;
  readonly onCompare: () => void;
}

/** The bar at the bottom with the models that are chosen for the comparison. */
function Chosen({ models, picking, onCompare }: ChosenProps): ReactNode {
  const { compare } = useWords(modelsWords);
  if (models.length === 0) return null;
  return (
    <section
      aria-label={compare.chosen}
      className="sticky bottom-3 z-40 flex flex-wrap items-center gap-2 rounded-card border border-line bg-surface p-2 shadow-overlay max-md:bottom-18"
    >
      <ul className="flex min-w-0 flex-1 flex-wrap gap-1.5">
        {models.map(({ id }) => (
          <li
            key={id}
            className="flex max-w-56 items-center gap-1 rounded-badge bg-idle-soft py-0.5 pr-0.5 pl-2 text-caption max-md:max-w-36"
          >
            <span className="truncate">
              <ModelId id={id} />
            </span>
            <IconButton
              icon="close"
              size="small"
              label={compare.remove(id)}
              onClick={() => picking.toggle(id)}
            />
          </li>
        ))}
      </ul>
      {picking.full && <p className="text-caption text-muted">{compare.full}</p>}
      <Button look="ghost" onClick={picking.clear}>
        {compare.clear}
      </Button>
      <Button look="primary" onClick={onCompare}>
        {compare.open(models.length)}
      </Button>
    </section>
  );
}
