import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import type { KeyChange, KeyDetail, KeyView } from '../../src/console/contract.ts';
import { ApiError, send } from '../api/client.ts';
import { Dialog } from '../components/dialog.tsx';
import { AmountInput, Field, TextInput } from '../components/field.tsx';
import { FormEnd, useOpened } from '../components/form-end.tsx';
import { useZone } from '../components/time.tsx';
import { useToast } from '../components/toast.tsx';
import { amountError } from '../format/amount.ts';
import { endOfDay } from '../format/day.ts';
import { formatDay } from '../format/time.ts';
import { keysWords, sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { refreshKeys } from './key-parts.tsx';
import { TermFields, termsBody, writtenTerms, wrongTerms } from './key-terms.tsx';

const amountDecimals = 9;

/** Only what was changed is sent, with the version that was read: whoever else changed it meanwhile is not overwritten. */
export function EditKey({
  detail: shown,
  onClose,
}: {
  readonly detail: KeyDetail;
  readonly onClose: () => void;
}): ReactNode {
  const detail = useOpened(shown);
  const words = useWords(keysWords);
  const toast = useToast();
  const save = useMutation({
    mutationFn: (body: KeyChange) =>
      send<KeyView>('PATCH', `keys/${detail.id}`, { body, ifMatch: detail.version }),
    onSuccess: () => {
      toast({ tone: 'done', text: words.detail.saved });
      onClose();
    },
    onSettled: () => refreshKeys(),
  });
  return (
    <Dialog open onClose={onClose} title={words.detail.editTitle(detail.name)}>
      <Form
        detail={detail}
        busy={save.isPending}
        error={save.error}
        onSubmit={save.mutate}
        onCancel={onClose}
      />
    </Dialog>
  );
}

interface FormProps {
  readonly detail: KeyDetail;
  readonly busy: boolean;
  readonly error: Error | null;
  readonly onSubmit: (change: KeyChange) => void;
  readonly onCancel: () => void;
}

function Form({ detail, busy, error, onSubmit, onCancel }: FormProps): ReactNode {
  const words = useWords(keysWords);
  const shared = useWords(sharedWords);
  const zone = useZone();
  const dayBefore = detail.expires_at === null ? '' : formatDay(detail.expires_at, zone);
  const limitBefore = detail.limit?.replace(/\.?0+$/, '') ?? '';
  const [name, setName] = useState(detail.name);
  const [limit, setLimit] = useState(limitBefore);
  const [day, setDay] = useState(dayBefore);
  const [terms, setTerms] = useState(() => writtenTerms(detail));
  const [own, setOwn] = useState<Readonly<Record<string, string>>>({});
  const said: Readonly<Record<string, string | undefined>> = {
    ...(error instanceof ApiError ? error.fields : {}),
    ...own,
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const limitError =
      limit === limitBefore ? undefined : amountError(limit, { decimals: amountDecimals });
    const past = day !== dayBefore && day !== '' && Date.parse(endOfDay(day, zone)) <= Date.now();
    const wrong = {
      ...(name.trim() === '' && { name: 'required' }),
      ...(limitError && { limit: limitError }),
      ...(past && { expires_at: 'past' }),
      ...wrongTerms(terms),
    };
    setOwn(wrong);
    if (Object.keys(wrong).length > 0) return;
    onSubmit({
      ...(name.trim() !== detail.name && { name: name.trim() }),
      ...(limit !== limitBefore && { limit }),
      ...(day !== dayBefore && { expires_at: day === '' ? null : endOfDay(day, zone) }),
      ...termsBody(terms, writtenTerms(detail)),
    });
  };
  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-4">
      <Field label={words.form.name} error={said['name']}>
        {(tied) => (
          <TextInput
            {...tied}
            value={name}
            maxLength={100}
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
      <Field label={words.columns.group} help={words.form.groupHelp}>
        {(tied) => <TextInput {...tied} value={detail.group} readOnly />}
      </Field>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label={words.form.limit}
          help={detail.limit === null ? words.detail.limitFixed : undefined}
          error={said['limit']}
        >
          {(tied) => (
            <AmountInput
              {...tied}
              value={limit}
              onChange={setLimit}
              readOnly={detail.limit === null}
            />
          )}
        </Field>
        <Field label={words.form.expires} help={words.detail.noExpiry} error={said['expires_at']}>
          {(tied) => (
            <TextInput
              {...tied}
              type="date"
              value={day}
              onChange={(event) => setDay(event.target.value)}
            />
          )}
        </Field>
      </div>
      <TermFields terms={terms} errors={said} onChange={setTerms} />
      <FormEnd error={error} submit={shared.actions.save} busy={busy} onCancel={onCancel} />
    </form>
  );
}
