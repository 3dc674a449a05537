import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import type { OrderView } from '../../src/console/contract.ts';
import { useSession } from '../api/data.ts';
import { usePhone } from '../browser/device.ts';
import { useMedia } from '../browser/media.ts';
import { Button, ButtonAnchor, ButtonLink } from '../components/button.tsx';
import { Icon, type IconName } from '../components/icon.tsx';
import { formatYuan } from '../format/money.ts';
import { topUpWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { Rich } from '../words/rich.tsx';
import { countdownText, useSecondsLeft } from './order-countdown.ts';
import { InsideWechat } from './inside-wechat.tsx';
import { OpenWallet, OtherWay, twoDecimals } from './order-open.tsx';
import { isOpen } from './order-parts.tsx';
import { usePayWays } from './pay-ways.ts';
import { QrCode } from './qr-code.tsx';
import { OrderError, useOrder } from './top-up-form.tsx';

interface OrderStateProps {
  readonly order: OrderView;
  /** Whether the order was unpaid when the user opened the page. */
  readonly arrived: boolean;
}

/** The next step for the payer, or how the order ended. */
export function OrderState({ order, arrived }: OrderStateProps): ReactNode {
  if (isOpen(order)) return <Waiting order={order} />;
  if (order.state === 'credited') return <Credited order={order} arrived={arrived} />;
  return <Over order={order} />;
}

function Waiting({ order }: { readonly order: OrderView }): ReactNode {
  const words = useWords(topUpWords);
  const left = useSecondsLeft(order.expires_at, true);
  const [wallet, amount] = [words.wallets[order.wallet], formatYuan(order.amount, 'balance')];
  const onPhone = usePhone();
  const scan = onPhone ? words.order.scanElsewhere : words.order.scan;
  const text = order.qr === null ? words.order.pay(wallet, amount) : scan(wallet, amount);
  const note =
    left === 0
      ? words.order.checking
      : order.state === 'scanned'
        ? words.order[order.page === 'qr' ? 'scanned' : 'begun']
        : undefined;
  return (
    <>
      <p className="text-card font-semibold">{text}</p>
      {order.qr !== null && (
        <div className={clsx('relative', note !== undefined && '[&>svg]:opacity-25')}>
          <QrCode text={order.qr} label={words.order.qr(wallet, amount)} />
          {order.state === 'scanned' && <Scanned />}
        </div>
      )}
      <p role="status" className="text-body font-medium empty:hidden">
        {note}
      </p>
      {left > 0 && <Demo order={order} />}
      {order.pay_url !== null && (
        <ButtonAnchor
          look="primary"
          size="large"
          icon="external"
          href={order.pay_url}
          target="_blank"
          rel="noopener"
        >
          {words.order.open(wallet)}
        </ButtonAnchor>
      )}
      {order.page === 'mobile' && left > 0 && <OpenWallet order={order} />}
      {order.qr !== null && <OnThisPhone order={order} />}
      {left > 0 && <OtherWay order={order} than={order.page} />}
      <div className="text-table text-muted">
        {left > 0 && (
          <p role="timer" className="figures">
            <Rich
              text={words.order.expires}
              left={<span className="font-medium text-text">{countdownText(left)}</span>}
            />
          </p>
        )}
        <p>{order.page === 'mobile' ? words.order.back : words.order.windows}</p>
      </div>
    </>
  );
}

/** In the demo no money moves: a code is paid on the page of the simulated wallets. */
function Demo({ order }: { readonly order: OrderView }): ReactNode {
  const { order: words } = useWords(topUpWords);
  const { demo_wallets: demoWallets } = useSession().features;
  if (demoWallets === undefined) return null;
  return (
    <>
      <p className="text-table">{words.demo}</p>
      {order.page === 'qr' && (
        <ButtonAnchor
          look="primary"
          size="large"
          icon="external"
          href={demoWallets}
          target="_blank"
          rel="noopener"
        >
          {words.demoPay}
        </ButtonAnchor>
      )}
    </>
  );
}

/**
 * Where the merchant's wallet opens no app: Alipay's code is also an address. A WeChat code is
 * refused from the album and by a long press (pay.weixin.qq.com/doc/v3/merchant/4012791890,
 * 2025-10-14).
 */
function OnThisPhone({ order }: { readonly order: OrderView }): ReactNode {
  const words = useWords(topUpWords);
  const isPhone = useMedia('(pointer: coarse)');
  const { first, others, blocked } = usePayWays()(order.wallet);
  if (blocked) return <InsideWechat at="order" codeAbove={order.qr !== null} />;
  const opens = [first, ...others].includes('mobile');
  if (!isPhone || opens || order.qr === null) return null;
  if (!order.qr.startsWith('https:'))
    return <p className="text-table text-muted">{words.order.camera}</p>;
  return (
    <ButtonAnchor look="primary" size="large" icon="external" href={order.qr}>
      {words.order.open(words.wallets[order.wallet])}
    </ButtonAnchor>
  );
}

function Credited({ order, arrived }: OrderStateProps): ReactNode {
  const { order: words } = useWords(topUpWords);
  const { balance } = useSession();
  const amount = formatYuan(order.amount, 'balance');
  const text =
    arrived && balance !== null
      ? words.received(amount, formatYuan(balance.available, 'balance'))
      : words.receivedPlain(amount);
  return (
    <>
      <Result icon="check" tone="good" />
      <p role="status" className="text-card font-semibold figures">
        {text}
      </p>
      {order.late && <p className="text-table text-muted">{words.late}</p>}
      <div className="flex flex-wrap justify-center gap-2">
        <ButtonLink look="primary" icon="keys" to="/keys/new">
          {words.createKey}
        </ButtonLink>
        <ButtonLink icon="statement" to="/statement">
          {words.statement}
        </ButtonLink>
      </div>
    </>
  );
}

/**
 * The order expired, was cancelled or refused: nothing was charged, and the user can order the same
 * again.
 */
function Over({ order }: { readonly order: OrderView }): ReactNode {
  const { order: words, apps } = useWords(topUpWords);
  const again = useOrder();
  const texts: Readonly<Record<string, string>> = {
    expired: order.page === 'qr' ? words.expired : words.tooLate,
    closed: words.closed,
    failed: words.failed,
  };
  const { amount, wallet } = order;
  const { first, blocked } = usePayWays()(wallet);
  // Also for an order by code that is looked at on a phone: the phone cannot scan its own screen.
  const onPhone = usePhone() && first === 'mobile';
  const page = blocked ? 'qr' : onPhone ? 'mobile' : order.page;
  return (
    <>
      {order.state === 'failed' ? (
        <Result icon="failed" tone="bad" />
      ) : (
        <Result icon="clock" tone="idle" />
      )}
      <p role="status" className="text-card font-semibold">
        {texts[order.state]}
      </p>
      {blocked && <InsideWechat at="over" />}
      <OrderError error={again.error} />
      <Button
        look="primary"
        icon={onPhone ? 'external' : 'refresh'}
        busy={again.isPending}
        onClick={() => again.mutate({ amount: twoDecimals(amount), wallet, page })}
      >
        {onPhone ? words.payHere(apps[wallet]) : page === 'qr' ? words.again : words.orderAgain}
      </Button>
      <OtherWay order={order} than={page} />
    </>
  );
}

/** Over a code that the wallet has scanned. */
function Scanned(): ReactNode {
  return (
    <span aria-hidden="true" className="absolute inset-0 grid place-items-center">
      <span className="grid size-14 place-items-center rounded-full bg-good text-on-accent">
        <Icon name="check" className="size-7" />
      </span>
    </span>
  );
}

const tones = {
  good: 'bg-good-soft text-good',
  bad: 'bg-bad-soft text-bad',
  idle: 'bg-idle-soft text-muted',
} as const;

function Result({
  icon,
  tone,
}: {
  readonly icon: IconName;
  readonly tone: keyof typeof tones;
}): ReactNode {
  return (
    <span
      aria-hidden="true"
      className={clsx('grid size-16 place-items-center rounded-full', tones[tone])}
    >
      <Icon name={icon} className="size-8" />
    </span>
  );
}
