import type { ReactNode } from 'react';
import { Select } from './field.tsx';

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
