import { clsx } from 'clsx';
import { Tabs as Radix } from 'radix-ui';
import type { ReactNode } from 'react';
import { useScrollingRow } from './scrolling-row.ts';

interface TabsProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  readonly tabs: readonly (readonly [value: Value, label: ReactNode])[];
  /** The panel of the tab that is open. */
  readonly children: ReactNode;
}

/**
 * Keep `value` in the address (`useSearchState`), so that a tab can be linked.
 */
export function Tabs<Value extends string>({
  label,
  value,
  onChange,
  tabs,
  children,
}: TabsProps<Value>): ReactNode {
  const list = useScrollingRow<HTMLDivElement>(value);
  return (
    <Radix.Root
      value={value}
      onValueChange={(next) => onChange(next as Value)}
      className="flex min-w-0 flex-col gap-4"
    >
      <Radix.List
        ref={list}
        aria-label={label}
        className="fading relative flex gap-1 overflow-x-auto border-b border-line p-0.5 pb-0"
      >
        {tabs.map(([tab, text]) => (
          <Radix.Trigger
            key={tab}
            value={tab}
            className={clsx(
              // The row cuts what stands outside of it.
              '-outline-offset-2 h-9 shrink-0 rounded-t-control border-b-2 px-2 text-table sm:px-3 font-medium touch:h-11',
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
