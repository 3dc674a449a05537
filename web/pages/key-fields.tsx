import { type ReactNode, useState } from 'react';
import type { GroupView, KeyChange, KeyDetail } from '../../src/console/contract.ts';
import { DayInput } from '../components/day-input.tsx';
import { ChoiceField } from '../components/choice.tsx';
import { Field, TextInput } from '../components/field.tsx';
import { Form, type Mistakes, type Saving } from '../components/form.tsx';
import { useZone } from '../components/time.tsx';
import { endOfDay, isDay } from '../format/day.ts';
import { formatDay } from '../format/time.ts';
import { keysWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import {
  LimitFields,
  limitsBody,
  type WrittenLimits,
  writtenLimits,
  wrongLimits,
} from './key-limits.tsx';
import {
  TermFields,
  termsBody,
  type WrittenTerms,
  writtenTerms,
  wrongTerms,
} from './key-terms.tsx';

/** A key as form fields. */
export interface WrittenKey {
  readonly name: string;
  readonly group: string;
  readonly limits: WrittenLimits;
  readonly day: string;
  readonly terms: WrittenTerms;
}

export const newKey = (groups: readonly GroupView[]): WrittenKey => ({
  name: '',
  group: groups.find(({ name }) => name === 'default')?.name ?? groups[0]?.name ?? '',
  limits: writtenLimits(),
  day: '',
  terms: writtenTerms(),
});

export const writtenKey = (detail: KeyDetail, zone: string): WrittenKey => ({
  name: detail.name,
  group: detail.group,
  limits: writtenLimits(detail),
  day: detail.expires_at === null ? '' : formatDay(detail.expires_at, zone),
  terms: writtenTerms(detail),
});

/** Only what differs from before. */
export function changeOf(
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

function wrongIn(
  { name, limits, day, terms }: WrittenKey,
  before: WrittenKey,
  zone: string,
): Mistakes {
  return {
    ...(name.trim() === '' && { name: 'required' }),
    ...wrongLimits(limits, before.limits),
    expires_at: day === before.day ? undefined : wrongExpiry(day, zone),
    ...wrongTerms(terms),
  };
}

/** What is wrong with the day on which a key expires; empty: it never does. */
function wrongExpiry(day: string, zone: string): string | undefined {
  if (day === '') return undefined;
  if (!isDay(day)) return 'not_a_day';
  return Date.parse(endOfDay(day, zone)) <= Date.now() ? 'past' : undefined;
}

interface KeyFormProps {
  /** The key before; a new one has no name yet. */
  readonly before: WrittenKey;
  readonly groups: readonly GroupView[];
  readonly saving: Saving;
  readonly submit: string;
  /** Below the limits. */
  readonly note?: string;
  readonly onSubmit: (key: WrittenKey) => void;
  readonly onCancel: () => void;
}

/** The fields of a key, new or known. */
export function KeyForm({ before, groups, note, onSubmit, ...form }: KeyFormProps): ReactNode {
  const { form: words } = useWords(keysWords);
  const zone = useZone();
  const [text, setText] = useState(before);
  const set = (change: Partial<WrittenKey>) => setText((old) => ({ ...old, ...change }));
  return (
    <Form {...form} mistakes={wrongIn(text, before, zone)} onSubmit={() => onSubmit(text)}>
      {(errors) => (
        <>
          <Field label={words.name} error={errors['name']}>
            {(tied) => (
              <TextInput
                {...tied}
                name="name"
                value={text.name}
                maxLength={100}
                {...(before.name === '' && {
                  autoFocus: true,
                  placeholder: words.namePlaceholder,
                })}
                onChange={({ target }) => set({ name: target.value })}
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
            {...(note !== undefined && { note })}
          />
          <Field label={words.expires} help={words.expiresHelp(zone)} error={errors['expires_at']}>
            {(tied) => <DayInput {...tied} value={text.day} onChange={(day) => set({ day })} />}
          </Field>
          <TermFields terms={text.terms} errors={errors} onChange={(terms) => set({ terms })} />
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

function GroupField({ groups, value, onChange, error }: GroupFieldProps): ReactNode {
  const { form: words } = useWords(keysWords);
  return (
    <ChoiceField
      label={words.group}
      help={words.groupHelp}
      error={error}
      name="group"
      value={value}
      options={[
        ...(groups.every(({ name }) => name !== value) ? [[value, value] as const] : []),
        ...groups.map(
          ({ name, multiplier, models }) =>
            [name, words.groupOption(name, multiplier, models)] as const,
        ),
      ]}
      onChange={onChange}
    />
  );
}
