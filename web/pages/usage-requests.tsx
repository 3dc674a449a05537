import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import type { ChargePage, ChargeView } from '../../src/console/contract.ts';
import type { Query } from '../api/client.ts';
import { queryClient, useData } from '../api/data.ts';
import { useEvent } from '../api/events.ts';
import { useMedia, useWide } from '../browser/media.ts';
import { Button } from '../components/button.tsx';
import { Choice } from '../components/choice.tsx';
import { useColumns } from '../components/column-menu.tsx';
import { stepsIn } from '../components/dialog.tsx';
import { Select } from '../components/field.tsx';
import { ListPanel } from '../components/list-panel.tsx';
import { Money } from '../components/money.tsx';
import { named } from '../components/named-columns.ts';
import { type Column, Table } from '../components/table.tsx';
import { Time, useZone } from '../components/time.tsx';
import { Unbroken } from '../components/unbroken.tsx';
import { formatDuration, formatTime } from '../format/time.ts';
import { requestWords, sharedWords, usageWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { ChargeStatus, InputCell, OutputCell, useKind } from './charge-parts.tsx';
import {
  type ChangeUsageSearch,
  noFilter,
  type UsageSearch,
  usageSearch,
} from './usage-filter.tsx';
import { ChargeDrawer } from './usage-record.tsx';

interface UsageRequestsProps {
  readonly query: Query;
  readonly state: UsageSearch;
  /** The id of the request that is open beside the list. */
  readonly open: string | undefined;
  readonly onChange: ChangeUsageSearch;
}

/** The filtered requests, newest first; each opens beside the list, at its own address. */
export function UsageRequests({ query, state, open, onChange }: UsageRequestsProps): ReactNode {
  const words = useWords(usageWords);
  const list = useData<ChargePage>('usage', query);
  const show = useOpenCharge();
  const wide = useWide();
  const hidden = useHiddenColumns();
  const [columns, menu, onFit] = useColumns('usage', useChargeColumns(), hidden);
  useFocusBack(open);
  return (
    <>
      <ListPanel
        query={list}
        search={[state, onChange]}
        noFilter={noFilter}
        empty={state.from === usageSearch.from ? words.none : words.nothing}
        nothing={words.nothing}
        note={words.refusedNote}
        head={
          <>
            <NewCharges state={state} quiet={open !== undefined || state.sort !== ''} />
            <Order from={list.data?.sorted_from ?? null} state={state} onChange={onChange} />
          </>
        }
        tools={
          <>
            <RowsPerPage value={state.limit} onChange={(limit) => onChange({ limit })} />
            {wide && menu}
          </>
        }
      >
        {(rows) => (
          <ChargeTable
            rows={rows}
            columns={columns}
            onFit={onFit}
            selected={open}
            onOpen={({ id }) => show(id)}
            sort={state.sort || newestFirst}
            onSort={(sort) => onChange({ sort: pressedSort(state.sort, sort), after: '' })}
          />
        )}
      </ListPanel>
      {open !== undefined && (
        <ChargeDrawer
          id={open}
          onClose={() => show(undefined)}
          {...stepsIn(list.data?.items ?? [], open, show)}
        />
      )}
    </>
  );
}

const newestFirst = '-time';
const orders = ['', 'time', '-cost', '-input', '-output', '-total', '-first_byte'] as const;

/** Newest first is the default, which the address leaves out; a press on the time turns it. */
const pressedSort = (now: string, next: string): string => {
  if (next === '') return now === '' ? 'time' : '';
  return next === newestFirst ? '' : next;
};

/** The choice of the order where there are no headers to press, and how far back it reaches. */
function Order({
  from,
  state,
  onChange,
}: Pick<UsageRequestsProps, 'state' | 'onChange'> & {
  readonly from: string | null;
}): ReactNode {
  const { order } = useWords(requestWords);
  const zone = useZone();
  const wide = useWide();
  return (
    <>
      {!wide && (
        <div className="border-b border-line px-4 py-2">
          <Choice
            label={order.label}
            value={state.sort}
            options={orders.map((each) => [each, order.by[each]])}
            onChange={(sort) => onChange({ sort, after: '' })}
          />
        </div>
      )}
      {from !== null && (
        <p role="status" className="border-b border-line px-4 py-2 text-caption text-muted">
          <Unbroken text={order.since(formatTime(from, zone))} />
        </p>
      )}
    </>
  );
}

const pageSizes = ['25', '50', '100'] as const;

function RowsPerPage({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (value: string) => void;
}): ReactNode {
  const { table } = useWords(sharedWords);
  return (
    <label className="flex items-center gap-2 text-caption text-muted">
      <span className="max-sm:sr-only">{table.rows}</span>
      <Select className="w-20" value={value} onChange={(event) => onChange(event.target.value)}>
        {pageSizes.map((size) => (
          <option key={size}>{size}</option>
        ))}
      </Select>
    </label>
  );
}

/**
 * Opens, changes or closes the request beside the list. The address keeps the filter, the list its
 * scroll position.
 */
function useOpenCharge(): (id: string | undefined) => void {
  const navigate = useNavigate();
  return (id) => {
    const there = location.pathname !== '/usage';
    const to = id === undefined ? '/usage' : '/usage/$requestId';
    void navigate({
      to,
      params: { requestId: id },
      search: (old: object) => old,
      replace: there,
      resetScroll: false,
    } as never);
  };
}

/** After the drawer closes, focuses the row that opened it. */
function useFocusBack(open: string | undefined): void {
  const last = useRef(open);
  useEffect(() => {
    const closed = open === undefined ? last.current : undefined;
    last.current = open;
    if (closed === undefined) return undefined;
    const timer = setTimeout(
      () =>
        document
          .querySelector<HTMLElement>(`[data-row-link][href="/usage/${CSS.escape(closed)}"]`)
          ?.focus(),
      0,
    );
    return () => clearTimeout(timer);
  }, [open]);
}

interface ChargeTableProps {
  readonly rows: readonly ChargeView[];
  readonly columns: readonly Column<ChargeView>[];
  readonly selected: string | undefined;
  readonly onOpen: (row: ChargeView) => void;
  readonly sort: string;
  readonly onSort: (sort: string) => void;
  readonly onFit: (leftOut: readonly string[]) => void;
}

/** The columns left out at first where the window has no room: what is beside the cost is whole. */
function useHiddenColumns(): readonly string[] {
  const [all, most] = [useMedia('(min-width: 1400px)'), useMedia('(min-width: 1200px)')];
  return all ? [] : ['kind', 'first_byte', ...(most ? [] : ['key', 'total'])];
}

const costOf = (row: ChargeView): ReactNode => (
  <Money amount={row.cost} as="row" estimated={row.estimated} />
);

function useChargeColumns(): readonly Column<ChargeView>[] {
  const { columns } = useWords(usageWords);
  const kind = useKind();
  return named({ ...columns, first_byte: columns.firstByte }, [
    { id: 'time', cell: ({ at }) => <Time at={at} />, sortBy: 'server' },
    {
      id: 'model',
      cell: ({ model }) => <Cut text={model} className="max-w-36 min-[1200px]:max-w-56" />,
    },
    { id: 'kind', spare: 4, cell: (row) => kind(row.kind), className: 'text-muted' },
    {
      id: 'key',
      spare: 2,
      cell: ({ key_name: name }) => <Cut text={name} className="max-w-36" />,
      className: 'text-muted',
    },
    { id: 'input', align: 'right', sortBy: 'server', cell: (row) => <InputCell charge={row} /> },
    { id: 'output', align: 'right', sortBy: 'server', cell: (row) => <OutputCell charge={row} /> },
    {
      id: 'first_byte',
      align: 'right',
      spare: 3,
      sortBy: 'server',
      cell: (row) => duration(row.first_byte_ms),
      className: 'text-muted',
    },
    {
      id: 'total',
      align: 'right',
      spare: 1,
      sortBy: 'server',
      cell: (row) => duration(row.total_ms),
      className: 'text-muted',
    },
    { id: 'status', cell: (row) => <ChargeStatus charge={row} /> },
    {
      id: 'cost',
      align: 'right',
      cell: costOf,
      className: 'font-medium',
      sortBy: 'server',
      // The cost is in view on a narrow screen, too.
      pinned: true,
    },
  ]);
}

function ChargeTable({ rows, columns, selected, ...more }: ChargeTableProps): ReactNode {
  const { title } = useWords(usageWords);
  return (
    <Table
      label={title}
      rows={rows}
      rowKey={({ id }) => id}
      columns={columns}
      path={({ id }) => `/usage/${id}`}
      selected={selected}
      {...more}
      card={(row) => ({
        title: row.model,
        value: costOf(row),
        detail: (
          <>
            <Time at={row.at} />
            <span className="max-w-24 truncate">{row.key_name}</span>
            <ChargeStatus charge={row} />
          </>
        ),
      })}
    />
  );
}

function Cut({
  text,
  className,
}: {
  readonly text: string;
  readonly className: string;
}): ReactNode {
  return (
    <span className={`block truncate ${className}`} data-tip={text}>
      {text}
    </span>
  );
}

function duration(ms: number | null): string {
  return ms === null ? '—' : formatDuration(ms);
}

const readingFromPx = 160;
const gatherMs = 1500;

/**
 * New requests appear by themselves while the user is at the top, and wait behind a button further
 * down.
 */
function NewCharges({
  state,
  quiet,
}: {
  readonly state: UsageSearch;
  readonly quiet: boolean;
}): ReactNode {
  const { live } = useWords(sharedWords);
  const [count, setCount] = useState(0);
  const soon = useRef<ReturnType<typeof setTimeout>>(undefined);
  const { key, model, kind, after, to } = state;
  const take = useCallback(() => {
    setCount(0);
    void queryClient.invalidateQueries({ queryKey: ['usage'] });
    void queryClient.invalidateQueries({ queryKey: ['usage/summary'] });
  }, []);
  const onCharge = useCallback(
    (charge: ChargeView) => {
      const fits = [
        [key, charge.key_id],
        [model, charge.model],
        [kind, charge.kind],
      ].every(([wanted, is]) => wanted === '' || wanted === is);
      if (!fits || after !== '' || to !== '') return;
      if (quiet || window.scrollY > readingFromPx) return setCount((old) => old + 1);
      clearTimeout(soon.current);
      soon.current = setTimeout(take, gatherMs);
    },
    [key, model, kind, after, to, quiet, take],
  );
  useEvent('charge', onCharge);
  useEffect(() => () => clearTimeout(soon.current), []);
  if (count === 0 || quiet) return null;
  const show = () => {
    window.scrollTo({ top: 0 });
    take();
  };
  return (
    <div className="sticky top-16 z-20 flex h-0 justify-center">
      <Button
        look="primary"
        size="small"
        icon="up"
        className="mt-2 rounded-full! shadow-overlay"
        onClick={show}
      >
        {live.newRows(count)}
      </Button>
    </div>
  );
}
