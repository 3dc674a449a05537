import { clsx } from 'clsx';
import type { ReactNode } from 'react';

interface SegmentsProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  readonly options: readonly (readonly [value: Value, label: ReactNode])[];
}

/** A switch between views of the same data: by model, by key. */
export function Segments<Value extends string>({
  label,
  value,
  onChange,
  options,
}: SegmentsProps<Value>): ReactNode {
  return (
    <div
      role="group"
      aria-label={label}
      className="inline-flex rounded-control border border-line bg-sunken p-0.5"
    >
      {options.map(([option, text]) => (
        <button
          key={option}
          type="button"
          aria-pressed={option === value}
          onClick={() => onChange(option)}
          className={clsx(
            'h-6 rounded-badge px-2 text-caption font-medium touch:h-10 touch:px-3',
            option === value
              ? 'bg-surface text-text shadow-[0_0_0_1px_var(--color-line)]'
              : 'text-muted hover:text-text',
          )}
        >
          {text}
        </button>
      ))}
    </div>
  );
}
