import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type {
  OperatorOrder,
  RefundAnswer,
  RefundBody,
  UserView,
} from '../../../src/console/contract.ts';
import { ApiError, newIdempotencyKey, send } from '../../api/client.ts';
import { useData } from '../../api/data.ts';
import { Dialog } from '../../components/dialog.tsx';
import { AmountInput, Field } from '../../components/field.tsx';
import { Form, type Saving } from '../../components/form.tsx';
import { useToast } from '../../components/toast.tsx';
import { amountError } from '../../format/amount.ts';
import { formatYuan, parseYuan } from '../../format/money.ts';
import { userMark } from './user-mark.ts';
import { peopleWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { leftOf, orderAddress, refreshOrders } from './order-parts.tsx';
import { ReasonField } from './parts.tsx';
import { useWalletName } from './wallet-name.ts';
import { userAddress } from './user-name.tsx';

interface RefundDialogProps {
  readonly order: OperatorOrder;
  readonly onClose: () => void;
}

interface Text {
  readonly amount: string;
  readonly reason: string;
  readonly typed: string;
}

/** Two steps: amount and reason; then the effect, and the amount typed once more. */
export function RefundDialog({ order, onClose }: RefundDialogProps): ReactNode {
  const { orders: words } = useWords(peopleWords);
  const toast = useToast();
  const [idempotencyKey] = useState(newIdempotencyKey);
  const left = leftOf(order);
  const [text, setText] = useState<Text>({ amount: fen(left), reason: '', typed: '' });
  const [step, setStep] = useState<1 | 2>(1);
  const refund = useMutation({
    mutationFn: (body: RefundBody) =>
      send<RefundAnswer>('POST', `${orderAddress(order.id)}/refund`, { body, idempotencyKey }),
    onSuccess: async ({ refund: { state } }, body) => {
      const amount = formatYuan(body.amount, 'balance');
      toast(
        state === 'failed'
          ? { tone: 'failed', text: words.refundRefused(amount) }
          : { tone: 'done', text: words.refundBegun(amount) },
      );
      onClose();
      await refreshOrders();
    },
    onError: (error) =>
      error instanceof ApiError && error.fields['amount'] !== undefined && setStep(1),
  });
  const set = (change: Partial<Text>) => setText((old) => ({ ...old, ...change }));
  const field = refund.error instanceof ApiError ? refund.error.fields['amount'] : undefined;
  return (
    <Dialog
      onClose={onClose}
      title={words.refundTitle(order.id)}
      description={step === 1 ? words.refundStep1 : words.refundStep2}
    >
      {step === 1 ? (
        <What
          order={order}
          left={left}
          text={text}
          onChange={set}
          refused={field}
          onNext={() => setStep(2)}
          onClose={onClose}
        />
      ) : (
        <Sure
          order={order}
          text={text}
          onChange={set}
          saving={refund}
          onBack={() => setStep(1)}
          onSure={() => refund.mutate({ amount: text.amount, reason: text.reason.trim() })}
        />
      )}
    </Dialog>
  );
}

const nanoPerFen = 10_000_000n;

/** `12.30`, whole fen. */
function fen(nano: bigint): string {
  const digits = (nano / nanoPerFen).toString().padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

interface StepProps {
  readonly order: OperatorOrder;
  readonly text: Text;
  readonly onChange: (change: Partial<Text>) => void;
}

interface WhatProps extends StepProps {
  readonly left: bigint;
  readonly refused: string | undefined;
  readonly onNext: () => void;
  readonly onClose: () => void;
}

function What({ order, left, text, onChange, refused, onNext, onClose }: WhatProps): ReactNode {
  const { orders: words, user } = useWords(peopleWords);
  const owner = useData<UserView>(userAddress(order.user.id)).data;
  const available = owner && parseYuan(owner.balance) - parseYuan(owner.held);
  const wrong = amountError(text.amount, { minimum: 0.01 });
  const tooMuch = wrong === undefined && parseYuan(text.amount) > left;
  const mistakes = {
    amount: tooMuch ? words.tooMuch : wrong,
    reason: text.reason.trim() === '' ? 'required' : undefined,
  };
  return (
    <Form mistakes={mistakes} submit={words.refundContinue} onSubmit={onNext} onCancel={onClose}>
      {(errors) => (
        <>
          <p className="text-table text-muted">
            {words.refundText(
              formatYuan(left, 'balance'),
              available === undefined ? '…' : formatYuan(available, 'balance'),
            )}
          </p>
          <Field label={user.amount} error={errors['amount'] ?? refused}>
            {(tied) => (
              <AmountInput
                {...tied}
                value={text.amount}
                onChange={(amount) => onChange({ amount })}
              />
            )}
          </Field>
          <ReasonField
            value={text.reason}
            onChange={(reason) => onChange({ reason })}
            error={errors['reason']}
          />
        </>
      )}
    </Form>
  );
}

interface SureProps extends StepProps {
  readonly saving: Saving;
  readonly onBack: () => void;
  readonly onSure: () => void;
}

function Sure({ order, text, onChange, saving, onBack, onSure }: SureProps): ReactNode {
  const { orders: words, user } = useWords(peopleWords);
  const wallet = useWalletName();
  const shown = formatYuan(text.amount, 'balance');
  return (
    <Form
      mistakes={{ typed: text.typed === text.amount ? undefined : user.mismatch }}
      saving={saving}
      look="danger"
      submit={words.refundButton(shown)}
      cancel={words.refundBack}
      onSubmit={onSure}
      onCancel={onBack}
    >
      {(errors) => (
        <>
          <p>
            {words.refundWhat(
              shown,
              `${order.user.name} (${userMark(order.user.id)})`,
              wallet(order.wallet),
            )}
          </p>
          <p className="text-table text-muted wrap-anywhere">{text.reason}</p>
          <Field label={user.typed(text.amount)} error={errors['typed']}>
            {(tied) => (
              <AmountInput
                {...tied}
                autoFocus
                value={text.typed}
                onChange={(typed) => onChange({ typed })}
              />
            )}
          </Field>
        </>
      )}
    </Form>
  );
}
