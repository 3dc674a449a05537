import { clsx } from 'clsx';
import { type ReactNode, useState } from 'react';
import { ApiError } from '../../api/client.ts';
import { queryClient } from '../../api/data.ts';
import { useNow } from '../../browser/now.ts';
import { Banner } from '../../components/banner.tsx';
import { DiffList, type Difference } from '../../components/diff-list.tsx';
import { errorText } from '../../components/error-panel.tsx';
import { Field, TextInput } from '../../components/field.tsx';
import { ZoneNote } from '../../components/time.tsx';
import { useToast } from '../../components/toast.tsx';
import { shortest } from '../../format/written-price.ts';
import { operatorWords, sharedWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';

export const pathName = encodeURIComponent;

/**
 * Fetches every query below a path again where a page shows it: for `operator/channels` each
 * channel and its health, too.
 */
export function refresh(path: string): Promise<void> {
  return queryClient.invalidateQueries({
    predicate: ({ queryKey: [searchDefaults] }) =>
      typeof searchDefaults === 'string' &&
      (searchDefaults === path || searchDefaults.startsWith(`${path}/`)),
  });
}

/** The text of an error for the user. */
export function useErrorText(): (error: unknown) => string {
  const shared = useWords(sharedWords);
  return (error) => errorText(error, shared);
}

/** Runs an action and shows a toast with its result; false: it failed. */
export function useAct(): (act: () => Promise<unknown>, done?: string) => Promise<boolean> {
  const toast = useToast();
  const errorText = useErrorText();
  return async (act, done) => {
    try {
      await act();
    } catch (error) {
      toast({ tone: 'failed', text: errorText(error) });
      return false;
    }
    if (done !== undefined) toast({ tone: 'done', text: done });
    return true;
  };
}

/** The error of a form: fields show theirs in place, this shows the rest. */
export function FormProblem({
  error,
  mine,
}: {
  readonly error: Error | null;
  readonly mine?: object;
}): ReactNode {
  const errorText = useErrorText();
  const { form } = useWords(operatorWords);
  if (error === null) return null;
  const others =
    error instanceof ApiError && error.code === 'invalid' ? Object.entries(error.fields) : [];
  return (
    <div role="alert">
      <Banner tone="bad">
        {errorText(error)}
        {others.length > 0 && (
          <ul className="mt-1 list-disc pl-5 text-caption">
            {others.map(([field, what]) => (
              <li key={field}>
                <FieldProblem field={field} what={what} />
              </li>
            ))}
          </ul>
        )}
      </Banner>
      {error instanceof ApiError && error.code === 'version_conflict' && mine !== undefined && (
        <div className="mt-2 rounded-control border border-line p-3">
          <p className="mb-2 text-caption text-muted">{form.changed}</p>
          <DiffList differences={differing(error.current, mine)} />
        </div>
      )}
    </div>
  );
}

function FieldProblem({
  field,
  what,
}: {
  readonly field: string;
  readonly what: string;
}): ReactNode {
  const { errors } = useWords(sharedWords);
  return (
    <>
      <span className="font-mono">{field}</span> {errors.fields[what] ?? what}
    </>
  );
}

/** The members whose stored value differs from the form's. */
export function differing(current: unknown, mine: object): readonly Difference[] {
  const theirs = new Map(
    typeof current === 'object' && current !== null ? Object.entries(current) : [],
  );
  return Object.entries(mine)
    .filter(([member, value]) => theirs.has(member) && plain(theirs.get(member)) !== plain(value))
    .map(([member, value]) => ({
      member,
      before: textOf(theirs.get(member)),
      after: textOf(value),
    }));
}

/** `1.00` and `1` are equal. */
const plain = (value: unknown): string | undefined =>
  JSON.stringify(value, (_name, each: unknown) =>
    typeof each === 'string' && /^\d+\.\d+$/.test(each) ? shortest(each) : each,
  );

function textOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Errors by field from the server; they take precedence over the form's own. */
export function fieldErrors(error: Error | null): Readonly<Record<string, string | undefined>> {
  return error instanceof ApiError ? error.fields : {};
}

/**
 * The version that a save is based on: the one that the form opened with; after a conflict that
 * showed somebody else's save (`onConflict`), that one.
 */
export function useVersion(opened: number): {
  readonly version: number;
  readonly onConflict: (error: Error) => void;
} {
  const [version, setVersion] = useState(opened);
  const onConflict = (error: Error): void => {
    const current =
      error instanceof ApiError && error.code === 'version_conflict' ? error.current : undefined;
    if (typeof current === 'object' && current !== null && 'version' in current)
      setVersion(Number(current.version));
  };
  return { version, onConflict };
}

/** The zone of the page's times, where the response carries no time of its own. */
export function ZoneNow(): ReactNode {
  return <ZoneNote at={new Date(useNow()).toISOString()} />;
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
