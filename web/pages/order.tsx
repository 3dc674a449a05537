import { useMutation, useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ReactNode, useCallback, useEffect, useState } from 'react';
import type { OrderAnswer, OrderView } from '../../src/console/contract.ts';
import { send } from '../api/client.ts';
import { queryClient, showBalance } from '../api/data.ts';
import { useEvent } from '../api/events.ts';
import { announce } from '../browser/announce.ts';
import { Button } from '../components/button.tsx';
import { CopyText } from '../components/copy.tsx';
import { errorText } from '../components/error-panel.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Money } from '../components/money.tsx';
import { Page, Panel } from '../components/page.tsx';
import { PathLink } from '../components/path-link.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { Time, ZoneNote } from '../components/time.tsx';
import { useToast } from '../components/toast.tsx';
import { formatYuan } from '../format/money.ts';
import { sharedWords, topUpWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { keepOrder, orderData } from './order-data.ts';
import { isOpen, OrderStatus } from './order-parts.tsx';
import { OrderState } from './order-state.tsx';

export const ahead = ({
  params,
}: {
  readonly params: Readonly<Record<string, string | undefined>>;
}) => void queryClient.prefetchQuery(orderData(params['orderId'] ?? ''));

const pollMs = 4000;

/**
 * One top-up: pay it, and see that it arrived. Events report the payment at once; the page also
 * polls while the order is open.
 */
export function OrderPage(): ReactNode {
  const words = useWords(topUpWords);
  const { orderId = '' } = useParams({ strict: false });
  const query = useQuery({
    ...orderData(orderId),
    refetchInterval: ({ state }) =>
      state.data !== undefined && isOpen(state.data) ? pollMs : false,
  });
  const onOrder = useCallback(
    (order: OrderView) => order.id === orderId && keepOrder(order),
    [orderId],
  );
  useEvent('order', onOrder);
  const order = query.data;
  return (
    <Page
      title={
        order === undefined ? words.title : words.order.title(formatYuan(order.amount, 'balance'))
      }
      above={[{ label: words.title, to: '/top-up' }]}
      note={order && <ZoneNote at={order.created_at} />}
    >
      <Loaded query={query} skeleton={<OrderSkeleton />}>
        {(shown) => <Order key={shown.id} order={shown} />}
      </Loaded>
    </Page>
  );
}

function Order({ order }: { readonly order: OrderView }): ReactNode {
  // Whether the order was open at some time while this page showed it.
  const [seenOpen, setSeenOpen] = useState(isOpen(order));
  if (isOpen(order) && !seenOpen) setSeenOpen(true);
  useAnnouncedCredit(order, seenOpen);
  return (
    <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,26rem)_minmax(0,1fr)]">
      <Panel>
        <div className="flex flex-col items-center gap-4 text-center">
          <OrderState order={order} arrived={seenOpen} />
          {order.state !== 'credited' && <Doubt order={order} />}
        </div>
      </Panel>
      <Facts order={order} />
    </div>
  );
}

/** When money arrives: announces it, and updates balance and lists. */
function useAnnouncedCredit({ state, amount }: OrderView, seenOpen: boolean): void {
  const { order: words } = useWords(topUpWords);
  const arrived = seenOpen && state === 'credited';
  const text = words.receivedPlain(formatYuan(amount, 'balance'));
  useEffect(() => {
    if (!arrived) return;
    announce(text);
    for (const path of ['session', 'orders', 'overview', 'statement'])
      void queryClient.invalidateQueries({ queryKey: [path] });
  }, [arrived, text]);
}

/** Paid but not credited: a button queries the wallet, as often as the user likes. */
function Doubt({ order }: { readonly order: OrderView }): ReactNode {
  const { order: words } = useWords(topUpWords);
  const shared = useWords(sharedWords);
  const toast = useToast();
  const act = useMutation({
    mutationFn: (action: 'check' | 'close') =>
      send<OrderAnswer>('POST', `orders/${order.id}/${action}`),
    onSuccess: ({ order: now, balance }, action) => {
      keepOrder(now);
      showBalance(balance);
      void queryClient.invalidateQueries({ queryKey: ['orders'] });
      if (action === 'check' && now.state !== 'credited')
        toast({ tone: 'done', text: words.notYet });
    },
    onError: (error) => toast({ tone: 'failed', text: errorText(error, shared) }),
  });
  const busy = (action: string) => act.isPending && act.variables === action;
  return (
    <div className="flex w-full flex-col items-center gap-3 border-t border-line pt-4">
      <p className="text-table text-muted">{words.doubt}</p>
      <div className="flex flex-wrap justify-center gap-2">
        <Button icon="refresh" busy={busy('check')} onClick={() => act.mutate('check')}>
          {words.check}
        </Button>
        {isOpen(order) && (
          <Button look="ghost" busy={busy('close')} onClick={() => act.mutate('close')}>
            {words.cancel}
          </Button>
        )}
      </div>
    </div>
  );
}

function Facts({ order }: { readonly order: OrderView }): ReactNode {
  const words = useWords(topUpWords);
  const { order: of, columns } = words;
  const facts: readonly (readonly [string, ReactNode])[] = [
    [of.number, <CopyText key="" text={order.id} label={of.number} />],
    [columns.amount, <Money key="" amount={order.amount} as="balance" />],
    [columns.wallet, words.wallets[order.wallet]],
    [columns.state, <OrderStatus key="" order={order} />],
    [of.created, <Time key="" at={order.created_at} />],
    ...(order.credited_at === null
      ? []
      : [[of.credited, <Time key="" at={order.credited_at} />] as const]),
    ...(order.wallet_no === null
      ? []
      : [
          [
            of.walletNumber,
            <CopyText key="" text={order.wallet_no} label={of.walletNumber} />,
          ] as const,
        ]),
    ...(order.transfer === null
      ? []
      : [[of.transfer, <CopyText key="" text={order.transfer} label={of.transfer} />] as const]),
    ...order.refunds.map(
      ({ id, amount, state, at, reason }) =>
        [
          of.refunds,
          <span key={id}>
            <Money amount={amount} as="balance" /> · {of.refundStates[state]} · <Time at={at} />
            {reason !== '' && <span className="block text-muted">{reason}</span>}
          </span>,
        ] as const,
    ),
  ];
  return (
    <Panel
      title={of.facts}
      actions={
        <PathLink path="/top-up" className="text-table text-accent hover:underline">
          {words.orders}
        </PathLink>
      }
    >
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-2 text-table figures">
        {facts.map(([name, value], index) => (
          <div key={`${name}${index}`} className="contents">
            <dt className="text-muted">{name}</dt>
            <dd className="flex min-w-0 justify-end text-right break-words">{value}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

function OrderSkeleton(): ReactNode {
  return (
    <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,26rem)_minmax(0,1fr)]">
      <Panel>
        <Skeleton className="mx-auto size-56" />
      </Panel>
      <Panel>
        <Skeleton className="h-40" />
      </Panel>
    </div>
  );
}
