import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { GroupView, KeyChange, KeyDetail, KeyView, List } from '../../src/console/contract.ts';
import { send } from '../api/client.ts';
import { useData } from '../api/data.ts';
import { DayInput } from '../components/day-input.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Field, TextInput } from '../components/field.tsx';
import { Form, type Saving, useOpened } from '../components/form.tsx';
import { Loaded } from '../components/loaded.tsx';
import { useZone } from '../components/time.tsx';
import { useToast } from '../components/toast.tsx';
import { endOfDay } from '../format/day.ts';
import { formatDay } from '../format/time.ts';
import { keysWords, sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { GroupField, wrongExpiry } from './key-form.tsx';
import {
  LimitFields,
  limitsBody,
  type WrittenLimits,
  writtenLimits,
  wrongLimits,
} from './key-limits.tsx';
import { refreshKeys } from './key-parts.tsx';
import {
  TermFields,
  termsBody,
  type WrittenTerms,
  writtenTerms,
  wrongTerms,
} from './key-terms.tsx';

/**
 * Sends only the changed fields, with the version that was read, so that a change by somebody else
 * meanwhile is not overwritten.
 */
export function EditKey({
  detail: shown,
  onClose,
}: {
  readonly detail: KeyDetail;
  readonly onClose: () => void;
}): ReactNode {
  const detail = useOpened(shown);
  const words = useWords(keysWords);
  const groups = useData<List<GroupView>>('groups');
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
    <Dialog onClose={onClose} title={words.detail.editTitle(detail.name)}>
      <Loaded query={groups}>
        {({ items }) => (
          <KeyForm
            detail={detail}
            groups={items}
            saving={save}
            onSubmit={save.mutate}
            onCancel={onClose}
          />
        )}
      </Loaded>
    </Dialog>
  );
}

interface FormProps {
  readonly detail: KeyDetail;
  readonly groups: readonly GroupView[];
  readonly saving: Saving;
  readonly onSubmit: (change: KeyChange) => void;
  readonly onCancel: () => void;
}

/** A key as form fields. */
interface WrittenKey {
  readonly name: string;
  readonly group: string;
  readonly limits: WrittenLimits;
  readonly day: string;
  readonly terms: WrittenTerms;
}

const writtenKey = (detail: KeyDetail, zone: string): WrittenKey => ({
  name: detail.name,
  group: detail.group,
  limits: writtenLimits(detail),
  day: detail.expires_at === null ? '' : formatDay(detail.expires_at, zone),
  terms: writtenTerms(detail),
});

function wrongIn({ name, limits, day, terms }: WrittenKey, before: WrittenKey, zone: string) {
  return {
    ...(name.trim() === '' && { name: 'required' }),
    ...wrongLimits(limits, before.limits),
    expires_at: day === before.day ? undefined : wrongExpiry(day, zone),
    ...wrongTerms(terms),
  };
}

function changeOf(
  { name, group, limits, day, terms }: WrittenKey,
  before: WrittenKey,
  zone: string,
): KeyChange {
  return {
    ...(name.trim() !== before.name && { name: name.trim() }),
    ...(group !== before.group && { group }),
    ...limitsBody(limits, before.limits),
    ...(day !== before.day && { expires_at: day === '' ? null : endOfDay(day, zone) }),
    ...termsBody(terms, before.terms),
  };
}

function KeyForm({ detail, groups, saving, onSubmit, onCancel }: FormProps): ReactNode {
  const words = useWords(keysWords);
  const shared = useWords(sharedWords);
  const zone = useZone();
  const before = writtenKey(detail, zone);
  const [text, setText] = useState(before);
  const set = (change: Partial<WrittenKey>) => setText((old) => ({ ...old, ...change }));
  return (
    <Form
      mistakes={wrongIn(text, before, zone)}
      saving={saving}
      submit={shared.actions.save}
      onSubmit={() => onSubmit(changeOf(text, before, zone))}
      onCancel={onCancel}
    >
      {(errors) => (
        <>
          <Field label={words.form.name} error={errors['name']}>
            {(tied) => (
              <TextInput
                {...tied}
                value={text.name}
                maxLength={100}
                onChange={(event) => set({ name: event.target.value })}
              />
            )}
          </Field>
          <GroupField
            groups={groups}
            value={text.group}
            onChange={(group) => set({ group })}
            error={errors['group']}
          />
          <LimitFields
            limits={text.limits}
            errors={errors}
            onChange={(limits) => set({ limits })}
            note={words.detail.limitsCount}
          />
          <Field
            label={words.form.expires}
            help={words.form.expiresHelp(zone)}
            error={errors['expires_at']}
          >
            {(tied) => <DayInput {...tied} value={text.day} onChange={(day) => set({ day })} />}
          </Field>
          <TermFields terms={text.terms} errors={errors} onChange={(terms) => set({ terms })} />
        </>
      )}
    </Form>
  );
}
