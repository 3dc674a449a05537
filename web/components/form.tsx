import { clsx } from 'clsx';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { ApiError } from '../api/client.ts';
import { shortest } from '../format/money.ts';
import { refusedFields } from '../format/wrong-fields.ts';
import { reasonWords, sharedWords } from '../words/families.ts';
import { useLoadedWords, useWords } from '../words/family.ts';
import { Banner } from './banner.tsx';
import { Button } from './button.tsx';
import { Foot } from './dialog-foot.tsx';
import { DiffList, type Difference } from './diff-list.tsx';
import { useErrorText } from './error-panel.tsx';

/** What is wrong with a form, by field: a code of `errors.fields`, or a text. */
export type Mistakes = Readonly<Record<string, string | undefined>>;

interface FormButtonsProps {
  readonly form: string;
  /** The verb on the submit button. */
  readonly submit: string;
  /** What is saved, where a page has several forms: screen readers hear it after the verb. */
  readonly of?: string;
  readonly look?: 'primary' | 'secondary' | 'danger';
  /** The submit button is large and as wide as the form, which is what the page is for. */
  readonly large?: boolean;
  readonly busy?: boolean;
  /** The word on the button that leaves the form; a form of a page has no such button. */
  readonly cancel?: string;
  readonly onCancel?: () => void;
  /**
   * Submit buttons for other ways, of the form with this id; `onSubmit` gets the value of the pressed
   * one. They stand after the first, which Enter in a field presses.
   */
  readonly others?: (form: string) => ReactNode;
}

/** How an attempt to save goes: what `useMutation` tells. */
export interface Saving {
  readonly error: Error | null;
  readonly isPending: boolean;
}

interface FormProps extends Omit<FormButtonsProps, 'busy' | 'form'> {
  /** Shown from the first attempt on; while there are any, nothing is submitted. */
  readonly mistakes?: Mistakes;
  /** The last attempt. */
  readonly saving?: Saving;
  /** What is saved: if somebody else saved meanwhile, the differences are shown. */
  readonly mine?: object;
  /** The words for the error of the last attempt, where the form has its own. */
  readonly problem?: ReactNode;
  readonly onSubmit: (way: string) => void;
  readonly children?: ReactNode | ((errors: Mistakes) => ReactNode);
}

const noMistakes: Mistakes = {};
const notYet: Saving = { error: null, isPending: false };

/**
 * A form: its fields, then what is wrong as a whole, then its buttons, in the foot of a dialog where
 * it stands in one. An attempt that fails goes to the first field that is wrong, or to what is wrong
 * as a whole.
 */
export function Form({
  mistakes = noMistakes,
  saving: { error, isPending } = notYet,
  mine,
  problem,
  onSubmit,
  children,
  ...buttons
}: FormProps): ReactNode {
  const [attempts, setAttempts] = useState(0);
  const form = useRef<HTMLFormElement>(null);
  const whole = useRef<HTMLDivElement>(null);
  const refused = useRefusedFields(error);
  const id = useId();
  useEffect(() => {
    const wrong = form.current?.querySelector<HTMLElement>('[aria-invalid]');
    wrong?.focus({ preventScroll: true });
    // In the middle: its own text is below it.
    if (wrong) wrong.scrollIntoView({ block: 'center' });
    else whole.current?.scrollIntoView({ block: 'nearest' });
  }, [attempts, error]);
  return (
    <form
      ref={form}
      id={id}
      noValidate
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        setAttempts(attempts + 1);
        if (Object.values(mistakes).every((mistake) => mistake === undefined))
          onSubmit(wayOf(event.nativeEvent));
      }}
    >
      {typeof children === 'function'
        ? children({ ...refused, ...(attempts > 0 && mistakes) })
        : children}
      <div ref={whole} className="empty:hidden">
        {problem ?? <Refusal error={error} refused={refused} mine={mine} />}
      </div>
      <FormButtons form={id} busy={isPending} {...buttons} />
    </form>
  );
}

/** The value of the submit button that was pressed. */
function wayOf(event: Event): string {
  const by = event instanceof SubmitEvent ? event.submitter : null;
  return by instanceof HTMLButtonElement ? by.value : '';
}

/**
 * The object of a form as it was when the form opened. If somebody else saves it meanwhile, the
 * server reports a conflict, and nothing is overwritten.
 */
export function useOpened<Thing>(thing: Thing): Thing {
  return useState(() => thing)[0];
}

/** What the server refused, by field. Its sentences are the reader's where a page has the words. */
export function useRefusedFields(error: Error | null): Mistakes {
  const { reasons = {} } = useLoadedWords(reasonWords) ?? {};
  return error instanceof ApiError ? refusedFields(error, reasons) : {};
}

/** The submit and cancel buttons of the form with this id. */
function FormButtons({
  form,
  submit,
  of,
  look = 'primary',
  large = false,
  busy = false,
  cancel,
  onCancel,
  others,
}: FormButtonsProps): ReactNode {
  const { actions } = useWords(sharedWords);
  return (
    <Foot className={clsx('flex', large ? 'flex-col gap-4' : 'justify-end gap-2')}>
      {onCancel && <Button onClick={onCancel}>{cancel ?? actions.cancel}</Button>}
      <Button
        look={look}
        size={large ? 'large' : 'normal'}
        type="submit"
        form={form}
        busy={busy}
        aria-label={of === undefined ? undefined : `${submit}: ${of}`}
      >
        {submit}
      </Button>
      {others?.(form)}
    </Foot>
  );
}

/** An error of what has no fields of its own. */
export function FormProblem({ error }: Pick<RefusalProps, 'error'>): ReactNode {
  return <Refusal error={error} refused={useRefusedFields(error)} />;
}

interface RefusalProps {
  readonly error: Error | null;
  /** Of `useRefusedFields`. */
  readonly refused: Mistakes;
  readonly mine?: object | undefined;
}

/** The error of a form: fields show theirs in place, this shows the rest. */
export function Refusal({ error, refused, mine }: RefusalProps): ReactNode {
  const words = useWords(sharedWords);
  const errorText = useErrorText();
  if (error === null) return null;
  const others =
    error instanceof ApiError && error.code === 'invalid' ? Object.entries(refused) : [];
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
          <p className="mb-2 text-caption text-muted">{words.errors.changed}</p>
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
  readonly what: string | undefined;
}): ReactNode {
  const { errors } = useWords(sharedWords);
  return (
    <>
      <span className="font-mono">{field}</span> {errors.fields[what ?? ''] ?? what}
    </>
  );
}

/** The members whose stored value differs from the form's. */
function differing(current: unknown, mine: object): readonly Difference[] {
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
