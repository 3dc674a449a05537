import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import type { ModelRow } from '../../src/console/contract.ts';
import { absent } from '../components/absent.tsx';
import { buttonLook, IconButton, linkLook } from '../components/button.tsx';
import { EmptyState } from '../components/error-panel.tsx';
import { Icon } from '../components/icon.tsx';
import { Panel } from '../components/page.tsx';
import { PathLink } from '../components/path-link.tsx';
import { Badge } from '../components/status-badge.tsx';
import { formatCount } from '../format/count.ts';
import { priceText } from '../format/price.ts';
import { modelsWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { useVendorName } from '../words/vendor-names.ts';
import {
  abilities,
  AboutText,
  contentsOf,
  hasAbility,
  ModelId,
  speedTexts,
} from './model-facts.tsx';
import { modelPath, Piece, tokenPrice, tokenRate } from './model-parts.tsx';
import type { Picking } from './models-list.tsx';

interface ComparisonProps {
  readonly models: readonly ModelRow[];
  readonly group: string;
  readonly picking: Picking;
}

interface Line {
  readonly name: string;
  readonly cell: (model: ModelRow) => ReactNode;
  /** The model with the least of it is marked; null: it is not compared. */
  readonly least?: (model: ModelRow) => bigint | number | null;
}

/** Up to four models side by side: a line for each fact. */
export function Comparison({ models, group, picking }: ComparisonProps): ReactNode {
  const { compare } = useWords(modelsWords);
  const lines = useLines();
  if (models.length === 0)
    return (
      <Panel>
        <EmptyState text={compare.empty} />
      </Panel>
    );
  return (
    <div className="flex flex-col gap-3">
      <Panel flush>
        <div className="overflow-x-auto" role="region" aria-label={compare.title} tabIndex={0}>
          <table className="w-full border-separate border-spacing-0 text-table">
            <thead>
              <tr>
                <td className="sticky left-0 z-10 bg-sunken">
                  <span className="sr-only">{compare.title}</span>
                </td>
                {models.map(({ id }) => (
                  <th
                    key={id}
                    scope="col"
                    className="w-1/4 min-w-44 bg-sunken md:min-w-36 px-3 py-2 text-left align-top font-semibold"
                  >
                    <span className="flex items-start justify-between gap-1">
                      <PathLink
                        path={modelPath(id, group)}
                        className={clsx('py-1 break-all', linkLook)}
                      >
                        <ModelId id={id} />
                      </PathLink>
                      <IconButton
                        icon="close"
                        size="small"
                        label={compare.remove(id)}
                        onClick={() => picking.toggle(id)}
                      />
                    </span>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {lines.map((line) => (
                <LineRow key={line.name} line={line} models={models} />
              ))}
            </tbody>
          </table>
        </div>
      </Panel>
      <Beside models={models} />
    </div>
  );
}

function LineRow({
  line: { name, cell, least },
  models,
}: {
  readonly line: Line;
  readonly models: readonly ModelRow[];
}): ReactNode {
  const { compare } = useWords(modelsWords);
  const values = models.flatMap((model) => least?.(model) ?? []);
  const best = values.reduce<bigint | number | undefined>(
    (lowest, value) => (lowest === undefined || value < lowest ? value : lowest),
    undefined,
  );
  const stands = values.length > 1 && values.some((value) => value !== best);
  return (
    <tr>
      <th
        scope="row"
        className="sticky left-0 z-10 border-t border-line bg-surface px-3 py-2 text-left align-top font-normal text-muted md:px-4"
      >
        <span className="block w-24 md:w-28 xl:w-44">{name}</span>
      </th>
      {models.map((model) => (
        <td key={model.id} className="border-t border-line px-3 py-2 align-top figures">
          <span className="flex flex-wrap items-center gap-1.5">
            {cell(model)}
            {stands && least?.(model) === best && <Badge tone="good">{compare.best}</Badge>}
          </span>
        </td>
      ))}
    </tr>
  );
}

const negated = (value: number | null | undefined): number | null =>
  value == null ? null : -value;

function useLines(): readonly Line[] {
  const words = useWords(modelsWords);
  const { compare, columns, can, canHelp } = words;
  const vendorNameOf = useVendorName();
  const listed = (names: readonly string[] | undefined) =>
    names?.map((name) => words.modalities[name] ?? name).join(words.comma) ?? absent;
  const price = (of: 'input' | 'cached_input' | 'output', name: string): Line => ({
    name: `${name}, ${words.perMillion}`,
    cell: (model) => {
      const found = tokenPrice(model, of);
      return found === undefined ? absent : priceText(found.amount);
    },
    least: (model) => tokenRate(model, of),
  });
  return [
    { name: compare.about, cell: (model) => <AboutText model={model} /> },
    { name: columns.kind, cell: ({ kind }) => words.kinds[kind] },
    { name: columns.vendor, cell: ({ vendor }) => vendorNameOf(vendor) },
    {
      name: columns.context,
      cell: ({ context }) => (context === null ? absent : words.tokens(formatCount(context))),
      least: ({ context }) => negated(context),
    },
    {
      name: words.outputMax,
      cell: ({ output_tokens_max: most }) =>
        most === null ? absent : words.tokens(formatCount(most)),
      least: ({ output_tokens_max: most }) => negated(most),
    },
    { name: words.takes, cell: (model) => listed(contentsOf(model)?.in) },
    { name: words.gives, cell: (model) => listed(contentsOf(model)?.out) },
    ...abilities.map((ability) => ({
      name: can[ability],
      cell: (model: ModelRow) => <Yes is={hasAbility(model, ability)} tip={canHelp[ability]} />,
    })),
    price('input', columns.input),
    price('cached_input', columns.cached),
    price('output', columns.output),
    {
      name: columns.piece,
      // What tools cost beside the tokens stands on the model's page.
      cell: (model) => (model.kind === 'chat' ? absent : <Piece model={model} />),
    },
    {
      name: words.firstByte,
      cell: (model) => speedTexts(words, model).first ?? absent,
      least: (model) => model.speed?.first_byte_median_ms ?? null,
    },
    {
      name: words.pace,
      cell: (model) => speedTexts(words, model).pace ?? absent,
      least: (model) => negated(model.speed?.output_per_second),
    },
    {
      name: words.success,
      cell: (model) => speedTexts(words, model).uptime ?? absent,
      least: (model) => negated(model.speed?.success_share),
    },
  ];
}

function Yes({ is, tip }: { readonly is: boolean; readonly tip: string }): ReactNode {
  const { compare } = useWords(modelsWords);
  return (
    <span data-tip={tip} className={is ? 'flex items-center gap-1' : 'text-muted'}>
      {is && <Icon name="check" className="text-good" />}
      {is ? compare.yes : compare.no}
    </span>
  );
}

/** Chat models answer one question side by side in the playground. */
function Beside({ models }: { readonly models: readonly ModelRow[] }): ReactNode {
  const { compare } = useWords(modelsWords);
  const [first, ...others] = models;
  if (first === undefined || models.some(({ kind }) => kind !== 'chat')) return null;
  const asked = new URLSearchParams({ model: first.id });
  for (const [index, { id }] of others.entries())
    asked.set(`beside${index === 0 ? '' : index + 1}`, id);
  return (
    <PathLink
      path={`/playground/chat?${asked}`}
      className={`${buttonLook({ look: 'primary' })} self-start`}
    >
      <Icon name="play" />
      {compare.beside}
    </PathLink>
  );
}
