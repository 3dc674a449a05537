import { type ReactNode, useEffect, useState } from 'react';
import { TextInput } from './field.tsx';

interface SearchFieldProps {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly className?: string;
}

const quietMs = 250;

/** A field whose text the server searches for, once typing pauses. */
export function SearchField({
  label,
  placeholder,
  value,
  onChange,
  className,
}: SearchFieldProps): ReactNode {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed.trim() === value) return undefined;
    const timer = setTimeout(() => onChange(typed.trim()), quietMs);
    return () => clearTimeout(timer);
    // Only typing starts a search; a new `value` does not.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [typed]);
  return (
    <TextInput
      type="search"
      aria-label={label}
      placeholder={placeholder}
      data-shortcut="filter"
      value={typed}
      onChange={({ target }) => setTyped(target.value)}
      className={className}
    />
  );
}
