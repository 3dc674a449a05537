import { clsx } from 'clsx';
import { type ReactNode, useId } from 'react';

interface RadioCardsProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly options: readonly {
    readonly value: string;
    readonly text: string;
    readonly detail: string | undefined;
  }[];
}

/** A choice of cards, each with its price. */
export function RadioCards({ label, value, onChange, options }: RadioCardsProps): ReactNode {
  const name = useId();
  return (
    <fieldset className="min-w-0">
      <legend className="pb-1 text-table font-medium">{label}</legend>
      <div className="grid grid-cols-[repeat(auto-fill,minmax(7rem,1fr))] gap-2">
        {options.map((option) => (
          <label
            key={option.value}
            className={clsx(
              'relative flex min-h-11 cursor-pointer flex-col justify-center rounded-control border px-2.5 py-1 text-table has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent',
              option.value === value
                ? 'border-accent bg-accent-soft'
                : 'border-edge bg-surface hover:bg-sunken',
            )}
          >
            <input
              type="radio"
              name={name}
              value={option.value}
              checked={option.value === value}
              onChange={() => onChange(option.value)}
              className="absolute inset-0 cursor-pointer opacity-0"
            />
            <span className="font-medium figures">{option.text}</span>
            {option.detail !== undefined && (
              <span className="text-caption text-muted figures">{option.detail}</span>
            )}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
