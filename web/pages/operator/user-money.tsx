import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { CreditBody, UserAnswer, UserView } from '../../../src/console/contract.ts';
import { newIdempotencyKey, send } from '../../api/client.ts';
import { refresh } from '../../api/data.ts';
import { Dialog } from '../../components/dialog.tsx';
import { AmountInput, Field, TextInput } from '../../components/field.tsx';
import { Form, type Saving } from '../../components/form.tsx';
import { useToast } from '../../components/toast.tsx';
import { amountError } from '../../format/amount.ts';
import { formatYuan, nanoDigits, parseYuan } from '../../format/money.ts';
import { userMark } from './user-mark.ts';
import { operatorWords, peopleWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { userAddress } from './user-name.tsx';

interface MoneyDialogProps {
  readonly user: UserView;
  readonly kind: 'credit' | 'debit';
  readonly onClose: () => void;
}

/**
 * An operator's transfer to or from a user: with a reason, and the amount typed twice. Sent twice,
 * it is one transfer.
 */
export function MoneyDialog({ user, kind, onClose }: MoneyDialogProps): ReactNode {
  const { user: words } = useWords(peopleWords);
  const toast = useToast();
  const [idempotencyKey] = useState(newIdempotencyKey);
  const give = useMutation({
    mutationFn: (body: CreditBody) =>
      send<UserAnswer>('POST', `${userAddress(user.id)}/${kind}`, { body, idempotencyKey }),
    onSuccess: ({ user: after }, { amount }) => {
      const [moved, balance] = [formatYuan(amount, 'price'), formatYuan(after.balance, 'balance')];
      toast({
        tone: 'done',
        text: kind === 'credit' ? words.credited(moved, balance) : words.debited(moved, balance),
      });
      onClose();
      void refresh('operator/users');
    },
  });
  return (
    <Dialog
      onClose={onClose}
      title={kind === 'credit' ? words.creditTitle(user.name) : words.debitTitle(user.name)}
      description={`${words.id} ${userMark(user.id, user.email)}`}
    >
      <MoneyForm user={user} kind={kind} saving={give} onSubmit={give.mutate} onCancel={onClose} />
    </Dialog>
  );
}

type Text = Readonly<Record<'amount' | 'reason' | 'typed', string>>;

function wrongIn({ amount, reason, typed }: Text, mismatch: string) {
  const error = amountError(amount, { decimals: nanoDigits });
  return {
    amount: error,
    reason: reason.trim() === '' ? 'required' : undefined,
    typed: error === undefined && typed !== amount ? mismatch : undefined,
  };
}

interface FormProps extends Pick<MoneyDialogProps, 'user' | 'kind'> {
  readonly saving: Saving;
  readonly onSubmit: (body: CreditBody) => void;
  readonly onCancel: () => void;
}

function MoneyForm({ user, kind, saving, onSubmit, onCancel }: FormProps): ReactNode {
  const { user: words } = useWords(peopleWords);
  const { form } = useWords(operatorWords);
  const [text, setText] = useState<Text>({ amount: '', reason: '', typed: '' });
  const right = amountError(text.amount, { decimals: nanoDigits }) === undefined;
  const shown = right ? formatYuan(text.amount, 'price') : '¥…';
  const set = (change: Partial<Text>) => setText((old) => ({ ...old, ...change }));
  return (
    <Form
      mistakes={wrongIn(text, words.mismatch)}
      saving={saving}
      submit={kind === 'credit' ? words.creditButton(shown) : words.debitButton(shown)}
      look={kind === 'credit' ? 'primary' : 'danger'}
      onSubmit={() => onSubmit({ amount: text.amount, reason: text.reason.trim() })}
      onCancel={onCancel}
    >
      {(errors) => (
        <>
          <p className="text-table text-muted">
            {kind === 'credit' ? words.creditText : words.debitText}
          </p>
          <Field
            label={words.amount}
            help={right ? words.after(afterText(user.balance, text.amount, kind)) : undefined}
            error={errors['amount']}
          >
            {(tied) => (
              <AmountInput
                {...tied}
                name="amount"
                value={text.amount}
                onChange={(amount) => set({ amount })}
              />
            )}
          </Field>
          <Field label={form.reason} help={words.reasonHelp} error={errors['reason']}>
            {(tied) => (
              <TextInput
                {...tied}
                name="reason"
                maxLength={200}
                value={text.reason}
                onChange={({ target }) => set({ reason: target.value })}
              />
            )}
          </Field>
          {right && (
            <Field label={words.typed(text.amount)} error={errors['typed']}>
              {(tied) => (
                <AmountInput
                  {...tied}
                  name="typed"
                  value={text.typed}
                  onChange={(typed) => set({ typed })}
                />
              )}
            </Field>
          )}
        </>
      )}
    </Form>
  );
}

function afterText(balance: string, amount: string, kind: 'credit' | 'debit'): string {
  const moved = parseYuan(amount);
  return formatYuan(parseYuan(balance) + (kind === 'credit' ? moved : -moved), 'exact');
}
