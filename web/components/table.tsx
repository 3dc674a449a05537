import { useRouter } from '@tanstack/react-router';
import { clsx } from 'clsx';
import type { MouseEvent, ReactNode } from 'react';
import { useWide } from '../browser/media.ts';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { Button } from './button.tsx';
import { PathLink, isPlain } from './path-link.tsx';

export interface Column<Row> {
  readonly id: string;
  readonly header: ReactNode;
  readonly cell: (row: Row) => ReactNode;
  /** Right-aligned: numbers and their headers. */
  readonly align?: 'right';
  /** Width and the like: `w-24`, `max-w-64`. */
  readonly className?: string;
}

/** A row on a phone: two lines. */
export interface RowCard {
  readonly title: ReactNode;
  readonly value: ReactNode;
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
}

/**
 * Dense rows with one link each. A click anywhere in the row opens it; `j` and `k` move through the
 * links. On a phone rows are cards.
 */
export function Table<Row>(props: TableProps<Row>): ReactNode {
  return useWide() ? <WideTable {...props} /> : <Cards {...props} />;
}

function WideTable<Row>({
  label,
  rows,
  rowKey,
  columns,
  path,
  onOpen,
  selected,
}: TableProps<Row>): ReactNode {
  const open = useOpen(onOpen);
  return (
    <div className="relative overflow-x-auto" role="region" aria-label={label} tabIndex={0}>
      <table className="w-full border-collapse text-table">
        <Head columns={columns} />
        <tbody>
          {rows.map((row) => (
            <tr
              key={rowKey(row)}
              data-row
              onClick={path && ((event) => open(event, path(row), row))}
              className={clsx(
                'group border-t border-line first:border-t-0',
                path && 'cursor-pointer hover:bg-sunken',
                rowKey(row) === selected && 'bg-accent-soft',
              )}
            >
              {columns.map(({ id, cell, align, className }, index) => {
                const look = clsx(
                  'h-9 px-3 whitespace-nowrap',
                  align === 'right' && 'text-right figures',
                  index === 0 && firstLook,
                  index === 0 && (rowKey(row) === selected ? 'bg-accent-soft' : 'bg-surface'),
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
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Head<Row>({ columns }: Pick<TableProps<Row>, 'columns'>): ReactNode {
  return (
    <thead>
      <tr>
        {columns.map(({ id, header, align, className }, index) => (
          <th
            key={id}
            scope="col"
            className={clsx(
              'h-8 bg-sunken px-3 text-left text-caption font-medium whitespace-nowrap text-muted',
              align === 'right' && 'text-right',
              index === 0 && 'sticky left-0 z-10',
              className,
            )}
          >
            {header}
          </th>
        ))}
      </tr>
    </thead>
  );
}

const firstLook = 'sticky left-0 z-10 text-left font-normal group-hover:bg-sunken';

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
        const { title, value, detail, menu } = card(row);
        return (
          <li
            key={rowKey(row)}
            data-row
            onClick={path && ((event) => open(event, path(row), row))}
            className={clsx(
              'flex items-center gap-2 px-4 py-2.5',
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
                <span className="shrink-0 figures">{value}</span>
              </div>
              <div className="flex flex-wrap items-center gap-x-2 gap-y-0.5 text-caption text-muted">
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
      className="block truncate rounded-badge text-text underline-offset-2 hover:underline"
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

interface PagerProps {
  readonly page: { readonly next: string | null; readonly prev: string | null };
  /** `undefined`: the first page. Write it into the address as `after`. */
  readonly onTurn: (after: string | undefined) => void;
  /** Left of the buttons: export, rows per page. */
  readonly children?: ReactNode;
}

/** Newer and older, without page numbers: the API gives no total. `[` and `]` press them. */
export function Pager({ page, onTurn, children }: PagerProps): ReactNode {
  const words = useWords(sharedWords);
  if (page.next === null && page.prev === null && children === undefined) return null;
  return (
    <nav
      aria-label={words.table.rows}
      className="flex flex-wrap items-center gap-2 border-t border-line px-3 py-2"
    >
      <div className="mr-auto flex items-center gap-2">{children}</div>
      <Button
        size="small"
        icon="left"
        data-page="newer"
        disabledFor={page.prev === null ? words.table.nothing : undefined}
        onClick={() => onTurn(page.prev ?? undefined)}
      >
        {words.table.newer}
      </Button>
      <Button
        size="small"
        icon="right"
        data-page="older"
        disabledFor={page.next === null ? words.table.nothing : undefined}
        onClick={() => onTurn(page.next ?? undefined)}
      >
        {words.table.older}
      </Button>
    </nav>
  );
}

type Turned = PagerProps['page'];

/** For lists that page in one direction only: "newer" leads to the first page. */
export function fromFirst({ next, prev }: Turned, after: string): Turned {
  return { next, prev: prev ?? (after === '' ? null : '') };
}
