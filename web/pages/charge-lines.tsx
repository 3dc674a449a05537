import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import type { ChargeDetail, ChargeLine } from '../../src/console/contract.ts';
import { useWide } from '../browser/media.ts';
import { Icon } from '../components/icon.tsx';
import { FractionPad } from '../components/fraction-pad.tsx';
import { Money } from '../components/money.tsx';
import { formatYuan, longestFraction, parseYuan, yuanOf } from '../format/money.ts';
import { formatQuantity } from '../format/quantity.ts';
import { usageWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';

/**
 * A charge as arithmetic: quantity × price = exact, rounded up to what was charged, line by line,
 * and the sum of the lines.
 */
export function ChargeLines({ detail }: { readonly detail: ChargeDetail }): ReactNode {
  const { charge: words } = useWords(usageWords);
  const wide = useWide();
  if (detail.lines.length === 0) return <p className="text-table text-muted">{words.noLines}</p>;
  return wide ? <LineTable detail={detail} /> : <LineList detail={detail} />;
}

/** The sum of the lines, the part that was paid, and the part that was forgiven. */
export function sumsOf({
  lines,
  cost,
  forgiven,
}: ChargeDetail): readonly (readonly [word: 'total' | 'forgiven' | 'paid', amount: string])[] {
  const total = yuanOf(lines.reduce((sum, { charged }) => sum + parseYuan(charged), 0n));
  if (parseYuan(forgiven) === 0n) return [['total', total]];
  return [
    ['total', total],
    ['forgiven', yuanOf(-parseYuan(forgiven))],
    ['paid', cost],
  ];
}

/** The name of a line: `Images 1024x1024/hd`. */
export function useLineName(): (line: ChargeLine) => string {
  const { classes } = useWords(usageWords);
  return ({ class: of, variant, model, terms }) =>
    [classes[of], variant, model, terms].filter((part) => part !== null).join(' ');
}

const keyOf = ({ class: of, variant, model, terms }: ChargeLine): string =>
  [of, variant, model, terms].join(' ');

const head = 'h-8 bg-sunken px-2 text-caption font-medium whitespace-nowrap text-muted';
const cell = 'px-2 py-1.5 align-top';

function LineTable({ detail }: { readonly detail: ChargeDetail }): ReactNode {
  const { charge: words, per, units } = useWords(usageWords);
  const nameOf = useLineName();
  const exactPlaces = longestFraction(detail.lines.map(({ exact }) => exact));
  const places = longestFraction(
    detail.lines.map(({ price }) => formatYuan(price.amount, 'price')),
  );
  return (
    <div
      className="overflow-x-auto rounded-control border border-line"
      role="region"
      aria-label={words.lines}
      tabIndex={0}
    >
      <table className="w-full border-collapse text-table figures">
        <thead>
          <tr>
            <th scope="col" className={clsx(head, 'text-left')}>
              {words.line}
            </th>
            {[words.quantity, words.price, words.exact, words.charged].map((name) => (
              <th
                key={name}
                scope="col"
                className={clsx(head, 'text-right', name === words.charged && 'pr-6.5')}
              >
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {detail.lines.map((line) => (
            <tr key={keyOf(line)} className="border-t border-line">
              <th scope="row" className={clsx(cell, 'text-left font-normal')}>
                {nameOf(line)}
              </th>
              <td className={clsx(cell, 'text-right whitespace-nowrap')}>
                {units[line.price.unit](formatQuantity(line.quantity))}
              </td>
              <td className={clsx(cell, 'text-right')}>
                <Money amount={line.price.amount} as="price" places={places} />{' '}
                <span className="text-caption whitespace-nowrap text-muted">
                  {per[line.price.unit]}
                </span>
              </td>
              <td className={clsx(cell, 'text-right whitespace-nowrap text-muted')}>
                {line.exact}
                <FractionPad of={line.exact} places={exactPlaces} />
              </td>
              <td className={clsx(cell, 'text-right whitespace-nowrap')}>
                <Charged line={line} />
              </td>
            </tr>
          ))}
        </tbody>
        <Sums detail={detail} />
      </table>
    </div>
  );
}

function Sums({ detail }: { readonly detail: ChargeDetail }): ReactNode {
  const { charge: words } = useWords(usageWords);
  return (
    <tfoot className="border-t border-edge">
      {sumsOf(detail).map(([name, amount], index) => (
        <tr key={name} className={clsx(index === 0 && 'font-medium')}>
          <th
            scope="row"
            colSpan={4}
            className={clsx(cell, 'text-right', index > 0 ? 'font-normal' : 'font-medium')}
          >
            {words[name]}
          </th>
          <td className={clsx(cell, 'text-right whitespace-nowrap')}>
            <Money amount={amount} as="exact" />
            <NoArrow />
          </td>
        </tr>
      ))}
    </tfoot>
  );
}

/** The same on a phone: the calculation of a line below its name. */
function LineList({ detail }: { readonly detail: ChargeDetail }): ReactNode {
  const { charge: words, per, units } = useWords(usageWords);
  const nameOf = useLineName();
  return (
    <ul
      aria-label={words.lines}
      className="divide-y divide-line rounded-control border border-line text-table figures"
    >
      {detail.lines.map((line) => (
        <li key={keyOf(line)} className="px-3 py-2">
          <div className="flex items-baseline justify-between gap-3">
            <span className="min-w-0 font-medium">{nameOf(line)}</span>
            <span className="shrink-0">
              <Charged line={line} />
            </span>
          </div>
          <div className="text-caption text-muted">
            {units[line.price.unit](formatQuantity(line.quantity))} ×{' '}
            <Money amount={line.price.amount} as="price" /> {per[line.price.unit]}{' '}
            <span className="whitespace-nowrap">= {line.exact}</span>
          </div>
        </li>
      ))}
      {sumsOf(detail).map(([name, amount], index) => (
        <li
          key={name}
          className={clsx(
            'flex items-baseline justify-between gap-3 px-3 py-2',
            index === 0 && 'font-medium',
          )}
        >
          <span>{words[name]}</span>
          <span className="shrink-0">
            <Money amount={amount} as="exact" />
            <NoArrow />
          </span>
        </li>
      ))}
    </ul>
  );
}

function Charged({
  line: { charged, rounded_up: roundedUp },
}: {
  readonly line: ChargeLine;
}): ReactNode {
  const { charge: words } = useWords(usageWords);
  return (
    <>
      <Money amount={charged} as="exact" />
      {roundedUp ? (
        <span
          data-tip={words.roundedUp}
          className="ml-1 inline-block w-3.5 align-[-2px] text-accent"
        >
          <span className="sr-only">{words.roundedUp}</span>
          <Icon name="up" className="size-3.5" />
        </span>
      ) : (
        <NoArrow />
      )}
    </>
  );
}

/** An empty place of the arrow's width, so that amounts line up. */
function NoArrow(): ReactNode {
  return <span aria-hidden="true" className="ml-1 inline-block w-3.5" />;
}
