import { clsx } from 'clsx';
import { Fragment, type ReactNode } from 'react';
import type { ChargesRow, MoveRow, StatementRow } from '../../src/console/contract.ts';
import { linkLook } from '../components/button.tsx';
import { PathLink } from '../components/path-link.tsx';
import { formatCount } from '../format/count.ts';
import { formatClock } from '../format/time.ts';
import { useZone } from '../components/time.tsx';
import { sharedWords, statementWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { DayLines } from './statement-day.tsx';
import { Amounts, Unfold, cell, onlyPhone, onlyWide } from './statement-parts.tsx';

interface StatementMovesProps {
  readonly rows: readonly StatementRow[];
  /** The `from` of the rows that are unfolded. */
  readonly open: readonly string[];
  readonly onOpen: (open: readonly string[]) => void;
}

const head = 'h-8 bg-sunken px-3 text-caption font-medium whitespace-nowrap text-muted';
/**
 * The statement's rows, oldest first. A day's charges unfold into requests, a request into price
 * lines, all in the same columns, so that amounts add up downwards.
 */
export function StatementMoves({ rows, open, onOpen }: StatementMovesProps): ReactNode {
  const words = useWords(statementWords);
  const { columns } = words;
  const toggle = (from: string) =>
    onOpen(open.includes(from) ? open.filter((each) => each !== from) : [...open, from]);
  return (
    <div className="overflow-x-auto" role="region" aria-label={words.moves} tabIndex={0}>
      <table className="w-full border-collapse text-table figures">
        <caption className="px-3 py-1.5 text-left text-caption text-muted">{words.order}</caption>
        <thead>
          <tr>
            <th scope="col" className={clsx(head, onlyWide, 'w-28 text-left')}>
              {columns.date}
            </th>
            <th scope="col" className={clsx(head, 'text-left')}>
              {columns.what}
            </th>
            <th scope="col" className={clsx(head, onlyWide, 'text-right')}>
              {columns.requests}
            </th>
            <th scope="col" className={clsx(head, 'text-right')}>
              {columns.amount}
            </th>
            <th scope="col" className={clsx(head, onlyWide, 'text-right')}>
              {columns.balance}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) =>
            row.kind === 'charges' ? (
              <Fragment key={row.from}>
                <Charges
                  row={row}
                  isOpen={open.includes(row.from)}
                  onToggle={() => toggle(row.from)}
                />
                {open.includes(row.from) && <DayLines row={row} />}
              </Fragment>
            ) : (
              <Move key={row.id} row={row} />
            ),
          )}
        </tbody>
      </table>
    </div>
  );
}

interface ChargesProps {
  readonly row: ChargesRow;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function Charges({ row, isOpen, onToggle }: ChargesProps): ReactNode {
  const words = useWords(statementWords);
  const { units } = useWords(sharedWords);
  const { day, requests, amount, balance } = row;
  const count = formatCount(requests);
  return (
    <tr className="border-t border-line hover:bg-sunken">
      <td className={clsx(cell, onlyWide, 'whitespace-nowrap')}>{day}</td>
      <th scope="row" className={clsx(cell, 'text-left font-normal')}>
        <Unfold isOpen={isOpen} label={words.show(day)} onToggle={onToggle}>
          {words.kinds.charges}
        </Unfold>
        <span className={clsx(onlyPhone, 'block pl-5 text-caption text-muted')}>
          {day} · {units.requests(count)}
        </span>
      </th>
      <td className={clsx(cell, onlyWide, 'text-right')}>{count}</td>
      <Amounts amount={amount} balance={balance} />
    </tr>
  );
}

/** Money that did not move for a request, with its order, request or reason beside it. */
function Move({ row }: { readonly row: MoveRow }): ReactNode {
  const words = useWords(statementWords);
  const zone = useZone();
  const { kind, day, at, wallet, reason, amount, balance } = row;
  return (
    <tr className="border-t border-line hover:bg-sunken">
      <td className={clsx(cell, onlyWide, 'whitespace-nowrap')}>{day}</td>
      <th scope="row" className={clsx(cell, 'text-left font-normal')}>
        <span className="flex min-w-0 flex-wrap items-center gap-x-1.5 pl-5">
          <span className="font-medium">{words.kinds[kind]}</span>
          {wallet !== null && <span>{words.wallets[wallet] ?? wallet}</span>}
          <Cause row={row} />
          {reason !== null && <span className="text-muted">{reason}</span>}
          <span className="text-caption text-muted">
            <span className={onlyPhone}>{day} </span>
            {formatClock(at, zone)}
          </span>
        </span>
      </th>
      <td className={clsx(cell, onlyWide, 'text-right text-faint')}>—</td>
      <Amounts amount={amount} balance={balance} signed />
    </tr>
  );
}

function Cause({ row: { ref, kind } }: { readonly row: MoveRow }): ReactNode {
  if (ref === null) return null;
  const path =
    kind === 'refund' ? `/usage/${ref}` : ref.startsWith('ord_') ? `/top-up/${ref}` : undefined;
  if (path === undefined) return null;
  return (
    <PathLink
      path={path}
      className={clsx('max-w-32 truncate font-mono text-caption md:max-w-44', linkLook)}
    >
      {ref}
    </PathLink>
  );
}
