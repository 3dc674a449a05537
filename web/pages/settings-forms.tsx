import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import type { Me, MeChange } from '../../src/console/contract.ts';
import { ApiError, send } from '../api/client.ts';
import { queryClient, sessionData, useMe, useSession } from '../api/data.ts';
import { Button } from '../components/button.tsx';
import { errorText } from '../components/error-panel.tsx';
import { AmountInput, Field, Select, Switch, TextInput } from '../components/field.tsx';
import { useToast } from '../components/toast.tsx';
import { amountError } from '../format/amount.ts';
import { settingsWords, sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';

/** Saves changes of the user's profile, and shows them everywhere at once. */
function useSave() {
  const words = useWords(settingsWords);
  const shared = useWords(sharedWords);
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
    onError: (error) => {
      toast({ tone: 'failed', text: errorText(error, shared) });
      // Changed on another device: the next attempt is based on the stored version.
      if (error instanceof ApiError && error.code === 'version_conflict')
        void queryClient.invalidateQueries({ queryKey: sessionData.queryKey });
    },
  });
}

export function ProfileForm(): ReactNode {
  const { profile: words } = useWords(settingsWords);
  const shared = useWords(sharedWords);
  const me = useMe();
  const save = useSave();
  const [name, setName] = useState(me.name);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() !== '' && name.trim() !== me.name) save.mutate({ name: name.trim() });
  };
  return (
    <form onSubmit={submit} className="flex items-end gap-2">
      <Field
        label={words.name}
        error={name.trim() === '' ? 'required' : undefined}
        className="flex-1"
      >
        {(tied) => (
          <TextInput
            {...tied}
            value={name}
            maxLength={100}
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
      <Button
        type="submit"
        busy={save.isPending}
        aria-label={`${shared.actions.save}: ${words.name}`}
      >
        {shared.actions.save}
      </Button>
    </form>
  );
}

const amountDecimals = 9;

export function AccountForm(): ReactNode {
  const { account: words } = useWords(settingsWords);
  const shared = useWords(sharedWords);
  const { settings } = useMe();
  const save = useSave();
  const [zone, setZone] = useState(settings.zone);
  const lowBefore = settings.low_balance?.replace(/\.?0+$/, '') ?? '';
  const [low, setLow] = useState(lowBefore);
  const { email: mails } = useSession().features;
  const [email, setEmail] = useState(settings.email ?? '');
  const [wrong, setWrong] = useState<string>();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const error = low === '' ? undefined : amountError(low, { decimals: amountDecimals });
    setWrong(error);
    if (error !== undefined) return;
    save.mutate({
      ...(zone !== settings.zone && { zone }),
      ...(low !== lowBefore && { low_balance: low === '' ? null : low }),
      ...(email.trim() !== (settings.email ?? '') && { email: email.trim() || null }),
    });
  };
  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-4">
      <Field label={words.zone} help={words.zoneHelp}>
        {(tied) => (
          <Select {...tied} value={zone} onChange={(event) => setZone(event.target.value)}>
            {zonesWith(settings.zone).map((each) => (
              <option key={each}>{each}</option>
            ))}
          </Select>
        )}
      </Field>
      <Field label={words.low} help={words.lowHelp} error={wrong}>
        {(tied) => <AmountInput {...tied} value={low} onChange={setLow} />}
      </Field>
      {mails && (
        <Field
          label={words.email}
          help={words.emailHelp}
          error={save.error instanceof ApiError ? save.error.fields['email'] : undefined}
        >
          {(tied) => (
            <TextInput
              {...tied}
              type="email"
              autoComplete="email"
              maxLength={254}
              value={email}
              onChange={(event) => setEmail(event.target.value)}
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
      <div className="flex justify-end">
        <Button look="primary" type="submit" busy={save.isPending}>
          {shared.actions.save}
        </Button>
      </div>
    </form>
  );
}

/** All zones that the browser knows, and the stored one. */
function zonesWith(current: string): readonly string[] {
  return [...new Set([...Intl.supportedValuesOf('timeZone'), 'UTC', current])].sort();
}
