import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { Me, MeChange } from '../../src/console/contract.ts';
import { ApiError, send } from '../api/client.ts';
import { queryClient, sessionData, useMe, useSession } from '../api/data.ts';
import { Form } from '../components/form.tsx';
import { ChoiceField } from '../components/choice.tsx';
import { AmountInput, Field, Switch, TextInput } from '../components/field.tsx';
import { useToast } from '../components/toast.tsx';
import { amountError } from '../format/amount.ts';
import { nanoDigits, shortest } from '../format/money.ts';
import { settingsWords, sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';

/** Saves changes of the user's profile, and shows them everywhere at once. */
function useSave() {
  const words = useWords(settingsWords);
  const toast = useToast();
  const { version } = useMe();
  return useMutation({
    mutationFn: (body: MeChange) => send<Me>('PATCH', 'me', { body, ifMatch: version }),
    onSuccess: (me) => {
      queryClient.setQueryData(sessionData.queryKey, (old) => old && { ...old, me });
      // Another zone groups by other days.
      void queryClient.invalidateQueries({
        predicate: ({ queryKey: [path] }) => path !== sessionData.queryKey[0],
      });
      toast({ tone: 'done', text: words.saved });
    },
    // Changed on another device: the next attempt is based on the stored version.
    onError: (error) =>
      error instanceof ApiError &&
      error.code === 'version_conflict' &&
      queryClient.invalidateQueries({ queryKey: sessionData.queryKey }),
  });
}

export function ProfileForm(): ReactNode {
  const { profile: words } = useWords(settingsWords);
  const { actions } = useWords(sharedWords);
  const me = useMe();
  const save = useSave();
  const [name, setName] = useState(me.name);
  const wanted = name.trim();
  return (
    <Form
      mistakes={{ name: wanted === '' ? 'required' : undefined }}
      saving={save}
      submit={actions.save}
      of={words.name}
      look="secondary"
      onSubmit={() => wanted !== me.name && save.mutate({ name: wanted })}
    >
      {(errors) => (
        <Field label={words.name} error={errors['name']}>
          {(tied) => (
            <TextInput
              {...tied}
              value={name}
              maxLength={100}
              onChange={({ target }) => setName(target.value)}
            />
          )}
        </Field>
      )}
    </Form>
  );
}

export function AccountForm(): ReactNode {
  const { account: words } = useWords(settingsWords);
  const { actions } = useWords(sharedWords);
  const { settings } = useMe();
  const { email: mails } = useSession().features;
  const save = useSave();
  const [zone, setZone] = useState(settings.zone);
  const lowBefore = settings.low_balance === null ? '' : shortest(settings.low_balance);
  const [low, setLow] = useState(lowBefore);
  const [email, setEmail] = useState(settings.email ?? '');
  const lowMistake = low === '' ? undefined : amountError(low, { decimals: nanoDigits });
  const submit = () =>
    save.mutate({
      ...(zone !== settings.zone && { zone }),
      ...(low !== lowBefore && { low_balance: low === '' ? null : low }),
      ...(email.trim() !== (settings.email ?? '') && { email: email.trim() || null }),
    });
  return (
    <Form
      mistakes={{ low_balance: lowMistake }}
      saving={save}
      submit={actions.save}
      onSubmit={submit}
    >
      {(errors) => (
        <>
          <ChoiceField
            label={words.zone}
            help={words.zoneHelp}
            value={zone}
            options={zonesWith(settings.zone).map((each) => [each, each] as const)}
            onChange={setZone}
          />
          <Field label={words.low} help={words.lowHelp} error={errors['low_balance']}>
            {(tied) => <AmountInput {...tied} value={low} onChange={setLow} />}
          </Field>
          {mails && (
            <Field label={words.email} help={words.emailHelp} error={errors['email']}>
              {(tied) => (
                <TextInput
                  {...tied}
                  type="email"
                  autoComplete="email"
                  maxLength={254}
                  value={email}
                  onChange={({ target }) => setEmail(target.value)}
                />
              )}
            </Field>
          )}
          <div className="flex flex-col gap-1">
            <Switch on={settings.shortcuts} onChange={(shortcuts) => save.mutate({ shortcuts })}>
              {words.shortcuts}
            </Switch>
            <p className="text-caption text-muted">{words.shortcutsHelp}</p>
          </div>
        </>
      )}
    </Form>
  );
}

/** All zones that the browser knows, and the stored one. */
function zonesWith(current: string): readonly string[] {
  return [...new Set([...Intl.supportedValuesOf('timeZone'), 'UTC', current])].sort();
}
