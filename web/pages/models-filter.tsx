import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import type { ModelRow, ModelsView } from '../../src/console/contract.ts';
import { Choice } from '../components/choice.tsx';
import { Select, TextInput } from '../components/field.tsx';
import { Segments } from '../components/segments.tsx';
import { formatCompact } from '../format/count.ts';
import { priceText } from '../format/price.ts';
import { modelsWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { useLanguage } from '../words/language.ts';
import { isSameVendor, useVendorName, vendorsByName, vendorText } from '../words/vendor-names.ts';
import { abilities, type Ability, hasAbility } from './model-facts.tsx';
import { kindsOf, sortsOnPhone, tokenRate } from './model-parts.tsx';

/** `can`: abilities with commas between; `context`: tokens at least; `price`: yuan at most. */
export const marketDefaults = {
  group: '',
  kind: '',
  vendor: '',
  can: '',
  context: '',
  price: '',
  q: '',
  sort: 'model',
  view: 'cards',
  compare: '',
  show: '',
};
export type MarketSearch = typeof marketDefaults;

/** Filters that are set to nothing. */
export const unfiltered = { kind: '', vendor: '', can: '', context: '', price: '', q: '' };

type Changing = (change: Partial<MarketSearch>, options?: { readonly replace?: boolean }) => void;

export interface FiltersProps {
  readonly view: ModelsView;
  readonly state: MarketSearch;
  readonly onChange: Changing;
}

const contexts = [32_000, 128_000, 200_000, 1_000_000] as const;
/** Yuan for a million input tokens. */
const prices = ['1', '5', '20', '50'] as const;

const sorts = [
  ...sortsOnPhone,
  ['first', 'first'],
  ['-pace', 'pace'],
  ['-uptime', 'uptime'],
] as const;

const abilitiesIn = (can: string): readonly Ability[] =>
  abilities.filter((ability) => can.split(',').includes(ability));

export function matchesFilter(model: ModelRow, state: MarketSearch): boolean {
  const { id, vendor, kind, context } = model;
  const text = `${id.toLowerCase()} ${vendorText(vendor)}`;
  const wanted = state.q.toLowerCase().split(/\s+/);
  const rate = tokenRate(model, 'input');
  return (
    wanted.every((part) => text.includes(part)) &&
    (state.kind === '' || kind === state.kind) &&
    (state.vendor === '' || isSameVendor(vendor, state.vendor)) &&
    abilitiesIn(state.can).every((ability) => hasAbility(model, ability)) &&
    (state.context === '' || (context ?? 0) >= Number(state.context)) &&
    (state.price === '' || isAtMost(rate, state.price))
  );
}

/** `rate` is nano-yuan for a million tokens. An address can name any price: only digits count. */
const isAtMost = (rate: bigint | null, yuan: string): boolean =>
  rate !== null && rate <= BigInt(yuan.replace(/\D/g, '') || '0') * 1_000_000_000n;

export function Filters({ view, state, onChange }: FiltersProps): ReactNode {
  const words = useWords(modelsWords);
  return (
    <div className="flex flex-col gap-2">
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
        <Choices view={view} state={state} onChange={onChange} />
        <div className="col-span-2 md:ml-auto">
          <Segments
            label={words.view}
            value={state.view === 'table' ? 'table' : 'cards'}
            onChange={(next) => onChange({ view: next })}
            options={[
              ['cards', words.views.cards],
              ['table', words.views.table],
            ]}
          />
        </div>
      </div>
      <div className="flex flex-wrap items-center gap-2">
        <AbilityToggles state={state} onChange={onChange} />
        <Order view={view} state={state} onChange={onChange} />
      </div>
    </div>
  );
}

function Choices({ view, state, onChange }: FiltersProps): ReactNode {
  const words = useWords(modelsWords);
  const language = useLanguage();
  const nameOf = useVendorName();
  const vendors = vendorsByName(
    view.items.map(({ vendor }) => vendor),
    language,
  );
  return (
    <>
      <Choice
        label={words.kind}
        value={state.kind}
        any={words.anyKind}
        options={kindsOf(view.items).map((kind) => [kind, words.kinds[kind]])}
        className="md:w-36"
        onChange={(kind) => onChange({ kind })}
      />
      <Choice
        label={words.vendor}
        value={vendors.find((vendor) => isSameVendor(vendor, state.vendor)) ?? state.vendor}
        any={words.allVendors}
        options={vendors.map((vendor) => [vendor, nameOf(vendor)])}
        className="md:w-40"
        onChange={(vendor) => onChange({ vendor })}
      />
      <Choice
        label={words.columns.context}
        value={state.context}
        any={words.anyContext}
        options={contexts.map((tokens) => [
          String(tokens),
          words.contextFrom(formatCompact(tokens, language)),
        ])}
        className="md:w-48"
        onChange={(context) => onChange({ context })}
      />
      <Choice
        label={words.columns.input}
        value={state.price}
        any={words.anyPrice}
        options={prices.map((yuan) => [yuan, words.priceUpTo(priceText(yuan))])}
        className="md:w-52"
        onChange={(price) => onChange({ price })}
      />
    </>
  );
}

function AbilityToggles({ state, onChange }: Omit<FiltersProps, 'view'>): ReactNode {
  const words = useWords(modelsWords);
  const chosen = abilitiesIn(state.can);
  const toggle = (ability: Ability) =>
    abilities.filter((each) => (each === ability ? !chosen.includes(each) : chosen.includes(each)));
  return (
    <div role="group" aria-label={words.can.label} className="flex flex-wrap gap-1.5">
      {abilities.map((ability) => (
        <button
          key={ability}
          type="button"
          aria-pressed={chosen.includes(ability)}
          data-tip={words.canHelp[ability]}
          onClick={() => onChange({ can: toggle(ability).join() })}
          className={clsx(
            'h-7 rounded-full border px-3 text-caption font-medium touch:h-10',
            chosen.includes(ability)
              ? 'border-accent bg-accent-soft text-accent'
              : 'border-edge bg-surface text-muted hover:text-text',
          )}
        >
          {words.can[ability]}
        </button>
      ))}
    </div>
  );
}

/** The order of the cards, and the group whose prices are shown. */
function Order({ view, state, onChange }: FiltersProps): ReactNode {
  const words = useWords(modelsWords);
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-2 max-md:w-full md:ml-auto">
      {state.view !== 'table' && (
        <Choice
          className="max-md:flex-1 md:w-60"
          label={words.sort}
          value={state.sort}
          options={sorts.map(([sort, name]) => [sort, words.sortBy(words.sorts[name])])}
          onChange={(sort) => onChange({ sort })}
        />
      )}
      {view.groups.length > 1 && (
        <label className="flex min-w-0 items-center gap-2 text-table max-md:flex-1">
          <span className="whitespace-nowrap text-muted max-md:sr-only">{words.group}</span>
          <Select
            className="min-w-0 flex-1 md:w-56"
            value={view.group}
            onChange={(event) => onChange({ group: event.target.value })}
          >
            {view.groups.map((group) => (
              <option key={group}>{group}</option>
            ))}
          </Select>
        </label>
      )}
    </div>
  );
}
