import { DropdownMenu } from 'radix-ui';
import { type ReactNode, useState } from 'react';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { Button } from './button.tsx';
import { itemLook, Menu, Tick } from './menu.tsx';
import type { Column } from './table.tsx';

/** The column of a row's menu: it has no header, so it cannot be chosen. */
const rowMenu = 'menu';

/** The last column of a table: what can be done with each row. `label` is for screen readers. */
export const menuColumn = <Row,>(label: string, menu: (row: Row) => ReactNode): Column<Row> => ({
  id: rowMenu,
  header: <span className="sr-only">{label}</span>,
  align: 'right',
  cell: menu,
  className: 'w-10',
  pinned: true,
});

/**
 * The columns of a table that the user chose, stored by this browser under the table's name. The
 * first column is always shown. Give `onFit` to the table: the menu says which columns have no room.
 */
export function useColumns<Row>(
  table: string,
  columns: readonly Column<Row>[],
  hiddenAtFirst: readonly string[],
): readonly [
  shown: readonly Column<Row>[],
  menu: ReactNode,
  onFit: (leftOut: readonly string[]) => void,
] {
  const words = useWords(sharedWords);
  const [chosen, choose] = useState(() => storedAt(table));
  const hidden = chosen ?? hiddenAtFirst;
  const [leftOut, setLeftOut] = useState<readonly string[]>([]);
  const absent = [...hidden, ...leftOut];
  // What is seen is what was chosen: a column without room comes by itself alone.
  const turn = (id: string, on: boolean) => {
    const next = on ? absent.filter((each) => each !== id) : [...absent, id];
    localStorage.setItem(placeOf(table), next.join(' '));
    choose(next);
  };
  const menu = (
    <Menu
      align="start"
      trigger={
        <Button size="small" look="ghost" icon="settings">
          {words.table.columns}
        </Button>
      }
    >
      {columns.slice(1).map(
        ({ id, header }) =>
          id !== rowMenu && (
            <DropdownMenu.CheckboxItem
              key={id}
              className={itemLook}
              checked={!absent.includes(id)}
              onCheckedChange={(on) => turn(id, on)}
              // The menu stays open, so that several can be chosen.
              onSelect={(event) => event.preventDefault()}
            >
              <Tick />
              {header}
              {leftOut.includes(id) && (
                <span className="ml-auto pl-3 text-caption text-muted">{words.table.noRoom}</span>
              )}
            </DropdownMenu.CheckboxItem>
          ),
      )}
    </Menu>
  );
  const shown = columns.filter(({ id }, index) => index === 0 || !hidden.includes(id));
  // What the user chose is shown, also where it has to be scrolled to.
  return [
    chosen === undefined ? shown : shown.map(({ spare: _, ...column }) => column),
    menu,
    setLeftOut,
  ];
}

const placeOf = (table: string): string => `tollgate_columns_${table}`;

function storedAt(table: string): readonly string[] | undefined {
  return localStorage.getItem(placeOf(table))?.split(' ').filter(Boolean);
}
