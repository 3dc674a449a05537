import { clsx } from 'clsx';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ReactNode, useCallback, useEffect, useState } from 'react';
import type { OrderAnswer, OrderView } from '../../src/console/contract.ts';
import { send } from '../api/client.ts';
import { queryClient, refreshMoney, type Visit } from '../api/data.ts';
import { useEvent } from '../api/events.ts';
import { announce } from '../browser/announce.ts';
import { Button, linkLook } from '../components/button.tsx';
import { CopyText } from '../components/copy.tsx';
import { useErrorToast } from '../components/error-panel.tsx';
import { DetailPage } from '../components/detail-page.tsx';
import { Fact, Facts } from '../components/facts.tsx';
import { Money } from '../components/money.tsx';
import { Panel } from '../components/page.tsx';
import { PathLink } from '../components/path-link.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { Time, ZoneNote } from '../components/time.tsx';
import { useToast } from '../components/toast.tsx';
import { formatYuan } from '../format/money.ts';
import { topUpWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { keepOrder, orderData, showOrder } from './order-data.ts';
import { isOpen, OrderStatus } from './order-parts.tsx';
import { OrderState } from './order-state.tsx';

export const ahead = ({ params: { orderId = '' } }: Visit) =>
  void queryClient.prefetchQuery(orderData(orderId));

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
    <DetailPage
      query={query}
      title={order ? words.order.title(formatYuan(order.amount, 'balance')) : words.title}
      list={{ label: words.title, to: '/top-up' }}
      note={({ created_at: at }) => <ZoneNote at={at} />}
      skeleton={<OrderSkeleton />}
    >
      {(shown) => <Order key={shown.id} order={shown} />}
    </DetailPage>
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
          {mayBePaid(order) && <Doubt order={order} />}
        </div>
      </Panel>
      <OrderFacts order={order} />
    </div>
  );
}

/** Whether a payment may have been made that is not credited: the wallet refused a failed order. */
const mayBePaid = ({ state }: OrderView): boolean => state !== 'credited' && state !== 'failed';

/** When money arrives: announces it, and updates balance and lists. */
function useAnnouncedCredit({ state, amount }: OrderView, seenOpen: boolean): void {
  const { order: words } = useWords(topUpWords);
  const arrived = seenOpen && state === 'credited';
  const text = words.receivedPlain(formatYuan(amount, 'balance'));
  useEffect(() => {
    if (!arrived) return;
    announce(text);
    void refreshMoney();
    void queryClient.invalidateQueries({ queryKey: ['orders'] });
  }, [arrived, text]);
}

/** Paid but not credited: a button queries the wallet, as often as the user likes. */
function Doubt({ order }: { readonly order: OrderView }): ReactNode {
  const { order: words } = useWords(topUpWords);
  const showError = useErrorToast();
  const toast = useToast();
  const act = useMutation({
    mutationFn: (action: 'check' | 'close') =>
      send<OrderAnswer>('POST', `orders/${order.id}/${action}`),
    onSuccess: (answer, action) => {
      showOrder(answer);
      if (action === 'check' && answer.order.state !== 'credited')
        toast({ tone: 'done', text: words.notYet });
    },
    onError: showError,
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

function OrderFacts({ order }: { readonly order: OrderView }): ReactNode {
  const words = useWords(topUpWords);
  const { order: of, columns } = words;
  const copied = (name: string, text: string | null) =>
    text !== null && (
      <Fact name={name}>
        <CopyText text={text} label={name} />
      </Fact>
    );
  return (
    <Panel
      title={of.facts}
      actions={
        <PathLink path="/top-up" className={clsx('text-table', linkLook)}>
          {words.orders}
        </PathLink>
      }
    >
      <Facts>
        {copied(of.number, order.id)}
        <Fact name={columns.amount}>
          <Money amount={order.amount} as="balance" />
        </Fact>
        <Fact name={columns.wallet}>{words.wallets[order.wallet]}</Fact>
        <Fact name={columns.state}>
          <OrderStatus order={order} />
        </Fact>
        <Fact name={of.created}>
          <Time at={order.created_at} />
        </Fact>
        {order.credited_at !== null && (
          <Fact name={of.credited}>
            <Time at={order.credited_at} />
          </Fact>
        )}
        {copied(of.walletNumber, order.wallet_no)}
        {copied(of.transfer, order.transfer)}
        {order.refunds.map(({ id, amount, state, at, reason }) => (
          <Fact key={id} name={of.refunds}>
            <span>
              <Money amount={amount} as="balance" /> · {of.refundStates[state]} · <Time at={at} />
              {reason !== '' && <span className="block text-muted">{reason}</span>}
            </span>
          </Fact>
        ))}
      </Facts>
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
