import type { ReactNode } from 'react';
import type {
  OperatorOrder,
  OperatorOrderTotals,
  Page as PageOf,
} from '../../../src/console/contract.ts';
import type { Query } from '../../api/client.ts';
import { prefetch, useData } from '../../api/data.ts';
import { useSearchState } from '../../browser/search-state.ts';
import { FigureCard, Figures, FiguresSkeleton } from '../../components/figure.tsx';
import { FilterBar, type FilterField } from '../../components/filter-bar.tsx';
import { ListPanel } from '../../components/list-panel.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Money } from '../../components/money.tsx';
import { Page } from '../../components/page.tsx';
import { named } from '../../components/named-columns.ts';
import { type Column, Table } from '../../components/table.tsx';
import { Time, ZoneNote } from '../../components/time.tsx';
import { formatCount } from '../../format/count.ts';
import { userMark } from './user-mark.ts';
import { operatorWords, peopleWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { OrderDrawer } from './order-drawer.tsx';
import { OrderBadge, TimeLeft } from './order-parts.tsx';
import { UserName } from './user-name.tsx';
import { useWalletName } from './wallet-name.ts';

/** `order` is the id of the order that is open beside the list. */
const noFilter = { q: '', state: '', wallet: '', user: '', from: '' };
const searchDefaults = { ...noFilter, after: '', order: '' };

export const ahead = () => prefetch('operator/orders');

export function OrdersPage(): ReactNode {
  const { orders: words } = useWords(peopleWords);
  const { wallets } = useWords(operatorWords);
  const search = useSearchState(searchDefaults);
  const [state, setState] = search;
  const { order, after, ...filter } = state;
  const orders = useData<PageOf<OperatorOrder>>('operator/orders', { ...filter, after });
  const fields: readonly FilterField[] = [
    { name: 'q', label: words.filters.q },
    {
      name: 'state',
      label: words.filters.state,
      options: (['waiting', 'credited', 'closed', 'failed'] as const).map(
        (each) => [each, words.states[each]] as const,
      ),
    },
    { name: 'wallet', label: words.filters.wallet, options: Object.entries(wallets) },
    { name: 'user', label: words.filters.user, placeholder: 'usr_…' },
    { name: 'from', label: words.filters.from, options: Object.entries(words.since) },
  ];
  const open = (id: string) => setState({ order: id, after });
  return (
    <Page title={words.title} wide note={<ZoneNote />}>
      <FilterBar fields={fields} value={state} onChange={setState} />
      <Totals filter={filter} since={words.since[filter.from]} />
      <ListPanel
        query={orders}
        search={search}
        noFilter={noFilter}
        empty={words.empty}
        nothing={words.nothing}
      >
        {(rows) => <OrderTable orders={rows} shown={order} onOpen={open} />}
      </ListPanel>
      {order !== '' && (
        <OrderDrawer
          id={order}
          among={orders.data?.items ?? []}
          onOpen={open}
          onClose={() => open('')}
        />
      )}
    </Page>
  );
}

/** The sums of all orders that the filter leaves, not of one page alone. */
function Totals({
  filter,
  since,
}: {
  readonly filter: Query;
  /** The chosen period in words. */
  readonly since: string | undefined;
}): ReactNode {
  const { totals: words } = useWords(peopleWords).orders;
  const totals = useData<OperatorOrderTotals>('operator/order-totals', filter);
  return (
    <Loaded query={totals} skeleton={<FiguresSkeleton count={4} />}>
      {({ orders, credited, refunded, kept }) => (
        <div className="flex flex-col gap-2">
          <p className="text-caption text-muted">
            {since === undefined ? words.ofAll : words.since(since)}
          </p>
          <Figures>
            <FigureCard label={words.orders} value={formatCount(orders)} />
            <FigureCard
              label={words.credited}
              value={<Money amount={credited.amount} as="balance" />}
              note={words.of(formatCount(credited.orders))}
            />
            <FigureCard label={words.refunded} value={<Money amount={refunded} as="balance" />} />
            <FigureCard label={words.kept} value={<Money amount={kept} as="balance" />} />
          </Figures>
        </div>
      )}
    </Loaded>
  );
}

interface OrderTableProps {
  readonly orders: readonly OperatorOrder[];
  readonly shown: string;
  readonly onOpen: (id: string) => void;
}

function OrderTable({ orders, shown, onOpen }: OrderTableProps): ReactNode {
  const { orders: words } = useWords(peopleWords);
  const wallet = useWalletName();
  const { columns } = words;
  const rows: readonly Column<OperatorOrder>[] = named({ ...columns, no: columns.walletNo }, [
    { id: 'time', cell: ({ created_at: at }) => <Time at={at} /> },
    { id: 'id', spare: 1, cell: ({ id }) => <Cut text={id} /> },
    {
      id: 'user',
      cell: ({ user }) => <UserName user={user} link className="max-w-36 xl:max-w-48" />,
    },
    { id: 'amount', amount: ({ amount }) => amount, as: 'balance' },
    { id: 'wallet', cell: (order) => wallet(order.wallet) },
    {
      id: 'state',
      cell: (order) => (
        <span className="flex items-center gap-2">
          <OrderBadge order={order} /> <TimeLeft order={order} />
        </span>
      ),
    },
    { id: 'no', spare: 2, cell: ({ wallet_no: no }) => (no === null ? '—' : <Cut text={no} />) },
    { id: 'refunded', spare: 3, amount: ({ refunded }) => refunded, as: 'balance' },
  ]);
  return (
    <Table
      label={words.title}
      rows={orders}
      rowKey={({ id }) => id}
      columns={rows}
      selected={shown}
      path={({ id }) => `/operator/orders?order=${id}`}
      onOpen={({ id }) => onOpen(id)}
      card={(order) => ({
        title: order.user.name,
        value: <Money amount={order.amount} as="balance" />,
        detail: (
          <>
            <span className="w-full">{userMark(order.user.id)}</span>
            <OrderBadge order={order} />
            <span>{wallet(order.wallet)}</span>
            <Time at={order.created_at} />
            <TimeLeft order={order} />
          </>
        ),
      })}
    />
  );
}

function Cut({ text }: { readonly text: string }): ReactNode {
  return (
    <span
      className="block max-w-28 truncate font-mono xl:max-w-40 text-caption text-muted"
      data-tip={text}
    >
      {text}
    </span>
  );
}
