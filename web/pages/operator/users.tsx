import { type ReactNode, useState } from 'react';
import type { UserPage, UserView } from '../../../src/console/contract.ts';
import { prefetch, useData } from '../../api/data.ts';
import { useSearchState } from '../../browser/search-state.ts';
import { CreateButton } from '../../components/button.tsx';
import { Choice } from '../../components/choice.tsx';
import { ListPanel } from '../../components/list-panel.tsx';
import { Money } from '../../components/money.tsx';
import { Page } from '../../components/page.tsx';
import { Badge, StatusBadge } from '../../components/status-badge.tsx';
import { named } from '../../components/named-columns.ts';
import { type Column, Table } from '../../components/table.tsx';
import { Time, ZoneNote } from '../../components/time.tsx';
import { formatCount } from '../../format/count.ts';
import { userMark } from './user-mark.ts';
import { operatorWords, peopleWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { SearchField } from '../../components/search-field.tsx';
import { NewUser } from './new-user.tsx';
import { UserName, userPath } from './user-name.tsx';
import { UsersBulk } from './users-bulk.tsx';

const noFilter = { q: '', role: '', state: '' };
const searchDefaults = { ...noFilter, sort: '', form: '', after: '' };
const sorts = ['name', 'balance', 'spent', 'seen'] as const;

export const ahead = () => prefetch('operator/users');

export function UsersPage(): ReactNode {
  const { users: words } = useWords(peopleWords);
  const search = useSearchState(searchDefaults);
  const [state, setState] = search;
  const { form, ...asked } = state;
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const users = useData<UserPage>('operator/users', asked);
  const among = users.data?.ordered_newest ?? null;
  return (
    <Page
      title={words.title}
      wide
      note={<ZoneNote />}
      actions={
        <CreateButton onClick={() => setState({ form: 'new', after: state.after })}>
          {words.create.open}
        </CreateButton>
      }
    >
      <UserFilters state={state} onChange={setState} />
      <UsersBulk
        users={users.data?.items.filter(({ id }) => picked.has(id)) ?? []}
        onClear={() => setPicked(new Set())}
      />
      <ListPanel
        query={users}
        search={search}
        noFilter={noFilter}
        empty={words.empty}
        nothing={words.nothing}
        oneWay
        note={words.spentTip}
        head={
          among !== null && (
            <p role="status" className="border-b border-line px-3 py-2 text-caption text-muted">
              {words.orderedNewest(formatCount(among))}
            </p>
          )
        }
      >
        {(rows) => <UserTable users={rows} picked={picked} onPick={setPicked} />}
      </ListPanel>
      {form === 'new' && <NewUser onClose={() => setState({ form: '', after: state.after })} />}
    </Page>
  );
}

type UserSearch = { readonly [Name in keyof typeof searchDefaults]: string };

interface UserFiltersProps {
  readonly state: UserSearch;
  readonly onChange: (
    change: { readonly [Name in keyof UserSearch]?: string },
    options?: { readonly replace?: boolean },
  ) => void;
}

function UserFilters({ state, onChange }: UserFiltersProps): ReactNode {
  const { users: words } = useWords(peopleWords);
  return (
    <div className="grid grid-cols-2 gap-2 md:flex">
      <SearchField
        label={words.search}
        placeholder={words.searchPlaceholder}
        value={state.q}
        onChange={(next) => onChange({ q: next }, { replace: true })}
        className="max-md:col-span-2 md:w-72"
      />
      <Choice
        className="md:w-40"
        label={words.role}
        value={state.role}
        any={words.anyRole}
        options={Object.entries(words.roles)}
        onChange={(role) => onChange({ role })}
      />
      <Choice
        className="md:w-40"
        label={words.state}
        value={state.state}
        any={words.anyState}
        options={Object.entries(words.states)}
        onChange={(turn) => onChange({ state: turn })}
      />
      <Choice
        className="max-md:col-span-2 md:w-44"
        label={words.sort}
        value={state.sort}
        any={words.sorts.created}
        options={sorts.map((each) => [each, words.sorts[each]])}
        onChange={(sort) => onChange({ sort })}
      />
    </div>
  );
}

interface UserTableProps {
  readonly users: readonly UserView[];
  readonly picked: ReadonlySet<string>;
  readonly onPick: (picked: ReadonlySet<string>) => void;
}

function UserTable({ users, picked, onPick }: UserTableProps): ReactNode {
  const { users: words } = useWords(peopleWords);
  const { columns } = words;
  const box = ({ id, name, email }: UserView) => (
    <label className="flex size-6 items-center justify-center touch:size-11">
      <input
        type="checkbox"
        className="size-4 accent-accent"
        aria-label={words.bulk.pick(`${name} ${userMark(id, email)}`)}
        checked={picked.has(id)}
        onChange={() =>
          onPick(
            new Set(picked.has(id) ? [...picked].filter((each) => each !== id) : [...picked, id]),
          )
        }
      />
    </label>
  );
  const rows = useUserColumns(box);
  return (
    <Table
      label={words.title}
      rows={users}
      rowKey={({ id }) => id}
      columns={rows}
      path={({ id }) => userPath(id)}
      card={(user) => ({
        title: user.name,
        value: <Money amount={user.balance} as="balance" />,
        valueLabel: columns.balance,
        menu: box(user),
        detail: (
          <>
            <span className="w-full truncate">{userMark(user.id, user.email)}</span>
            <UserBadge user={user} />
            <RoleBadge user={user} />
            <span>
              {columns.spent} <Money amount={user.spent_30_days} as="spend" />
            </span>
            <span>
              {columns.seen} <Time at={user.last_seen_at} as="relative" absent={words.never} />
            </span>
          </>
        ),
      })}
    />
  );
}

function useUserColumns(box: (user: UserView) => ReactNode): readonly Column<UserView>[] {
  const { users: words } = useWords(peopleWords);
  const { comma } = useWords(operatorWords);
  const { columns } = words;
  const ways = ({ sign_ins: own }: UserView) =>
    own.length === 0 ? words.byLink : own.map((way) => words.ways[way] ?? way).join(comma);
  return named(
    {
      ...columns,
      ways: columns.signIns,
      pick: words.bulk.column,
    },
    [
      {
        id: 'name',
        cell: (user) => <UserName user={user} className="max-w-64 font-medium" />,
      },
      { id: 'ways', spare: 1, cell: ways },
      { id: 'role', spare: 0, cell: (user) => <RoleBadge user={user} /> },
      { id: 'balance', amount: (user) => user.balance, as: 'balance' },
      { id: 'held', spare: 3, amount: (user) => user.held, as: 'balance' },
      { id: 'spent', amount: (user) => user.spent_30_days, as: 'spend' },
      { id: 'keys', spare: 2, align: 'right', cell: ({ keys }) => formatCount(keys) },
      {
        id: 'seen',
        cell: (user) => <Time at={user.last_seen_at} as="relative" absent={words.never} />,
      },
      { id: 'state', cell: (user) => <UserBadge user={user} /> },
      { id: 'pick', cell: box, className: 'w-16', pinned: true },
    ],
  );
}

export function UserBadge({
  user: { state },
}: {
  readonly user: Pick<UserView, 'state'>;
}): ReactNode {
  const { users: words } = useWords(peopleWords);
  return (
    <StatusBadge status={state === 'active' ? 'active' : 'disabled'}>
      {words.states[state]}
    </StatusBadge>
  );
}

export function RoleBadge({
  user: { role },
}: {
  readonly user: Pick<UserView, 'role'>;
}): ReactNode {
  const { users: words } = useWords(peopleWords);
  if (role === 'user') return <span className="text-caption text-muted">{words.roles.user}</span>;
  return (
    <Badge tone="accent" icon="shield">
      {words.roles.operator}
    </Badge>
  );
}
