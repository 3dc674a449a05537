import { type ReactNode, useState } from 'react';
import type { OperatorOrder } from '../../../src/console/contract.ts';
import { send } from '../../api/client.ts';
import { useData } from '../../api/data.ts';
import { Button } from '../../components/button.tsx';
import { MaybeDisabled } from '../../components/maybe-disabled.tsx';
import { CopyText } from '../../components/copy.tsx';
import { Confirm, Drawer, stepsIn } from '../../components/dialog.tsx';
import { Foot } from '../../components/dialog-foot.tsx';
import { Fact, Facts } from '../../components/facts.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Money } from '../../components/money.tsx';
import { type Status, StatusBadge } from '../../components/status-badge.tsx';
import { Time } from '../../components/time.tsx';
import { useToast } from '../../components/toast.tsx';
import { peopleWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { isOpen } from '../order-parts.tsx';
import { leftOf, OrderBadge, orderAddress, refreshOrders, TimeLeft } from './order-parts.tsx';
import { RefundDialog } from './order-refund.tsx';
import { useAct } from './parts.tsx';
import { UserInLine } from './user-name.tsx';
import { useWalletName } from './wallet-name.ts';

interface OrderDrawerProps {
  readonly id: string;
  readonly among: readonly OperatorOrder[];
  readonly onOpen: (id: string) => void;
  readonly onClose: () => void;
}

export function OrderDrawer({ id, among, onOpen, onClose }: OrderDrawerProps): ReactNode {
  const { orders: words } = useWords(peopleWords);
  const order = useData<OperatorOrder>(orderAddress(id));
  return (
    <Drawer onClose={onClose} title={words.detail} {...stepsIn(among, id, onOpen)}>
      <Loaded query={order}>{(view) => <Detail order={view} />}</Loaded>
    </Drawer>
  );
}

function Detail({ order }: { readonly order: OperatorOrder }): ReactNode {
  const { orders: words } = useWords(peopleWords);
  const wallet = useWalletName();
  const { columns } = words;
  return (
    <div className="flex flex-col gap-5">
      <Facts>
        <Fact name={columns.state}>
          <OrderBadge order={order} /> <TimeLeft order={order} />
          {order.late && <span className="text-caption text-muted">{words.lateNote}</span>}
        </Fact>
        <Fact name={columns.amount}>
          <Money amount={order.amount} as="balance" />
        </Fact>
        <Fact name={columns.user}>
          <UserInLine user={order.user} link />
        </Fact>
        <Fact name={columns.wallet}>{wallet(order.wallet)}</Fact>
        <Fact name={columns.id}>
          <CopyText text={order.id} label={columns.id} />
        </Fact>
        <Fact name={columns.walletNo}>
          {order.wallet_no === null ? (
            '—'
          ) : (
            <CopyText text={order.wallet_no} label={columns.walletNo} />
          )}
        </Fact>
        {order.trouble !== null && (
          <Fact name={words.trouble}>
            <span className="wrap-anywhere">{order.trouble}</span>
          </Fact>
        )}
        <Fact name={words.created}>
          <Time at={order.created_at} />
        </Fact>
        <Fact name={words.expires}>
          <Time at={order.expires_at} />
        </Fact>
        <Fact name={words.credited}>
          <Time at={order.credited_at} />
        </Fact>
        <Fact name={words.transfer}>
          {order.transfer === null ? (
            '—'
          ) : (
            <CopyText text={order.transfer} label={words.transfer} />
          )}
        </Fact>
        <Fact name={columns.refunded}>
          <Money amount={order.refunded} as="balance" />
        </Fact>
      </Facts>
      <Acts order={order} />
      <Refunds order={order} />
    </div>
  );
}

/** There is no "mark as paid": only the wallet's own notification credits money. */
function Acts({ order }: { readonly order: OperatorOrder }): ReactNode {
  const { orders: words } = useWords(peopleWords);
  const act = useAct();
  const toast = useToast();
  const [open, setOpen] = useState<'close' | 'refund'>();
  const [querying, setQuerying] = useState(false);
  const none = () => setOpen(undefined);
  const query = async () => {
    setQuerying(true);
    await act(async () => {
      const { state } = await send<OperatorOrder>('POST', `${orderAddress(order.id)}/query`);
      await refreshOrders();
      toast({ tone: 'done', text: words.queried(words.states[state]) });
    });
    setQuerying(false);
  };
  const close = async () => {
    await send('POST', `${orderAddress(order.id)}/close`);
    await refreshOrders();
    toast({ tone: 'done', text: words.closed });
  };
  const notRefundable =
    order.state !== 'credited'
      ? words.notCredited
      : leftOf(order) <= 0n
        ? words.nothingLeft
        : undefined;
  return (
    <div className="flex flex-col gap-2">
      <Foot>
        {order.state !== 'credited' && (
          <Button look="primary" icon="refresh" busy={querying} onClick={() => void query()}>
            {words.query}
          </Button>
        )}
        {isOpen(order) && <Button onClick={() => setOpen('close')}>{words.close}</Button>}
        <MaybeDisabled icon="back" disabledFor={notRefundable} onClick={() => setOpen('refund')}>
          {words.refund}
        </MaybeDisabled>
      </Foot>
      <p className="text-caption text-muted">{words.queryHelp}</p>
      {open === 'close' && (
        <Confirm
          onClose={none}
          title={words.closeTitle(order.id)}
          action={words.close}
          onConfirm={close}
        >
          {words.closeText}
        </Confirm>
      )}
      {open === 'refund' && <RefundDialog order={order} onClose={none} />}
    </div>
  );
}

const refundStatuses: Readonly<Record<OperatorOrder['refunds'][number]['state'], Status>> = {
  held: 'pending',
  asked: 'running',
  refunded: 'refunded',
  failed: 'failed',
};

function Refunds({ order: { refunds } }: { readonly order: OperatorOrder }): ReactNode {
  const { orders: words } = useWords(peopleWords);
  return (
    <section>
      <h3 className="mb-2 text-card font-semibold">{words.refunds}</h3>
      {refunds.length === 0 ? (
        <p className="text-table text-muted">{words.noRefunds}</p>
      ) : (
        <ul className="flex flex-col gap-2 text-table">
          {refunds.map(({ id, amount, state, reason, at, trouble }) => (
            <li key={id} className="flex flex-wrap items-center gap-x-3 gap-y-1">
              <StatusBadge status={refundStatuses[state]}>{words.refundStates[state]}</StatusBadge>
              <Money amount={amount} as="balance" />
              <Time at={at} />
              <span className="min-w-0 text-muted wrap-anywhere">{reason}</span>
              {trouble !== null && <p className="w-full wrap-anywhere text-bad">{trouble}</p>}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
