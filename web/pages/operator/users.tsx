import type { ReactNode } from 'react';
import type { Page as PageOf, UserView } from '../../../src/console/contract.ts';
import { data, queryClient, useData } from '../../api/data.ts';
import { useSearchState } from '../../browser/search-state.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/error-panel.tsx';
import { Select } from '../../components/field.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Money } from '../../components/money.tsx';
import { moneyColumn } from '../../components/money-column.tsx';
import { Page, Panel } from '../../components/page.tsx';
import { Badge, StatusBadge } from '../../components/status-badge.tsx';
import { type Column, fromFirst, Pager, Table } from '../../components/table.tsx';
import { Time, ZoneNote } from '../../components/time.tsx';
import { formatCount } from '../../format/count.ts';
import { operatorWords, peopleWords, sharedWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { SearchField } from '../../components/search-field.tsx';
import { pathName } from './parts.tsx';

const searchDefaults = { q: '', role: '', state: '', after: '' };

export const ahead = () => void queryClient.prefetchQuery(data<PageOf<UserView>>('operator/users'));

export function UsersPage(): ReactNode {
  const { users: words } = useWords(peopleWords);
  const { actions } = useWords(sharedWords);
  const [state, setState] = useSearchState(searchDefaults);
  const filter = Object.fromEntries(Object.entries(state).filter(([, value]) => value !== ''));
  const users = useData<PageOf<UserView>>('operator/users', filter);
  const { q, role, state: turn } = state;
  const filtered = q !== '' || role !== '' || turn !== '';
  return (
    <Page title={words.title} wide note={users.data && <ZoneNote at={users.data.as_of} />}>
      <div className="grid grid-cols-2 gap-2 md:flex">
        <SearchField
          label={words.search}
          placeholder={words.searchPlaceholder}
          value={q}
          onChange={(next) => setState({ q: next }, { replace: true })}
          className="max-md:col-span-2 md:w-72"
        />
        <Select
          className="md:w-40"
          aria-label={words.role}
          value={role}
          onChange={({ target }) => setState({ role: target.value })}
        >
          <option value="">{words.anyRole}</option>
          <option value="user">{words.roles.user}</option>
          <option value="operator">{words.roles.operator}</option>
        </Select>
        <Select
          className="md:w-40"
          aria-label={words.state}
          value={turn}
          onChange={({ target }) => setState({ state: target.value })}
        >
          <option value="">{words.anyState}</option>
          <option value="active">{words.states.active}</option>
          <option value="suspended">{words.states.suspended}</option>
        </Select>
      </div>
      <Panel flush>
        <Loaded query={users}>
          {(page) => (
            <>
              {page.items.length > 0 && <UserTable users={page.items} />}
              {page.items.length === 0 && (
                <EmptyState text={filtered ? words.nothing : words.empty}>
                  {filtered && (
                    <Button onClick={() => setState({ q: '', role: '', state: '' })}>
                      {actions.clearFilter}
                    </Button>
                  )}
                </EmptyState>
              )}
              <Pager
                page={fromFirst(page, state.after)}
                onTurn={(next) => setState({ after: next })}
              />
            </>
          )}
        </Loaded>
      </Panel>
    </Page>
  );
}

function UserTable({ users }: { readonly users: readonly UserView[] }): ReactNode {
  const { users: words } = useWords(peopleWords);
  const { comma } = useWords(operatorWords);
  const { columns } = words;
  const ways = ({ sign_ins: all }: UserView) =>
    all.length === 0 ? words.byLink : all.map((way) => words.ways[way] ?? way).join(comma);
  const rows: readonly Column<UserView>[] = [
    {
      id: 'name',
      header: columns.name,
      cell: ({ name }) => <span className="block max-w-64 truncate font-medium">{name}</span>,
    },
    { id: 'ways', header: columns.signIns, cell: ways },
    { id: 'role', header: columns.role, cell: (user) => <RoleBadge user={user} /> },
    moneyColumn(users, {
      id: 'balance',
      header: columns.balance,
      amount: (user) => user.balance,
      as: 'balance',
    }),
    moneyColumn(users, {
      id: 'held',
      header: columns.held,
      amount: (user) => user.held,
      as: 'balance',
    }),
    moneyColumn(users, {
      id: 'spent',
      header: columns.spent,
      amount: (user) => user.spent_30_days,
      as: 'spend',
    }),
    { id: 'keys', header: columns.keys, align: 'right', cell: ({ keys }) => formatCount(keys) },
    {
      id: 'seen',
      header: columns.seen,
      cell: (user) => <Time at={user.last_seen_at} as="relative" absent={words.never} />,
    },
    { id: 'state', header: columns.state, cell: (user) => <UserBadge user={user} /> },
  ];
  return (
    <Table
      label={words.title}
      rows={users}
      rowKey={({ id }) => id}
      columns={rows}
      path={({ id }) => `/operator/users/${pathName(id)}`}
      card={(user) => ({
        title: user.name,
        value: <Money amount={user.balance} as="balance" />,
        detail: (
          <>
            <UserBadge user={user} />
            <RoleBadge user={user} />
            <span>
              {columns.spent} <Money amount={user.spent_30_days} as="spend" />
            </span>
            <Time at={user.last_seen_at} as="relative" absent={words.never} />
          </>
        ),
      })}
    />
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
