import type { ReactNode } from 'react';
import type { KeyTermsBody, KeyTermsView } from '../../src/console/contract.ts';
import { Field, Textarea, TextInput } from '../components/field.tsx';
import { keysWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';

/** The limits of a key as form fields: lists with one entry per line, counts as typed. */
export interface WrittenTerms {
  readonly models: string;
  readonly addresses: string;
  readonly rpm: string;
  readonly tpm: string;
  readonly concurrency: string;
}

const counts = ['rpm', 'tpm', 'concurrency'] as const;

export function writtenTerms(terms?: KeyTermsView): WrittenTerms {
  const text = (count: number | null | undefined): string => count?.toString() ?? '';
  return {
    models: terms?.only_models?.join('\n') ?? '',
    addresses: terms?.addresses?.join('\n') ?? '',
    rpm: text(terms?.rpm),
    tpm: text(terms?.tpm),
    concurrency: text(terms?.concurrency),
  };
}

/** Only the limits that differ from before. A list may also be separated by commas. */
export function termsBody(written: WrittenTerms, before: WrittenTerms): KeyTermsBody {
  const list = (text: string): string[] => text.split(/[\s,，、]+/).filter((each) => each !== '');
  const number = (text: string): number | null => (text.trim() === '' ? null : Number(text));
  return {
    ...(written.models !== before.models && { only_models: list(written.models) }),
    ...(written.addresses !== before.addresses && { addresses: list(written.addresses) }),
    ...Object.fromEntries(
      counts
        .filter((name) => written[name] !== before[name])
        .map((name) => [name, number(written[name])]),
    ),
  };
}

/** Error codes by field, for counts that are no numbers. */
export function wrongTerms(written: WrittenTerms): Readonly<Record<string, string>> {
  const wrong = counts.filter(
    (name) => written[name].trim() !== '' && !/^[1-9]\d{0,8}$/.test(written[name].trim()),
  );
  return Object.fromEntries(wrong.map((name) => [name, 'not_a_number']));
}

interface TermFieldsProps {
  readonly terms: WrittenTerms;
  readonly errors: Readonly<Record<string, string | undefined>>;
  readonly onChange: (terms: WrittenTerms) => void;
}

/**
 * Folded by default: for most keys the limits of their group are enough. Open where a limit is set
 * or wrong.
 */
export function TermFields({ terms, errors, onChange }: TermFieldsProps): ReactNode {
  const { form: words } = useWords(keysWords);
  const filled = Object.values(terms).some((text) => text !== '');
  const wrong = ['only_models', 'addresses', ...counts].some((name) => errors[name] !== undefined);
  return (
    <details open={filled || wrong || undefined}>
      <summary className="cursor-pointer text-table font-medium">{words.terms}</summary>
      <div className="mt-3 flex flex-col gap-4">
        <Field label={words.onlyModels} help={words.onlyModelsHelp} error={errors['only_models']}>
          {(tied) => (
            <Textarea
              {...tied}
              name="only_models"
              rows={2}
              spellCheck={false}
              value={terms.models}
              onChange={(event) => onChange({ ...terms, models: event.target.value })}
            />
          )}
        </Field>
        <Field label={words.addresses} help={words.addressesHelp} error={errors['addresses']}>
          {(tied) => (
            <Textarea
              {...tied}
              name="addresses"
              rows={2}
              spellCheck={false}
              placeholder={'203.0.113.7\n10.0.0.0/8'}
              value={terms.addresses}
              onChange={(event) => onChange({ ...terms, addresses: event.target.value })}
            />
          )}
        </Field>
        <div className="grid gap-4 sm:grid-cols-3">
          {counts.map((name) => (
            <Field key={name} label={words[name]} error={errors[name]}>
              {(tied) => (
                <TextInput
                  {...tied}
                  name={name}
                  inputMode="numeric"
                  value={terms[name]}
                  onChange={(event) => onChange({ ...terms, [name]: event.target.value })}
                />
              )}
            </Field>
          ))}
        </div>
      </div>
    </details>
  );
}
