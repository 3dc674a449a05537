import { clsx } from 'clsx';
import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from 'react';
import { plainAmount } from '../format/amount.ts';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { Icon } from './icon.tsx';

/** A control that is scrolled to keeps its label in view. */
const controlLook =
  'w-full scroll-mt-8 rounded-control border bg-surface text-table text-text placeholder:text-faint [&[readonly]]:bg-sunken disabled:bg-sunken disabled:text-faint';
const height = 'h-8 px-2.5 touch:h-11';

/** The attributes that tie a control to its label, help and error. */
export interface Tied {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': true | undefined;
}

export interface FieldProps {
  readonly label: ReactNode;
  readonly help?: ReactNode;
  /**
   * A code of the server's `fields`, or `required`, `amount`, …; or a text. Shown below, with an
   * icon.
   */
  readonly error?: string | undefined;
  readonly className?: string;
  readonly children: (tied: Tied) => ReactNode;
}

/**
 * Label above, help below, error below that:
 * `<Field label=… error=…>{(tied) => <TextInput {...tied} … />}</Field>`.
 */
export function Field({ label, help, error, className, children }: FieldProps): ReactNode {
  const id = useId();
  return (
    <div className={clsx('flex min-w-0 flex-col gap-1', className)}>
      <label htmlFor={id} className="text-table font-medium">
        {label}
      </label>
      {children({ id, ...described(id, help, error) })}
      <FieldHelp id={id} help={help} />
      <FieldError id={id} error={error} />
    </div>
  );
}

/** The attributes of what has a `FieldHelp` and a `FieldError` of this id. */
function described(id: string, help: ReactNode, error: string | undefined): Omit<Tied, 'id'> {
  const ids = [help !== undefined && `${id}-help`, error !== undefined && `${id}-error`];
  return {
    'aria-describedby': ids.filter(Boolean).join(' ') || undefined,
    'aria-invalid': error === undefined ? undefined : true,
  };
}

interface FieldsetProps extends Pick<FieldProps, 'help' | 'error'> {
  readonly legend: ReactNode;
  readonly children: ReactNode;
}

/** Several controls that are one field: it has the help and the error, and a form focuses it. */
export function Fieldset({ legend, help, error, children }: FieldsetProps): ReactNode {
  const id = useId();
  return (
    <fieldset className="flex min-w-0 flex-col gap-1" tabIndex={-1} {...described(id, help, error)}>
      <legend className="text-table font-medium">{legend}</legend>
      <FieldHelp id={id} help={help} />
      {children}
      <FieldError id={id} error={error} />
    </fieldset>
  );
}

function FieldHelp({ id, help }: Pick<FieldProps, 'help'> & { readonly id: string }): ReactNode {
  if (help === undefined) return null;
  return (
    <p id={`${id}-help`} className="text-caption text-muted">
      {help}
    </p>
  );
}

interface FieldErrorProps {
  readonly id: string;
  readonly error: string | undefined;
}

function FieldError({ id, error }: FieldErrorProps): ReactNode {
  const { errors } = useWords(sharedWords);
  if (error === undefined) return null;
  return (
    <p id={`${id}-error`} className="flex items-start gap-1 text-caption text-bad">
      <Icon name="failed" className="mt-px" />
      {errors.fields[error] ?? error}
    </p>
  );
}

export function TextInput({
  className,
  ...rest
}: InputHTMLAttributes<HTMLInputElement>): ReactNode {
  return (
    <input
      type="text"
      autoComplete="off"
      {...rest}
      className={clsx(controlLook, height, borderOf(rest), className)}
    />
  );
}

interface AmountInputProps
  extends Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange' | 'value'> {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Yuan. Reads `，。` and full-width digits as plain ones; `amountError` checks the result. */
export function AmountInput({ value, onChange, className, ...rest }: AmountInputProps): ReactNode {
  return (
    <div className="relative">
      <span
        aria-hidden="true"
        className="absolute inset-y-0 left-2.5 grid place-items-center text-table text-muted"
      >
        ¥
      </span>
      <input
        type="text"
        inputMode="decimal"
        autoComplete="off"
        {...rest}
        value={value}
        onChange={(event) => onChange(plainAmount(event.target.value))}
        className={clsx(controlLook, height, borderOf(rest), 'pl-7 figures', className)}
      />
    </div>
  );
}

export function Textarea({
  className,
  ...rest
}: TextareaHTMLAttributes<HTMLTextAreaElement>): ReactNode {
  return (
    <textarea
      rows={4}
      {...rest}
      className={clsx(controlLook, 'px-2.5 py-1.5', borderOf(rest), className)}
    />
  );
}

/** The browser's own list: searchable by typing, right on a phone, no script. */
export function Select({
  className,
  children,
  ...rest
}: SelectHTMLAttributes<HTMLSelectElement>): ReactNode {
  return (
    <div className={clsx('relative', className)}>
      <select
        {...rest}
        className={clsx(controlLook, height, borderOf(rest), 'appearance-none pr-8')}
      >
        {children}
      </select>
      <Icon
        name="down"
        className="pointer-events-none absolute top-1/2 right-2.5 -translate-y-1/2 text-muted"
      />
    </div>
  );
}

interface CheckboxProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'type'> {
  readonly children: ReactNode;
}

export function Checkbox({ children, className, ...rest }: CheckboxProps): ReactNode {
  return (
    <label
      className={clsx(
        'flex min-h-6 items-start gap-2 py-0.5 text-table touch:min-h-11 touch:items-center',
        className,
      )}
    >
      <input
        type="checkbox"
        {...rest}
        className="mt-0.5 size-4 shrink-0 accent-accent touch:mt-0"
      />
      <span className="min-w-0">{children}</span>
    </label>
  );
}

interface SwitchProps {
  readonly on: boolean;
  readonly onChange: (on: boolean) => void;
  readonly children: ReactNode;
}

/** For settings that take effect at once. */
export function Switch({ on, onChange, children }: SwitchProps): ReactNode {
  return (
    <button
      type="button"
      role="switch"
      aria-checked={on}
      onClick={() => onChange(!on)}
      className="flex min-h-6 items-center gap-2 rounded-badge text-left text-table touch:min-h-11"
    >
      <span
        className={clsx(
          'relative h-5 w-9 shrink-0 rounded-full border',
          on ? 'border-accent bg-accent' : 'border-edge bg-sunken',
        )}
      >
        <span
          className={clsx(
            'absolute top-0.5 size-3.5 rounded-full',
            on ? 'right-0.5 bg-on-accent' : 'left-0.5 bg-edge',
          )}
          aria-hidden="true"
        />
      </span>
      <span className="min-w-0">{children}</span>
    </button>
  );
}

function borderOf(rest: { readonly 'aria-invalid'?: unknown }): string {
  return rest['aria-invalid'] ? 'border-bad' : 'border-edge';
}
