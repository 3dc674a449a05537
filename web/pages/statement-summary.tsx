import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import type { StatementView } from '../../src/console/contract.ts';
import { Chart } from '../components/chart.tsx';
import { Icon } from '../components/icon.tsx';
import { Money } from '../components/money.tsx';
import { Panel } from '../components/page.tsx';
import { axisYuan } from '../components/spend-chart.tsx';
import { useZone } from '../components/time.tsx';
import { formatCount } from '../format/count.ts';
import { shiftDay } from '../format/day.ts';
import { formatYuan, parseYuan } from '../format/money.ts';
import { formatTime } from '../format/time.ts';
import { statementWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';

interface SummaryLine {
  readonly name: string;
  readonly note: string;
  readonly amount: string;
  /** Puts `+` before income. */
  readonly signed?: boolean;
  readonly strong?: boolean;
}

/**
 * Opening balance, income, spending, closing balance: with all nine decimals, so that the reader
 * can add them up.
 */
export function StatementSummary({ view }: { readonly view: StatementView }): ReactNode {
  const words = useWords(statementWords);
  const zone = useZone();
  const { opening, closing, top_ups: topUps, charges, refunds, adjustments, as_of: asOf } = view;
  const times = (count: number) => words.times(formatCount(count));
  const lines: readonly SummaryLine[] = [
    {
      name: words.opening,
      note: formatTime(opening.at, zone).slice(0, 16),
      amount: opening.balance,
    },
    { name: words.topUps, note: times(topUps.count), amount: topUps.amount, signed: true },
    { name: words.charges, note: times(charges.count), amount: charges.amount },
    { name: words.refunds, note: times(refunds.count), amount: refunds.amount, signed: true },
    ...(adjustments.count === 0
      ? []
      : [
          {
            name: words.adjustments,
            note: times(adjustments.count),
            amount: adjustments.amount,
            signed: true,
          },
        ]),
    {
      name: words.closing,
      note: closing.at === asOf ? words.now : formatTime(closing.at, zone).slice(0, 16),
      amount: closing.balance,
      strong: true,
    },
  ];
  return (
    <Panel title={words.summary}>
      <table className="w-full border-collapse text-table">
        <caption className="sr-only">{words.summary}</caption>
        <tbody>
          {lines.map(({ name, note, amount, signed = false, strong = false }) => (
            <tr key={name} className={clsx(strong && 'border-t border-edge')}>
              <th
                scope="row"
                className={clsx('py-1.5 pr-2 text-left', strong ? 'font-semibold' : 'font-normal')}
              >
                {name}{' '}
                <span className="text-caption font-normal whitespace-nowrap text-muted figures">
                  {note}
                </span>
              </th>
              <td className="py-1.5 text-right">
                <Money amount={amount} as="exact" signed={signed && parseYuan(amount) !== 0n} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p
        className={clsx(
          'mt-2 flex items-center gap-1.5 text-table',
          view.adds_up ? 'text-good' : 'text-warn',
        )}
      >
        <Icon name={view.adds_up ? 'check' : 'warning'} />
        {view.adds_up ? words.addsUp : words.addsUpNot}
      </p>
      <p className="mt-1 text-caption text-muted figures">
        {words.held(formatYuan(view.held, 'exact'), formatYuan(view.available, 'exact'))}
      </p>
    </Panel>
  );
}

/** The balance over time: the opening one, and the one at the end of each day. */
export function BalanceChart({ view }: { readonly view: StatementView }): ReactNode {
  const words = useWords(statementWords);
  const zone = useZone();
  const { opening, closing, from, to } = view;
  const days = [
    { day: formatTime(opening.at, zone).slice(0, 16), balance: opening.balance },
    ...balancesByDay(view),
  ];
  const balances = days.map(({ balance }) => balance);
  const moved = new Set(view.rows.flatMap(({ kind, day }) => (kind === 'charges' ? [] : [day])));
  const marks = days.flatMap(({ day }, index) => (moved.has(day) ? [index] : []));
  return (
    <Panel title={words.balance} className="group">
      <Chart
        kind="steps"
        labels={days.map(({ day }) => day)}
        labelHeader={words.columns.date}
        summary={words.balanceSummary(
          from,
          to,
          formatYuan(opening.balance, 'balance'),
          formatYuan(closing.balance, 'balance'),
        )}
        series={[
          {
            id: 'balance',
            name: words.balanceSeries,
            values: balances.map(Number), // for the height alone; figures are exact texts
            texts: balances.map((balance) => formatYuan(balance, 'exact')),
          },
        ]}
        axis={axisYuan}
        marks={marks}
      />
      {marks.length > 0 && (
        <p className="invisible mt-1 text-caption text-muted group-has-[canvas]:visible">
          {words.balanceMarks}
        </p>
      )}
    </Panel>
  );
}

interface DayBalance {
  readonly day: string;
  readonly balance: string;
}

/** A day without a row keeps the balance of the day before. */
function balancesByDay({ opening, rows, from, to }: StatementView): readonly DayBalance[] {
  const last = new Map(rows.map(({ day, balance }) => [day, balance]));
  const days: DayBalance[] = [];
  for (let day = from, balance = opening.balance; day <= to; day = shiftDay(day, 1)) {
    balance = last.get(day) ?? balance;
    days.push({ day, balance });
  }
  return days;
}
