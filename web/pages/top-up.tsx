import type { ReactNode } from 'react';
import type { OrderView, Page as PageOf } from '../../src/console/contract.ts';
import { prefetch, queryClient, useData, useMe, useSession } from '../api/data.ts';
import { useEvent } from '../api/events.ts';
import { useSearchState } from '../browser/search-state.ts';
import { absent } from '../components/absent.tsx';
import { ButtonLink } from '../components/button.tsx';
import { EmptyState } from '../components/error-panel.tsx';
import { ListPanel } from '../components/list-panel.tsx';
import { Money } from '../components/money.tsx';
import { Page, Panel } from '../components/page.tsx';
import { named } from '../components/named-columns.ts';
import { type Column, Table } from '../components/table.tsx';
import { Time, ZoneNote } from '../components/time.tsx';
import { formatYuan, parseYuan } from '../format/money.ts';
import { topUpWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { OrderStatus } from './order-parts.tsx';
import { TopUpForm } from './top-up-form.tsx';

const searchDefaults = { after: '' };

export const ahead = () => prefetch('orders');

/** Without a wallet, money comes from an operator, who may be the reader. */
function NoWallet(): ReactNode {
  const words = useWords(topUpWords);
  const me = useMe();
  if (me.role !== 'operator') return <EmptyState text={words.notConfigured} />;
  return (
    <EmptyState text={words.notConfiguredByYou}>
      <ButtonLink to="/operator/users/$id" params={{ id: me.id }}>
        {words.creditYourself}
      </ButtonLink>
    </EmptyState>
  );
}

/** A new top-up, and the earlier ones. */
export function TopUpPage(): ReactNode {
  const words = useWords(topUpWords);
  const { wallets, top_up: limits } = useSession();
  const [usual] = wallets;
  const search = useSearchState(searchDefaults);
  const orders = useData<PageOf<OrderView>>('orders', search[0]);
  useEvent('order', onOrder);
  return (
    <Page title={words.title} note={<ZoneNote />}>
      <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,26rem)_minmax(0,1fr)]">
        <Panel>
          {usual === undefined ? (
            <NoWallet />
          ) : (
            <TopUpForm wallets={wallets} usual={usual} top_up={limits} />
          )}
        </Panel>
        <ListPanel title={words.orders} query={orders} search={search} empty={words.none}>
          {(rows) => <Orders orders={rows} />}
        </ListPanel>
      </div>
    </Page>
  );
}

function onOrder(): void {
  void queryClient.invalidateQueries({ queryKey: ['orders'] });
}

function Orders({ orders }: { readonly orders: readonly OrderView[] }): ReactNode {
  const words = useWords(topUpWords);
  const { columns } = words;
  const amount = (order: OrderView) => <Money amount={order.amount} as="balance" />;
  const shown: readonly Column<OrderView>[] = named(columns, [
    { id: 'time', cell: ({ created_at: at }) => <Time at={at} /> },
    { id: 'amount', align: 'right', cell: amount, className: 'font-medium' },
    { id: 'wallet', cell: ({ wallet }) => words.wallets[wallet] },
    { id: 'state', cell: (order) => <State order={order} /> },
    {
      id: 'number',
      spare: 1,
      cell: ({ wallet_no: number }) => <Number number={number} />,
      className: 'text-muted',
    },
  ]);
  return (
    <Table
      label={words.orders}
      rows={orders}
      rowKey={({ id }) => id}
      columns={shown}
      path={({ id }) => `/top-up/${id}`}
      card={(order) => ({
        title: amount(order),
        value: <State order={order} />,
        detail: (
          <>
            <Time at={order.created_at} />
            <span>{words.wallets[order.wallet]}</span>
          </>
        ),
      })}
    />
  );
}

function State({ order }: { readonly order: OrderView }): ReactNode {
  const words = useWords(topUpWords);
  return (
    <span className="inline-flex flex-wrap items-center gap-1.5 align-middle">
      <OrderStatus order={order} />
      {parseYuan(order.refunded) > 0n && (
        <span className="text-caption text-muted">
          {words.refunded(formatYuan(order.refunded, 'balance'))}
        </span>
      )}
    </span>
  );
}

function Number({ number }: { readonly number: string | null }): ReactNode {
  if (number === null) return absent;
  return (
    <span className="block max-w-44 truncate font-mono text-caption" data-tip={number}>
      {number}
    </span>
  );
}
