import type { ReactNode } from 'react';
import { Field, type FieldProps, Select } from './field.tsx';

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  /** The text of the empty value, which filters nothing. */
  readonly any?: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly className?: string;
  readonly onChange: (value: string) => void;
}

/** A filter, or the order, of a list: one of several, always in view. */
export function Choice({
  label,
  value,
  any,
  options,
  className = '',
  onChange,
}: ChoiceProps): ReactNode {
  return (
    <Select
      className={className}
      aria-label={label}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    >
      {any !== undefined && <option value="">{any}</option>}
      {options.map(([each, text]) => (
        <option key={each} value={each}>
          {text}
        </option>
      ))}
    </Select>
  );
}

interface ChoiceFieldProps<Value extends string> extends Omit<FieldProps, 'children'> {
  readonly name?: string;
  readonly value: Value;
  readonly options: readonly (readonly [value: Value, text: ReactNode])[];
  readonly onChange: (value: Value) => void;
}

/** One of several, as a field of a form. */
export function ChoiceField<Value extends string>({
  name,
  value,
  options,
  onChange,
  ...field
}: ChoiceFieldProps<Value>): ReactNode {
  return (
    <Field {...field}>
      {(tied) => (
        // Choices may arrive late: the key draws the list again, with the chosen one selected.
        <Select
          {...tied}
          key={options.length}
          name={name}
          value={value}
          onChange={({ target }) => {
            const chosen = options.find(([each]) => each === target.value);
            if (chosen !== undefined) onChange(chosen[0]);
          }}
        >
          {options.map(([each, text]) => (
            <option key={each} value={each}>
              {text}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}
