import { useRouter } from '@tanstack/react-router';
import { clsx } from 'clsx';
import {
  type MouseEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { useWide } from '../browser/media.ts';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { useLanguage } from '../words/language.ts';
import { Button, rowLinkLook } from './button.tsx';
import { useFittingColumns } from './fitting-columns.ts';
import { Icon } from './icon.tsx';
import { drawnMoney, type MoneyColumn } from './money-column.tsx';
import { PathLink, isPlain } from './path-link.tsx';
import { directionOf, pressed, sortedBy, type SortValue } from './sorting.ts';
import { useVirtualRows, type VirtualRows } from './virtual-rows.ts';

export interface CellColumn<Row> {
  readonly id: string;
  readonly header: ReactNode;
  readonly cell: (row: Row) => ReactNode;
  /** Right-aligned: numbers and their headers. */
  readonly align?: 'right';
  /** Width and the like: `w-24`, `max-w-64`. */
  readonly className?: string;
  /**
   * Its header sorts the rows by this, in a table that is given `sort`; `server`: the rows come in
   * that order.
   */
  readonly sortBy?: ((row: Row) => SortValue) | 'server';
  /** Stays in view at the right edge: the row's menu. */
  readonly pinned?: true;
  /**
   * Left out where the table is wider than its place, the highest number first: what the row's page
   * shows, too.
   */
  readonly spare?: number;
}

export type Column<Row> = CellColumn<Row> | MoneyColumn<Row>;

/** A row on a phone: two lines. */
interface RowCard {
  readonly title: ReactNode;
  readonly value: ReactNode;
  /** What the value is, where a row is no sum of money itself: an account, a key. */
  readonly valueLabel?: string;
  readonly detail: ReactNode;
  readonly menu?: ReactNode;
}

interface TableProps<Row> {
  /** Its name for screen readers. */
  readonly label: string;
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** The first column holds the row's link and stays in view. */
  readonly columns: readonly Column<Row>[];
  readonly card: (row: Row) => RowCard;
  /** The console path of a row, with its query; undefined: the row is no link. */
  readonly path?: (row: Row) => string | undefined;
  /** Opens the row in place, instead of going to its path. */
  readonly onOpen?: (row: Row) => void;
  readonly selected?: string | undefined;
  /**
   * For a list that is held whole, or sorted by the server: the column that sorts it, with a minus
   * for the greatest first (see `sortedBy`). Keep it in the address.
   */
  readonly sort?: string;
  readonly onSort?: (sort: string) => void;
  /** Called with the ids of the spare columns that have no room: of `useColumns`. */
  readonly onFit?: (leftOut: readonly string[]) => void;
}

/**
 * Dense rows with one link each. A click anywhere in the row opens it; `j` and `k` move through the
 * links. A long list scrolls below its header. On a phone rows are cards.
 */
export function Table<Row>(props: TableProps<Row>): ReactNode {
  const { rows, sort = '' } = props;
  const columns = useMemo(
    () => props.columns.map((column) => ('amount' in column ? drawnMoney(rows, column) : column)),
    [rows, props.columns],
  );
  const language = useLanguage();
  const sorted = useMemo(
    () => sortedBy(rows, columns, sort, language),
    [rows, columns, sort, language],
  );
  const rowsKey = rows.map(props.rowKey).join(' ');
  const drawn = { ...props, rows: sorted, columns, rowsKey };
  return useWide() ? <WideTable {...drawn} /> : <Cards {...drawn} />;
}

interface DrawnProps<Row> extends TableProps<Row> {
  readonly columns: readonly CellColumn<Row>[];
  /** Which rows there are, in whatever order. */
  readonly rowsKey: string;
}

/** A table of more rows scrolls by itself, so that its header stays in view. */
const rowsInPage = 25;

function WideTable<Row>(all: DrawnProps<Row>): ReactNode {
  const { label, rows, rowKey, rowsKey, onFit } = all;
  const box = useRef<HTMLDivElement>(null);
  const words = useWords(sharedWords);
  const [whole, setWhole] = useState(false);
  const wanted = whole ? all.columns.map(({ spare: _, ...column }) => column) : all.columns;
  const [columns, leftOut] = useFittingColumns<CellColumn<Row>>(box, wanted, rowsKey);
  const leftOutText = leftOut.join(' ');
  useEffect(() => onFit?.(leftOutText.split(' ').filter(Boolean)), [onFit, leftOutText]);
  const props = { ...all, columns };
  const virtual = useVirtualRows(box, rows.length);
  const { first, end, abovePx, belowPx } = virtual ?? wholeList(rows.length);
  useSteadyWidths(box, virtual !== undefined);
  const table = (
    <div
      ref={box}
      className={clsx(
        'relative overflow-x-auto',
        rows.length > rowsInPage && 'max-h-[max(24rem,calc(100dvh-14rem))] overflow-y-auto',
      )}
      role="region"
      aria-label={label}
      tabIndex={0}
    >
      <table
        className="w-full border-separate border-spacing-0 text-table"
        {...(virtual && { 'aria-rowcount': rows.length + 1 })}
      >
        <Head {...props} />
        <tbody>
          <Gap heightPx={abovePx} />
          {rows.slice(first, end).map((row, index) => (
            <TableRow
              key={rowKey(row)}
              table={props}
              row={row}
              {...(virtual && { 'aria-rowindex': first + index + 2 })}
            />
          ))}
          <Gap heightPx={belowPx} />
        </tbody>
      </table>
    </div>
  );
  // Where the page knows what has no room, it has a menu of the columns.
  if (onFit !== undefined || leftOut.length === 0) return table;
  return (
    <>
      {table}
      <Button size="small" look="ghost" className="m-1.5" onClick={() => setWhole(true)}>
        {words.table.allColumns}
      </Button>
    </>
  );
}

const wholeList = (count: number): VirtualRows => ({
  first: 0,
  end: count,
  abovePx: 0,
  belowPx: 0,
});

/** The place of rows that are not drawn. */
function Gap({ heightPx }: { readonly heightPx: number }): ReactNode {
  return heightPx > 0 && <tr aria-hidden="true" style={{ height: heightPx }} />;
}

/** Columns never become narrower while rows come and go: only the drawn ones set the widths. */
function useSteadyWidths(box: RefObject<HTMLElement | null>, virtual: boolean): void {
  useLayoutEffect(() => {
    if (!virtual) return;
    for (const cell of box.current?.querySelectorAll<HTMLElement>('thead th') ?? [])
      if (cell.offsetWidth > Number.parseFloat(cell.style.minWidth || '0'))
        cell.style.minWidth = `${cell.offsetWidth}px`;
  });
}

interface RowProps<Row> {
  readonly table: DrawnProps<Row>;
  readonly row: Row;
  readonly 'aria-rowindex'?: number;
}

function TableRow<Row>({ table, row, ...rest }: RowProps<Row>): ReactNode {
  const { rowKey, columns, path, onOpen, selected } = table;
  const open = useOpen(onOpen);
  const isSelected = rowKey(row) === selected;
  return (
    <tr
      {...rest}
      data-row
      onClick={path && ((event) => open(event, path(row), row))}
      className={clsx(
        'group',
        path && 'cursor-pointer hover:bg-sunken',
        isSelected && 'bg-accent-soft',
      )}
    >
      {columns.map(({ id, cell, align, className, pinned }, index) => {
        const look = clsx(
          'h-9 border-t border-line px-3 whitespace-nowrap group-first:border-t-0 first:pl-4 last:pr-4',
          align === 'right' && 'text-right figures',
          index === 0 && 'sticky left-0 z-10 text-left font-normal',
          pinned && 'sticky right-0 z-10',
          (index === 0 || pinned) && 'group-hover:bg-sunken',
          (index === 0 || pinned) && (isSelected ? 'bg-accent-soft' : 'bg-surface'),
          className,
        );
        if (index > 0)
          return (
            <td key={id} className={look}>
              {cell(row)}
            </td>
          );
        return (
          <th key={id} scope="row" className={look}>
            <RowLink path={path?.(row)} onOpen={onOpen && (() => onOpen(row))}>
              {cell(row)}
            </RowLink>
          </th>
        );
      })}
    </tr>
  );
}

function Head<Row>({ columns, sort, onSort }: DrawnProps<Row>): ReactNode {
  return (
    <thead>
      <tr>
        {columns.map(({ id, header, align, className, sortBy, pinned }, index) => {
          const sorts = sort !== undefined && onSort !== undefined && sortBy !== undefined;
          return (
            <th
              key={id}
              scope="col"
              {...(sorts && { 'aria-sort': directionOf(sort, id) })}
              className={clsx(
                'sticky top-0 h-8 bg-sunken px-3 text-left text-caption font-medium whitespace-nowrap text-muted first:pl-4 last:pr-4',
                align === 'right' && 'text-right',
                index === 0 && 'left-0',
                pinned && 'right-0',
                index === 0 || pinned ? 'z-30' : 'z-20',
                className,
              )}
            >
              {sorts ? (
                <SortButton
                  direction={directionOf(sort, id)}
                  atRight={align === 'right'}
                  onPress={() =>
                    onSort(pressed(sort, id, align === 'right' ? 'falling' : 'rising'))
                  }
                >
                  {header}
                </SortButton>
              ) : (
                header
              )}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

interface SortButtonProps {
  readonly direction: 'ascending' | 'descending' | 'none';
  readonly atRight: boolean;
  readonly onPress: () => void;
  readonly children: ReactNode;
}

/** The arrow's place is kept, so that a press moves nothing. */
function SortButton({ direction, atRight, onPress, children }: SortButtonProps): ReactNode {
  return (
    <button
      type="button"
      onClick={onPress}
      className={clsx(
        'group/sort inline-flex h-8 items-center gap-0.5 rounded-badge hover:text-text',
        direction !== 'none' && 'text-text',
        atRight && 'flex-row-reverse',
      )}
    >
      {children}
      <Icon
        name="down"
        className={clsx(
          'size-3 shrink-0',
          direction === 'ascending' && 'rotate-180',
          direction === 'none' && 'opacity-0 group-hover/sort:opacity-60',
        )}
      />
    </button>
  );
}

function Cards<Row>({
  label,
  rows,
  rowKey,
  card,
  path,
  onOpen,
  selected,
}: TableProps<Row>): ReactNode {
  const open = useOpen(onOpen);
  return (
    <ul aria-label={label} className="divide-y divide-line">
      {rows.map((row) => {
        const { title, value, valueLabel, detail, menu } = card(row);
        return (
          <li
            key={rowKey(row)}
            data-row
            onClick={path && ((event) => open(event, path(row), row))}
            className={clsx(
              // Cards out of view are not laid out before they are scrolled to.
              'flex items-center gap-2 px-4 py-2.5 [contain-intrinsic-height:auto_64px] [content-visibility:auto]',
              rowKey(row) === selected && 'bg-accent-soft',
            )}
          >
            <div className="min-w-0 flex-1">
              <div className="flex items-baseline justify-between gap-3">
                <span className="min-w-0 truncate font-medium">
                  <RowLink path={path?.(row)} onOpen={onOpen && (() => onOpen(row))}>
                    {title}
                  </RowLink>
                </span>
                <span className="flex shrink-0 items-baseline gap-1 figures">
                  {valueLabel !== undefined && (
                    <span className="text-caption text-muted">{valueLabel}</span>
                  )}
                  {value}
                </span>
              </div>
              <div className="mt-1 flex flex-wrap items-center gap-x-2 gap-y-0.5 text-caption text-muted">
                {detail}
              </div>
            </div>
            {menu}
          </li>
        );
      })}
    </ul>
  );
}

interface RowLinkProps {
  readonly path: string | undefined;
  readonly onOpen: (() => void) | undefined;
  readonly children: ReactNode;
}

function RowLink({ path, onOpen, children }: RowLinkProps): ReactNode {
  if (path === undefined) return children;
  const inPlace = (event: MouseEvent) => {
    if (onOpen === undefined || !isPlain(event)) return;
    event.preventDefault();
    onOpen();
  };
  return (
    <PathLink
      path={path}
      data-row-link
      onClick={inPlace}
      className={`block truncate ${rowLinkLook}`}
    >
      {children}
    </PathLink>
  );
}

/**
 * Opens the row on a click beside its link too, unless the click was on a control or selected text.
 */
function useOpen<Row>(
  onOpen: ((row: Row) => void) | undefined,
): (event: MouseEvent<HTMLElement>, path: string | undefined, row: Row) => void {
  const router = useRouter();
  return (event, path, row) => {
    const meant =
      event.target instanceof Element &&
      event.target.closest('a, button, input, select, label, [role="menuitem"]');
    if (
      meant ||
      !event.currentTarget.contains(event.target as Node) ||
      !isPlain(event) ||
      getSelection()?.toString()
    )
      return;
    if (path === undefined) return;
    if (onOpen === undefined) router.history.push(path);
    else onOpen(row);
  };
}
