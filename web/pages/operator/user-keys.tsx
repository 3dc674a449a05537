import { type ReactNode, useState } from 'react';
import type { KeyView, Page as PageOf } from '../../../src/console/contract.ts';
import { refresh, useData } from '../../api/data.ts';
import { useSearchState } from '../../browser/search-state.ts';
import { IconButton } from '../../components/button.tsx';
import { menuColumn } from '../../components/column-menu.tsx';
import { CopyText } from '../../components/copy.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { ListPanel } from '../../components/list-panel.tsx';
import { Menu, MenuItem } from '../../components/menu.tsx';
import { Money } from '../../components/money.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { keysWords, peopleWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { keyStatuses, shownKey, useKeyColumns, useKeySwitch } from '../key-parts.tsx';
import type { TabProps } from './user-tabs.tsx';

const searchDefaults = { after: '' };

/** A user's keys. An operator disables one that has leaked. */
export function UserKeys({ base }: TabProps): ReactNode {
  const { keys: words } = useWords(peopleWords);
  const search = useSearchState(searchDefaults);
  const path = `${base}/keys`;
  const keys = useData<PageOf<KeyView>>(path, search[0]);
  return (
    <ListPanel query={keys} search={search} empty={words.empty} note={words.note}>
      {(rows) => <KeyTable keys={rows} path={path} />}
    </ListPanel>
  );
}

interface KeyTableProps {
  readonly keys: readonly KeyView[];
  /** The API path of the list. */
  readonly path: string;
}

function KeyTable({ keys, path }: KeyTableProps): ReactNode {
  const { title, spent, detail, actions } = useWords(keysWords);
  const menu = (key: KeyView) => <KeyMenu keyView={key} path={path} />;
  const columns: readonly Column<KeyView>[] = [
    ...useKeyColumns(keys).filter(({ id }) => id !== 'month'),
    {
      id: 'id',
      header: detail.id,
      cell: ({ id }) => <CopyText text={id} label={detail.id} className="w-24" />,
      spare: 4,
    },
    menuColumn(actions, menu),
  ];
  return (
    <Table
      label={title}
      rows={keys}
      rowKey={({ id }) => id}
      columns={columns}
      card={(key) => ({
        title: key.name,
        value: <Money amount={key.spent} as="spend" />,
        valueLabel: spent,
        detail: (
          <>
            <StatusBadge status={keyStatuses[key.state]} />
            <span className="font-mono">{shownKey(key)}</span>
          </>
        ),
        menu: menu(key),
      })}
    />
  );
}

/** The list of keys with the user’s count of them. */
const refreshUsers = () => refresh('operator/users');

interface KeyMenuProps extends Pick<KeyTableProps, 'path'> {
  readonly keyView: KeyView;
}

/** Another's key is disabled only after a confirmation. */
function KeyMenu({ keyView: key, path }: KeyMenuProps): ReactNode {
  const words = useWords(keysWords);
  const { keys } = useWords(peopleWords);
  const turn = useKeySwitch(path, refreshUsers);
  const [stopping, setStopping] = useState(false);
  const name = key.name || key.id;
  return (
    <>
      <Menu
        trigger={<IconButton icon="more" label={words.menu(name)} look="secondary" size="small" />}
      >
        {key.state === 'disabled' ? (
          <MenuItem icon="check" onSelect={() => void turn(key, 'enable')}>
            {words.enable}
          </MenuItem>
        ) : (
          <MenuItem icon="pause" danger onSelect={() => setStopping(true)}>
            {words.disable}
          </MenuItem>
        )}
      </Menu>
      {stopping && (
        <Confirm
          onClose={() => setStopping(false)}
          title={words.disableTitle(name)}
          action={words.disable}
          onConfirm={() => turn(key, 'disable')}
        >
          {keys.disableEffect(shownKey(key))}
        </Confirm>
      )}
    </>
  );
}
