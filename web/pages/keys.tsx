import { useLocation, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { KeyDetail, KeyView, Page as PageOf } from '../../src/console/contract.ts';
import { get } from '../api/client.ts';
import { prefetch, useData, useSession } from '../api/data.ts';
import { useSearchState } from '../browser/search-state.ts';
import { ButtonLink, IconButton } from '../components/button.tsx';
import { Confirm } from '../components/dialog.tsx';
import { Choice } from '../components/choice.tsx';
import { menuColumn } from '../components/column-menu.tsx';
import { ListPanel } from '../components/list-panel.tsx';
import { Menu, MenuItem } from '../components/menu.tsx';
import { Page } from '../components/page.tsx';
import { SearchField } from '../components/search-field.tsx';
import { StatusBadge } from '../components/status-badge.tsx';
import { type Column, Table } from '../components/table.tsx';
import { ZoneNote } from '../components/time.tsx';
import { formatCount } from '../format/count.ts';
import { keysWords, sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { DeleteKey, RotateKey } from './key-acts.tsx';
import { NewKey } from './key-form.tsx';
import { keyStatuses, shownKey, SpentOfLimits, useKeyColumns, useKeySwitch } from './key-parts.tsx';

const noFilter = { q: '' };
const searchDefaults = { ...noFilter, sort: 'created', after: '' };
const sorts = ['created', 'name', 'used', 'spent'] as const;

export const ahead = () => prefetch('keys');

/** The list of keys with their limits. `/keys/new` is the same page with the form open. */
export function KeysPage(): ReactNode {
  const words = useWords(keysWords);
  const search = useSearchState(searchDefaults);
  const [{ q, sort, after }, setSearch] = search;
  const keys = useData<PageOf<KeyView>>('keys', {
    q,
    sort: sort === searchDefaults.sort ? '' : sort,
    after,
  });
  const making = useLocation({ select: ({ pathname }) => pathname === '/keys/new' });
  const navigate = useNavigate();
  const { limit_zone: limitZone } = useSession();
  return (
    <Page
      title={words.title}
      wide
      note={<ZoneNote />}
      actions={
        <ButtonLink look="primary" icon="plus" to="/keys/new" data-shortcut="create">
          {words.create}
        </ButtonLink>
      }
    >
      <div className="flex flex-wrap items-center gap-2">
        <SearchField
          label={words.search}
          placeholder={words.searchPlaceholder}
          value={q}
          onChange={(next) => setSearch({ q: next }, { replace: true })}
          className="w-full sm:w-72"
        />
        <Choice
          className="w-full sm:w-48"
          label={words.sort}
          value={sort}
          options={sorts.map((each) => [each, words.sorts[each]])}
          onChange={(next) => setSearch({ sort: next })}
        />
      </div>
      <ListPanel
        query={keys}
        search={search}
        noFilter={noFilter}
        empty={words.empty}
        nothing={words.nothingFound(q)}
        note={words.limitsNote(limitZone)}
      >
        {(rows) => <KeyTable keys={rows} />}
      </ListPanel>
      {making && <NewKey onClose={() => void navigate({ to: '/keys' })} />}
    </Page>
  );
}

interface Opened {
  readonly act: 'rotate' | 'delete';
  readonly key: KeyView;
}

function KeyTable({ keys }: { readonly keys: readonly KeyView[] }): ReactNode {
  const words = useWords(keysWords);
  const [stopping, setStopping] = useState<KeyDetail>();
  const [opened, setOpened] = useState<Opened>();
  const close = () => setOpened(undefined);
  const menu = (key: KeyView) => (
    <KeyMenu keyView={key} onStop={setStopping} onOpen={(act) => setOpened({ act, key })} />
  );
  const columns: readonly Column<KeyView>[] = [
    ...useKeyColumns(keys),
    menuColumn(words.actions, menu),
  ];
  return (
    <>
      <Table
        label={words.title}
        rows={keys}
        rowKey={({ id }) => id}
        columns={columns}
        path={({ id }) => `/keys/${id}`}
        card={(key) => ({
          title: key.name,
          value: <SpentOfLimits keyView={key} />,
          valueLabel: words.spent,
          detail: (
            <>
              <StatusBadge status={keyStatuses[key.state]} />
              <span className="font-mono">{shownKey(key)}</span>
              <span className="max-w-40 truncate">{key.group}</span>
            </>
          ),
          menu: menu(key),
        })}
      />
      {stopping && <StopKey detail={stopping} onClose={() => setStopping(undefined)} />}
      {opened?.act === 'rotate' && <RotateKey keyView={opened.key} onClose={close} />}
      {opened?.act === 'delete' && <DeleteKey keyView={opened.key} onClose={close} />}
    </>
  );
}

/**
 * Disabling a key in use needs a confirmation that names its traffic; an idle one is disabled at
 * once, with Undo.
 */
function KeyMenu({
  keyView,
  onStop,
  onOpen,
}: {
  readonly keyView: KeyView;
  readonly onStop: (detail: KeyDetail) => void;
  readonly onOpen: (act: Opened['act']) => void;
}): ReactNode {
  const words = useWords(keysWords);
  const turn = useKeySwitch();
  const stop = async () => {
    const detail = await get<KeyDetail>(`keys/${keyView.id}`).catch(() => undefined);
    if (detail !== undefined && detail.requests_last_hour > 0) onStop(detail);
    else await turn(keyView, 'disable');
  };
  const { name, id, state } = keyView;
  const navigate = useNavigate();
  return (
    <Menu
      trigger={<IconButton icon="more" label={words.menu(name)} look="secondary" size="small" />}
    >
      <MenuItem icon="keys" onSelect={() => void navigate({ to: '/keys/$id', params: { id } })}>
        {words.open}
      </MenuItem>
      {state === 'disabled' ? (
        <MenuItem icon="check" onSelect={() => void turn(keyView, 'enable')}>
          {words.enable}
        </MenuItem>
      ) : (
        <MenuItem icon="pause" danger onSelect={() => void stop()}>
          {words.disable}
        </MenuItem>
      )}
      <MenuItem icon="refresh" onSelect={() => onOpen('rotate')}>
        {words.rotate.open}
      </MenuItem>
      <MenuItem icon="trash" danger onSelect={() => onOpen('delete')}>
        {words.remove.open}
      </MenuItem>
    </Menu>
  );
}

export function StopKey({
  detail,
  onClose,
}: {
  readonly detail: KeyDetail;
  readonly onClose: () => void;
}): ReactNode {
  const words = useWords(keysWords);
  const { units } = useWords(sharedWords);
  const turn = useKeySwitch();
  return (
    <Confirm
      onClose={onClose}
      title={words.disableTitle(detail.name)}
      action={words.disable}
      onConfirm={() => turn(detail, 'disable')}
    >
      {words.disableEffect(units.requests(formatCount(detail.requests_last_hour)))}
    </Confirm>
  );
}
