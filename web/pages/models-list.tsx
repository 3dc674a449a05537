import { type ReactNode, useMemo } from 'react';
import type { ModelRow } from '../../src/console/contract.ts';
import { absent } from '../components/absent.tsx';
import { rowLinkLook } from '../components/button.tsx';
import { Checkbox } from '../components/field.tsx';
import { PathLink } from '../components/path-link.tsx';
import { sortedBy, type SortValue } from '../components/sorting.ts';
import { named } from '../components/named-columns.ts';
import { type Column, Table } from '../components/table.tsx';
import { formatCompact, formatCount } from '../format/count.ts';
import { priceText } from '../format/price.ts';
import { modelsWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { type Language, useLanguage } from '../words/language.ts';
import { useVendorName, vendorName } from '../words/vendor-names.ts';
import { AbilityBadges, AboutText, ModelId, speedTexts } from './model-facts.tsx';
import { modelPath, Piece, tokenPrice, tokenRate } from './model-parts.tsx';

/** The models that are chosen for the comparison. */
export interface Picking {
  readonly chosen: readonly string[];
  readonly full: boolean;
  readonly toggle: (id: string) => void;
  readonly clear: () => void;
}

interface ListProps {
  readonly rows: readonly ModelRow[];
  readonly group: string;
  readonly sort: string;
  readonly picking: Picking;
}

export function ModelCards({ rows, group, sort, picking }: ListProps): ReactNode {
  const words = useWords(modelsWords);
  const language = useLanguage();
  const sorted = useMemo(() => {
    const columns = Object.entries(sortingsIn(language));
    return sortedBy(
      rows,
      columns.map(([id, sortBy]) => ({ id, sortBy })),
      sort,
      language,
    );
  }, [rows, sort, language]);
  return (
    <ul
      aria-label={words.title}
      className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3 2xl:grid-cols-4"
    >
      {sorted.map((model) => (
        <ModelCard key={model.id} model={model} group={group} picking={picking} />
      ))}
    </ul>
  );
}

interface CardProps {
  readonly model: ModelRow;
  readonly group: string;
  readonly picking: Picking;
}

function ModelCard({ model, group, picking }: CardProps): ReactNode {
  const words = useWords(modelsWords);
  const language = useLanguage();
  const nameOf = useVendorName();
  const { id, vendor, kind, context } = model;
  return (
    // Cards out of view are not laid out before they are scrolled to.
    <li className="flex min-w-0 flex-col gap-2 rounded-card border border-line bg-surface p-4 [contain-intrinsic-height:auto_210px] [content-visibility:auto]">
      <header className="min-w-0">
        <h2 className="truncate text-body font-semibold" title={id}>
          <PathLink path={modelPath(id, group)} data-row-link className={rowLinkLook}>
            <bdi>{id}</bdi>
          </PathLink>
        </h2>
        <p className="truncate text-caption text-muted">
          {[
            words.kinds[kind],
            nameOf(vendor),
            ...(context === null ? [] : [words.contextOf(formatCompact(context, language))]),
          ].join(' · ')}
        </p>
      </header>
      <p className="line-clamp-2 text-table sm:min-h-10">
        <AboutText model={model} />
      </p>
      <p className="flex flex-wrap gap-1 empty:hidden sm:min-h-5 sm:empty:flex">
        <AbilityBadges model={model} />
      </p>
      <div className="mt-auto flex flex-col gap-2 border-t border-line pt-2">
        <CardPrice model={model} />
        <div className="flex items-center justify-between gap-2">
          <Speed model={model} />
          <Pick model={model} picking={picking}>
            <span className="whitespace-nowrap">{words.compare.short}</span>
          </Pick>
        </div>
      </div>
    </li>
  );
}

function Speed({ model }: { readonly model: ModelRow }): ReactNode {
  const words = useWords(modelsWords);
  const texts = speedTexts(words, model);
  if (texts.uptime === undefined)
    return <p className="text-caption text-muted">{words.speed.none}</p>;
  const parts = (['first', 'pace', 'uptime'] as const).flatMap((name) =>
    texts[name] === undefined ? [] : [{ name, text: texts[name] }],
  );
  return (
    <p className="flex flex-wrap gap-x-3 gap-y-0.5 text-caption text-muted figures">
      {parts.map(({ name, text }) => (
        <span key={name} data-tip={words.speed[`${name}Tip`]}>
          {words.speed[name]} <span className="text-text">{text}</span>
        </span>
      ))}
    </p>
  );
}

interface PickProps {
  readonly model: ModelRow;
  readonly picking: Picking;
  readonly children?: ReactNode;
}

function Pick({ model: { id }, picking, children }: PickProps): ReactNode {
  const { compare } = useWords(modelsWords);
  const { chosen, full, toggle } = picking;
  const on = chosen.includes(id);
  return (
    <Checkbox
      aria-label={compare.add(id)}
      checked={on}
      disabled={full && !on}
      {...(full && !on && { title: compare.full })}
      onChange={() => toggle(id)}
    >
      {children}
    </Checkbox>
  );
}

/** What cards are sorted by; a table's columns have the same ids. */
const sortingsIn = (language: Language) =>
  ({
    model: ({ id }) => id,
    vendor: ({ vendor }) => vendorName(vendor, language),
    kind: ({ kind }) => kind,
    context: ({ context }) => context,
    input: (model) => tokenRate(model, 'input'),
    cached_input: (model) => tokenRate(model, 'cached_input'),
    output: (model) => tokenRate(model, 'output'),
    first: ({ speed }) => speed?.first_byte_median_ms ?? null,
    pace: ({ speed }) => speed?.output_per_second ?? null,
    uptime: ({ speed }) => speed?.success_share ?? null,
  }) satisfies Readonly<Record<string, (model: ModelRow) => SortValue>>;

export function ModelTable({
  rows,
  group,
  sort,
  picking,
  onSort,
}: ListProps & { readonly onSort: (sort: string) => void }): ReactNode {
  const words = useWords(modelsWords);
  const nameOf = useVendorName();
  const columns = [
    ...useAboutColumns(),
    ...usePriceColumns(),
    ...useSpeedColumns(),
    {
      id: 'compare',
      header: words.compare.short,
      pinned: true as const,
      cell: (model: ModelRow) => <Pick model={model} picking={picking} />,
    },
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
        title: <ModelId id={model.id} />,
        value: <span className="text-caption text-muted">{words.kinds[model.kind]}</span>,
        detail: (
          <>
            <CardPrice model={model} />
            <span className="ml-auto">{nameOf(model.vendor)}</span>
          </>
        ),
        menu: <Pick model={model} picking={picking} />,
      })}
    />
  );
}

/** What the model is. */
function useAboutColumns(): readonly Column<ModelRow>[] {
  const words = useWords(modelsWords);
  const language = useLanguage();
  const nameOf = useVendorName();
  const { columns: names } = words;
  const sortings = sortingsIn(language);
  return named({ ...names, can: words.can.label }, [
    {
      id: 'model',
      sortBy: sortings.model,
      cell: ({ id }) => (
        <span className="font-medium">
          <ModelId id={id} />
        </span>
      ),
      className: 'max-w-72',
    },
    {
      id: 'vendor',
      sortBy: sortings.vendor,
      cell: ({ vendor }) => nameOf(vendor),
      className: 'text-muted max-xl:hidden',
    },
    {
      id: 'kind',
      sortBy: ({ kind }) => words.kinds[kind],
      cell: ({ kind }) => words.kinds[kind],
      className: 'max-2xl:hidden',
    },
    {
      id: 'can',
      cell: (model) => (
        <span className="flex gap-1">
          <AbilityBadges model={model} />
        </span>
      ),
      className: 'max-2xl:hidden',
    },
    {
      id: 'context',
      align: 'right',
      spare: 0,
      sortBy: sortings.context,
      cell: ({ context }) =>
        context === null ? (
          absent
        ) : (
          <span data-tip={words.tokens(formatCount(context))}>
            {formatCompact(context, language)}
          </span>
        ),
    },
  ]);
}

function usePriceColumns(): readonly Column<ModelRow>[] {
  const { columns: names } = useWords(modelsWords);
  const priced = (of: 'input' | 'cached_input' | 'output', header: string): Column<ModelRow> => ({
    id: of,
    header,
    amount: (model) => tokenPrice(model, of)?.amount ?? null,
    as: 'price',
    ...(of === 'cached_input' && { className: 'max-xl:hidden' }),
  });
  return [
    priced('input', names.input),
    priced('cached_input', names.cached),
    priced('output', names.output),
    {
      id: 'piece',
      header: names.piece,
      align: 'right',
      // What tools cost beside the tokens stands on the model's page.
      cell: (model) => (model.kind === 'chat' ? absent : <Piece model={model} />),
    },
  ];
}

const speedSpare = { pace: 3, first: 2, uptime: 1 } as const;

function useSpeedColumns(): readonly Column<ModelRow>[] {
  const words = useWords(modelsWords);
  const sortings = sortingsIn(useLanguage());
  return (['first', 'pace', 'uptime'] as const).map((name) => ({
    id: name,
    spare: speedSpare[name],
    header: <span data-tip={words.speed[`${name}Tip`]}>{words.speed[name]}</span>,
    align: 'right',
    sortBy: sortings[name],
    cell: (model) => speedTexts(words, model)[name] ?? absent,
    ...(name !== 'uptime' && { className: 'max-xl:hidden' }),
  }));
}

function CardPrice({ model }: { readonly model: ModelRow }): ReactNode {
  const { columns } = useWords(modelsWords);
  const sides = (['input', 'cached_input', 'output'] as const).flatMap((side) => {
    const price = tokenPrice(model, side);
    const name = side === 'cached_input' ? columns.cached : columns[side];
    return price === undefined ? [] : [{ name, text: priceText(price.amount) }];
  });
  if (sides.length === 0)
    return (
      <span className="text-table text-text">
        <Piece model={model} />
      </span>
    );
  return (
    <span className="flex flex-wrap items-baseline gap-x-3 text-table text-text figures">
      {sides.map(({ name, text }) => (
        <span key={name} className="whitespace-nowrap">
          <span className="text-caption text-muted">{name}</span> {text}
        </span>
      ))}
    </span>
  );
}
