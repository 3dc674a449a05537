import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { CreatedKey, GroupView, List, NewKeyBody } from '../../src/console/contract.ts';
import { newIdempotencyKey, send } from '../api/client.ts';
import { useData } from '../api/data.ts';
import { Banner } from '../components/banner.tsx';
import { DayInput } from '../components/day-input.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Field, Select, TextInput } from '../components/field.tsx';
import { Form, type Mistakes, type Saving } from '../components/form.tsx';
import { Loaded } from '../components/loaded.tsx';
import { SecretOnce } from '../components/secret-once.tsx';
import { useZone } from '../components/time.tsx';
import { endOfDay, isDay } from '../format/day.ts';
import { keysWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import {
  LimitFields,
  limitsBody,
  type WrittenLimits,
  writtenLimits,
  wrongLimits,
} from './key-limits.tsx';
import { keyVariable, refreshKeys } from './key-parts.tsx';
import {
  TermFields,
  termsBody,
  type WrittenTerms,
  writtenTerms,
  wrongTerms,
} from './key-terms.tsx';

/**
 * The form, then the secret, shown once. Sent twice it creates one key: the form makes its
 * idempotency key when it opens.
 */
export function NewKey({ onClose }: { readonly onClose: () => void }): ReactNode {
  const words = useWords(keysWords);
  const [idempotencyKey] = useState(newIdempotencyKey);
  const [secret, setSecret] = useState<string | null>();
  const groups = useData<List<GroupView>>('groups');
  const create = useMutation({
    mutationFn: (body: NewKeyBody) => send<CreatedKey>('POST', 'keys', { body, idempotencyKey }),
    gcTime: 0, // the secret stays in no cache
    onSuccess: ({ secret: made }) => {
      setSecret(made);
      void refreshKeys();
    },
  });
  if (typeof secret === 'string')
    return <SecretOnce secret={secret} variable={keyVariable} onDone={onClose} />;
  return (
    <Dialog onClose={onClose} title={words.form.title}>
      {secret === null ? (
        <Banner tone="warn">{words.secret.gone}</Banner>
      ) : (
        <Loaded query={groups}>
          {({ items }) => (
            <KeyForm groups={items} saving={create} onSubmit={create.mutate} onCancel={onClose} />
          )}
        </Loaded>
      )}
    </Dialog>
  );
}

interface FormProps {
  readonly groups: readonly GroupView[];
  readonly saving: Saving;
  readonly onSubmit: (body: NewKeyBody) => void;
  readonly onCancel: () => void;
}

/** What is wrong with the day on which a key expires; empty: it never does. */
export function wrongExpiry(day: string, zone: string): string | undefined {
  if (day === '') return undefined;
  if (!isDay(day)) return 'not_a_day';
  return Date.parse(endOfDay(day, zone)) <= Date.now() ? 'past' : undefined;
}

function wrongIn(
  name: string,
  limits: WrittenLimits,
  expires: string | undefined,
  terms: WrittenTerms,
): Mistakes {
  return {
    ...(name.trim() === '' && { name: 'required' }),
    ...wrongLimits(limits),
    expires_at: expires,
    ...wrongTerms(terms),
  };
}

function KeyForm({ groups, saving, onSubmit, onCancel }: FormProps): ReactNode {
  const { form: words } = useWords(keysWords);
  const zone = useZone();
  const [name, setName] = useState('');
  const [group, setGroup] = useState(
    groups.find((each) => each.name === 'default')?.name ?? groups[0]?.name ?? '',
  );
  const [limits, setLimits] = useState(writtenLimits);
  const [day, setDay] = useState('');
  const [terms, setTerms] = useState(writtenTerms);
  const submit = () =>
    onSubmit({
      name: name.trim(),
      group,
      ...limitsBody(limits),
      ...(day !== '' && { expires_at: endOfDay(day, zone) }),
      ...termsBody(terms),
    });
  return (
    <Form
      mistakes={wrongIn(name, limits, wrongExpiry(day, zone), terms)}
      saving={saving}
      submit={words.submit}
      onSubmit={submit}
      onCancel={onCancel}
    >
      {(errors) => (
        <>
          <Field label={words.name} error={errors['name']}>
            {(tied) => (
              <TextInput
                {...tied}
                autoFocus
                name="name"
                value={name}
                maxLength={100}
                placeholder={words.namePlaceholder}
                onChange={(event) => setName(event.target.value)}
              />
            )}
          </Field>
          <GroupField groups={groups} value={group} onChange={setGroup} error={errors['group']} />
          <LimitFields limits={limits} errors={errors} onChange={setLimits} />
          <Field label={words.expires} help={words.expiresHelp(zone)} error={errors['expires_at']}>
            {(tied) => <DayInput {...tied} value={day} onChange={setDay} />}
          </Field>
          <TermFields terms={terms} errors={errors} onChange={setTerms} />
        </>
      )}
    </Form>
  );
}

interface GroupFieldProps {
  readonly groups: readonly GroupView[];
  readonly value: string;
  readonly onChange: (group: string) => void;
  readonly error: string | undefined;
}

export function GroupField({ groups, value, onChange, error }: GroupFieldProps): ReactNode {
  const { form: words } = useWords(keysWords);
  return (
    <Field label={words.group} help={words.groupHelp} error={error}>
      {(tied) => (
        <Select
          {...tied}
          name="group"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        >
          {groups.every(({ name }) => name !== value) && <option value={value}>{value}</option>}
          {groups.map((each) => (
            <option key={each.name} value={each.name}>
              {words.groupOption(each.name, each.multiplier, each.models)}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}
