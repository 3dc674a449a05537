import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { type ReactNode, useId, useState } from 'react';
import type {
  NewOrderBody,
  OrderAnswer,
  PayPage,
  SessionView,
  WalletName,
} from '../../src/console/contract.ts';
import { ApiError, send } from '../api/client.ts';
import { useOnce } from '../api/once.ts';
import { Banner } from '../components/banner.tsx';
import { Button } from '../components/button.tsx';
import { useErrorText } from '../components/error-panel.tsx';
import { AmountInput, Field } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { amountError } from '../format/amount.ts';
import { formatYuan, parseYuan } from '../format/money.ts';
import { topUpWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { InsideWechat } from './inside-wechat.tsx';
import { showOrder } from './order-data.ts';
import { usePayWays } from './pay-ways.ts';

const usualAmounts = ['1', '10', '50', '100', '500'] as const;
const walletKey = 'tollgate_wallet';

/** Creates orders. A second attempt after a missing response is the same order. */
export function useOrder() {
  const navigate = useNavigate();
  const once = useOnce();
  return useMutation({
    mutationFn: (body: NewOrderBody) =>
      send<OrderAnswer>('POST', 'orders', { body, idempotencyKey: once.keyFor(body) }),
    onSuccess: (answer) => {
      once.taken();
      showOrder(answer);
      void navigate({ to: '/top-up/$orderId', params: { orderId: answer.order.id } });
    },
  });
}

/** The reason why an order was not created, as text. */
export function OrderError({ error }: { readonly error: Error | null }): ReactNode {
  const words = useWords(topUpWords);
  const errorText = useErrorText();
  if (error === null || (error instanceof ApiError && 'amount' in error.fields)) return null;
  const code = error instanceof ApiError ? error.code : '';
  const field = error instanceof ApiError ? Object.values(error.fields)[0] : undefined;
  const own: Readonly<Record<string, string>> = {
    conflict: words.tooMany,
    unavailable: words.unavailable,
  };
  return (
    <div role="alert">
      <Banner tone="bad">{words.fields[field ?? ''] ?? own[code] ?? errorText(error)}</Banner>
    </div>
  );
}

interface TopUpFormProps extends Pick<SessionView, 'wallets' | 'top_up'> {
  /** The wallet for users who have not paid in this browser yet. */
  readonly usual: WalletName;
}

/** From one yuan, exact to the fen, with a configured wallet. */
export function TopUpForm({ wallets, usual, top_up: limits }: TopUpFormProps): ReactNode {
  const words = useWords(topUpWords);
  const limitTexts = useLimitTexts(limits);
  const [amount, setAmount] = useState('10');
  const [wallet, setWallet] = useState(
    () => wallets.find((each) => each === localStorage.getItem(walletKey)) ?? usual,
  );
  const order = useOrder();
  // The page of the order opens next: until it is there, another press would make a second order.
  const isMade = order.isPending || order.isSuccess;
  const { first, others, blocked } = usePayWays()(wallet);
  const wrong = amountError(amount, {
    minimum: Number(limits.least),
    maximum: Number(limits.most),
  });
  const pay = (way: string) => {
    if (isMade) return;
    localStorage.setItem(walletKey, wallet);
    order.mutate({ amount, wallet, page: others.find((page) => page === way) ?? first });
  };
  const change = (next: string) => {
    setAmount(next);
    if (order.isError) order.reset();
  };
  const verb = blocked ? words.submitOther : first === 'qr' ? words.submit : words.pay;
  return (
    <Form
      mistakes={{ amount: wrong }}
      saving={order}
      problem={<OrderError error={order.error} />}
      submit={wrong === undefined ? `${verb} · ${formatYuan(amount, 'balance')}` : verb}
      large
      others={(form) => !isMade && <OtherWays form={form} wallet={wallet} ways={others} />}
      onSubmit={pay}
    >
      {(errors) => (
        <>
          {blocked && <InsideWechat at="form" />}
          <div className="flex flex-col gap-2">
            <Field
              label={words.amount}
              help={limitTexts.help}
              error={limitTexts.error(errors['amount'])}
            >
              {(tied) => (
                <AmountInput
                  {...tied}
                  name="amount"
                  value={amount}
                  maxLength={12}
                  onChange={change}
                />
              )}
            </Field>
            <UsualAmounts value={amount} onChange={change} />
          </div>
          <WalletChoice wallets={wallets} value={wallet} onChange={setWallet} />
        </>
      )}
    </Form>
  );
}

interface OtherWaysProps {
  readonly form: string;
  readonly wallet: WalletName;
  readonly ways: readonly PayPage[];
}

/** The best way to pay on this device submits the form, the others stand below. */
function OtherWays({ form, wallet, ways }: OtherWaysProps): ReactNode {
  const words = useWords(topUpWords);
  return ways.map((page) =>
    page === 'web' ? (
      <Button key={page} look="ghost" icon="external" type="submit" form={form} value={page}>
        {words.submitPage}
      </Button>
    ) : (
      <Button key={page} look="ghost" size="small" type="submit" form={form} value={page}>
        {words.otherWays[page](words.apps[wallet])}
      </Button>
    ),
  );
}

function UsualAmounts({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (amount: string) => void;
}): ReactNode {
  const words = useWords(topUpWords);
  const amount = amountError(value) === undefined ? parseYuan(value) : undefined;
  return (
    <div role="group" aria-label={words.amounts} className="grid grid-cols-5 gap-1.5">
      {usualAmounts.map((each) => (
        <Button
          key={each}
          aria-pressed={parseYuan(each) === amount}
          className={clsx('px-1! figures', parseYuan(each) === amount && chosen)}
          onClick={() => onChange(each)}
        >
          ¥{each}
        </Button>
      ))}
    </div>
  );
}

/** The limits of a top-up as help text, and the error texts of an amount. */
function useLimitTexts({ least, most }: SessionView['top_up']) {
  const words = useWords(topUpWords);
  const [from, to] = [formatYuan(least, 'balance'), formatYuan(most, 'balance')];
  const limits: Readonly<Record<string, string>> = {
    below_minimum: words.atLeast(from),
    above_maximum: words.atMost(to),
  };
  return {
    help: words.amountHelp(from, to),
    error: (code: string | undefined) =>
      code === undefined ? undefined : (limits[code] ?? words.fields[code] ?? code),
  };
}

const chosen = 'border-accent! bg-accent-soft! text-accent!';

interface WalletChoiceProps {
  readonly wallets: readonly WalletName[];
  readonly value: WalletName;
  readonly onChange: (wallet: WalletName) => void;
}

function WalletChoice({ wallets, value, onChange }: WalletChoiceProps): ReactNode {
  const words = useWords(topUpWords);
  const name = useId();
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="mb-1 text-table font-medium">{words.wallet}</legend>
      <div className="grid gap-2 sm:grid-cols-2">
        {wallets.map((wallet) => (
          <label
            key={wallet}
            className={clsx(
              'flex min-h-11 cursor-pointer items-center gap-2 rounded-control border px-3 text-table has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent',
              wallet === value ? 'border-accent bg-accent-soft' : 'border-edge bg-surface',
            )}
          >
            <input
              type="radio"
              name={name}
              checked={wallet === value}
              onChange={() => onChange(wallet)}
              className="size-4 shrink-0 accent-accent outline-none"
            />
            {words.wallets[wallet]}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
