import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import type { OriginName } from '../../../src/console/contract.ts';
import { useSession } from '../../api/data.ts';
import { useErrorToast } from '../../components/error-panel.tsx';
import { Field, TextInput } from '../../components/field.tsx';
import { useToast } from '../../components/toast.tsx';
import { operatorWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';

export const pathName = encodeURIComponent;

/** Runs an action and shows a toast with its result; false: it failed. */
export function useAct(): (act: () => Promise<unknown>, done?: string) => Promise<boolean> {
  const toast = useToast();
  const showError = useErrorToast();
  return async (act, done) => {
    try {
      await act();
    } catch (error) {
      showError(error);
      return false;
    }
    if (done !== undefined) toast({ tone: 'done', text: done });
    return true;
  };
}

/** Where the buttons of a thing would be that the configuration file manages: why it has none. */
export function FromFile({ children }: { readonly children: ReactNode }): ReactNode {
  return <p className="max-w-96 text-caption text-muted">{children}</p>;
}

/** Where a thing is set: the configuration file with its path, or the console. */
export function Origin({ of }: { readonly of: OriginName }): ReactNode {
  const { origin } = useWords(operatorWords);
  const { configuration_file: file } = useSession();
  return (
    <>
      {origin[of]}
      {of === 'configuration' && file !== undefined && (
        <code className="block text-caption wrap-anywhere">{file}</code>
      )}
    </>
  );
}

interface ReasonProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error?: string | undefined;
  readonly className?: string;
}

/** A change of prices, money or users needs a reason. */
export function ReasonField({ value, onChange, error, className }: ReasonProps): ReactNode {
  const { form } = useWords(operatorWords);
  return (
    <Field
      label={form.reason}
      help={form.reasonHelp}
      error={error}
      {...(className && { className })}
    >
      {(tied) => (
        <TextInput
          {...tied}
          name="reason"
          value={value}
          maxLength={200}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

/** A list that wraps: models, groups, ways of signing in. */
export function Chips({
  items,
  className,
}: {
  readonly items: readonly ReactNode[];
  readonly className?: string;
}): ReactNode {
  const { none } = useWords(operatorWords);
  if (items.length === 0) return <span className="text-muted">{none}</span>;
  return (
    <ul className={clsx('flex flex-wrap gap-1', className)}>
      {items.map((item, index) => (
        <li
          key={index}
          className="max-w-full truncate rounded-badge bg-idle-soft px-1.5 text-caption leading-5"
        >
          {item}
        </li>
      ))}
    </ul>
  );
}
