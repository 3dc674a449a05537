import { clsx } from 'clsx';
import { Tabs as Radix } from 'radix-ui';
import type { ReactNode } from 'react';

interface TabsProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  readonly tabs: readonly (readonly [value: Value, label: ReactNode])[];
  /** The panel of the tab that is open. */
  readonly children: ReactNode;
}

/** Keep `value` in the address (`useSearchState`), so that a tab can be linked. */
export function Tabs<Value extends string>({
  label,
  value,
  onChange,
  tabs,
  children,
}: TabsProps<Value>): ReactNode {
  return (
    <Radix.Root
      value={value}
      onValueChange={(next) => onChange(next as Value)}
      className="flex min-w-0 flex-col gap-4"
    >
      <Radix.List
        aria-label={label}
        className="flex gap-1 overflow-x-auto border-b border-line p-0.5 pb-0"
      >
        {tabs.map(([tab, text]) => (
          <Radix.Trigger
            key={tab}
            value={tab}
            className={clsx(
              'h-9 shrink-0 rounded-t-control border-b-2 px-3 text-table font-medium touch:h-11',
              tab === value
                ? 'border-accent text-text'
                : 'border-transparent text-muted hover:text-text',
            )}
          >
            {text}
          </Radix.Trigger>
        ))}
      </Radix.List>
      <Radix.Content value={value} className="min-w-0 rounded-card">
        {children}
      </Radix.Content>
    </Radix.Root>
  );
}

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
