import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type {
  OrderAnswer,
  OrderPayAnswer,
  OrderView,
  PayPage,
} from '../../src/console/contract.ts';
import { send } from '../api/client.ts';
import { leaveFor, usePhone } from '../browser/device.ts';
import { Banner } from '../components/banner.tsx';
import { Button } from '../components/button.tsx';
import { topUpWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { InsideWechat } from './inside-wechat.tsx';
import { showOrder } from './order-data.ts';
import { isOpen } from './order-parts.tsx';
import { usePayWays } from './pay-ways.ts';
import { OrderError, useOrder } from './top-up-form.tsx';

interface OrderProps {
  readonly order: OrderView;
}

/**
 * Opens the wallet's app on this phone. Each press has an address of its own, since one lasts a few
 * minutes; the order stays the same.
 */
export function OpenWallet({ order }: OrderProps): ReactNode {
  const words = useWords(topUpWords);
  const { blocked } = usePayWays()(order.wallet);
  const opening = useMutation({
    mutationFn: () => send<OrderPayAnswer>('POST', `orders/${order.id}/pay`),
    onSuccess: (answer) => {
      showOrder(answer);
      if (answer.pay_url !== null) leaveFor(answer.pay_url);
    },
  });
  if (blocked) return <InsideWechat at="order" />;
  return (
    <>
      <OrderError error={opening.error} />
      <Button
        look="primary"
        size="large"
        icon="external"
        className="w-full"
        busy={opening.isPending}
        onClick={() => opening.mutate()}
      >
        {words.order.openToPay(words.apps[order.wallet])}
      </Button>
    </>
  );
}

interface OtherWayProps extends OrderProps {
  /** The way that is offered first. */
  readonly than: PayPage;
}

/**
 * The other way to pay: a code for another phone, or the app on this one. It is another order at
 * the wallet, so this one is closed first, and only one can be paid.
 */
export function OtherWay({ order, than }: OtherWayProps): ReactNode {
  const words = useWords(topUpWords);
  const { first, others } = usePayWays()(order.wallet);
  const onPhone = usePhone();
  const again = useOrder();
  const { id, wallet, amount } = order;
  const page = than === 'qr' ? 'mobile' : 'qr';
  const changing = useMutation({
    mutationFn: async () => {
      const closed = isOpen(order) ? await send<OrderAnswer>('POST', `orders/${id}/close`) : null;
      if (closed !== null && (isOpen(closed.order) || closed.order.state === 'credited'))
        return closed;
      return again.mutateAsync({ amount: twoDecimals(amount), wallet, page });
    },
    onSuccess: showOrder,
  });
  if (![first, ...others].includes(page)) return null;
  // The wallet did not answer, or this order would be closed or paid by now.
  const stays = changing.isSuccess && changing.data.order.id === id;
  return (
    <>
      {stays && isOpen(order) && <Banner tone="bad">{words.unavailable}</Banner>}
      <OrderError error={changing.error} />
      <Button look="ghost" size="small" busy={changing.isPending} onClick={() => changing.mutate()}>
        {page === 'mobile' && onPhone
          ? words.thisPhone(words.apps[wallet])
          : words.otherWays[page](words.apps[wallet])}
      </Button>
    </>
  );
}

/** Orders are exact to the fen: the other decimals are zeros. */
export function twoDecimals(amount: string): string {
  return amount.slice(0, amount.indexOf('.') + 3);
}
