import { useInfiniteQuery } from '@tanstack/react-query';
import { clsx } from 'clsx';
import { type ReactNode, useState } from 'react';
import type {
  ChargeDetail,
  ChargesRow,
  StatementDay,
  StatementLine,
} from '../../src/console/contract.ts';
import { get } from '../api/client.ts';
import { useData } from '../api/data.ts';
import { Button, linkLook } from '../components/button.tsx';
import { ErrorPanel } from '../components/error-panel.tsx';
import { Loaded } from '../components/loaded.tsx';
import { PathLink } from '../components/path-link.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { StatusBadge } from '../components/status-badge.tsx';
import { useZone } from '../components/time.tsx';
import { formatYuan } from '../format/money.ts';
import { formatTime } from '../format/time.ts';
import { sharedWords, statementWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { ChargeLines } from './charge-lines.tsx';
import { ChargeStatus, isPlain, useKind } from './charge-parts.tsx';
import { Amounts, Unfold, cell, onlyPhone, onlyWide } from './statement-parts.tsx';

const columns = 5;
const pageRows = 50;

/**
 * The requests of one row of the statement, oldest first, in the columns of the table around them;
 * a button loads more.
 */
export function DayLines({ row: { day, from, to } }: { readonly row: ChargesRow }): ReactNode {
  const words = useWords(statementWords);
  const shared = useWords(sharedWords);
  const pages = useInfiniteQuery({
    queryKey: [`statement/${day}`, { from, to }],
    queryFn: ({ pageParam, signal }) =>
      get<StatementDay>(
        `statement/${day}`,
        { from, to, limit: pageRows, ...(pageParam && { after: pageParam }) },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: (last) => last.next,
  });
  if (pages.data === undefined) {
    return (
      <tr aria-busy={pages.isPending || undefined} className="bg-sunken">
        <td colSpan={columns} className="px-3 py-2 pl-8">
          {pages.error === null ? (
            <>
              <span className="sr-only">{shared.live.loading}</span>
              <Skeleton className="h-5 w-2/3" />
            </>
          ) : (
            <ErrorPanel error={pages.error} onRetry={() => void pages.refetch()} />
          )}
        </td>
      </tr>
    );
  }
  return (
    <>
      {pages.data.pages.flatMap(({ items }) =>
        items.map((line) =>
          line.what === 'charge' ? (
            <Charge key={line.id} line={line} />
          ) : (
            <Released key={`held ${line.id}`} line={line} />
          ),
        ),
      )}
      {pages.hasNextPage && (
        <tr className="bg-sunken">
          <td colSpan={columns} className="px-3 py-2 pl-8">
            <Button
              size="small"
              icon="down"
              busy={pages.isFetchingNextPage}
              onClick={() => void pages.fetchNextPage()}
            >
              {words.more}
            </Button>
          </td>
        </tr>
      )}
    </>
  );
}

/** A request; unfolded, its arithmetic. */
function Charge({
  line,
}: {
  readonly line: Extract<StatementLine, { what: 'charge' }>;
}): ReactNode {
  const words = useWords(statementWords);
  const kind = useKind();
  const zone = useZone();
  const [isOpen, setOpen] = useState(false);
  const { id, at, model, key_name: keyName, amount, balance } = line;
  const time = formatTime(at, zone).slice(11);
  return (
    <>
      <tr className="border-t border-line bg-sunken">
        <td className={clsx(cell, onlyWide, 'text-muted')}>{time}</td>
        <th scope="row" className={clsx(cell, 'pl-8 text-left font-normal')}>
          <Unfold isOpen={isOpen} label={words.showLines(id)} onToggle={() => setOpen(!isOpen)}>
            <span className="break-words">{model}</span>
          </Unfold>
          <span className="flex flex-wrap items-center gap-x-2 pl-5 text-caption text-muted">
            <span className={onlyPhone}>{time}</span>
            <span>{kind(line.kind)}</span>
            <span className="max-w-40 truncate">{keyName}</span>
            {!isPlain(line) && <ChargeStatus charge={line} />}
          </span>
        </th>
        <td className={clsx(cell, onlyWide, 'text-right text-muted')}>1</td>
        <Amounts amount={amount} balance={balance} />
      </tr>
      {isOpen && (
        <tr className="bg-sunken">
          <td colSpan={columns} className="px-3 pb-3 md:pl-13">
            <Lines id={id} />
          </td>
        </tr>
      )}
    </>
  );
}

function Lines({ id }: { readonly id: string }): ReactNode {
  const words = useWords(statementWords);
  const detail = useData<ChargeDetail>(`usage/${id}`);
  return (
    <Loaded query={detail} skeleton={<Skeleton className="h-24" />}>
      {(charge) => (
        <div className="flex max-w-3xl flex-col gap-1.5">
          <div className="rounded-control bg-surface">
            <ChargeLines detail={charge} />
          </div>
          <PathLink
            path={`/usage/${id}`}
            className={clsx('self-start font-mono text-caption', linkLook)}
          >
            {words.openCharge} {id}
          </PathLink>
        </div>
      )}
    </Loaded>
  );
}

/** Funds that were reserved and released: for information, not part of any sum. */
function Released({
  line,
}: {
  readonly line: Extract<StatementLine, { what: 'not_charged' }>;
}): ReactNode {
  const words = useWords(statementWords);
  const kind = useKind();
  const zone = useZone();
  const clock = (at: string) => formatTime(at, zone).slice(11);
  const note = words.notCharged(
    formatYuan(line.held, 'exact'),
    clock(line.held_at),
    clock(line.released_at),
  );
  return (
    <tr className="border-t border-line bg-sunken text-muted">
      <td className={clsx(cell, onlyWide)}>{clock(line.at)}</td>
      <th scope="row" colSpan={columns - 1} className={clsx(cell, 'pl-13 text-left font-normal')}>
        <span className="flex flex-wrap items-center gap-x-2">
          <PathLink path={`/tasks/${line.id}`} className={clsx('break-words', linkLook)}>
            {line.model}
          </PathLink>
          <span className="text-caption">{kind(line.kind)}</span>
          <span className="max-w-40 truncate text-caption">{line.key_name}</span>
          <StatusBadge status="notCharged" />
        </span>
        <span className="block text-caption">{note}</span>
      </th>
    </tr>
  );
}
