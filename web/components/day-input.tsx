import { clsx } from 'clsx';
import { type InputHTMLAttributes, type ReactNode, useRef } from 'react';
import { isClock, isDay, tidyDay } from '../format/day.ts';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { IconButton } from './button.tsx';
import { TextInput } from './field.tsx';

interface DayInputProps
  extends Omit<InputHTMLAttributes<HTMLInputElement>, 'type' | 'value' | 'onChange'> {
  /** As it is typed: the form checks it with `isDay`, or `isClock` with a time. */
  readonly value: string;
  readonly withTime?: boolean;
  readonly onChange: (value: string) => void;
  /** Called when typing ends, and when a day was chosen from the calendar. */
  readonly onDone?: (value: string) => void;
}

/**
 * A day written `2026-11-21` in either language, or with a time `2026-11-21 14:03`: a browser's own
 * field has the order of the browser's language. The button opens the browser's calendar.
 */
export function DayInput({
  value,
  withTime = false,
  onChange,
  onDone,
  className,
  min,
  max,
  ...rest
}: DayInputProps): ReactNode {
  const { actions } = useWords(sharedWords);
  const calendar = useRef<HTMLInputElement>(null);
  const isWhole = withTime ? isClock(value) : isDay(value);
  const done = (text: string) => {
    const tidy = tidyDay(text);
    if (tidy !== value) onChange(tidy);
    onDone?.(tidy);
  };
  return (
    <div className={clsx('relative', className)}>
      <TextInput
        {...rest}
        value={value}
        placeholder={withTime ? 'YYYY-MM-DD HH:MM' : 'YYYY-MM-DD'}
        className="pr-9 figures"
        onChange={({ target }) => onChange(target.value)}
        onBlur={({ target }) => done(target.value)}
        onKeyDown={({ key, currentTarget }) => key === 'Enter' && done(currentTarget.value)}
      />
      <input
        ref={calendar}
        type={withTime ? 'datetime-local' : 'date'}
        min={min}
        max={max}
        value={isWhole ? value.replace(' ', 'T') : ''}
        onChange={({ target }) => done(target.value.replace('T', ' '))}
        tabIndex={-1}
        aria-hidden="true"
        className="pointer-events-none absolute inset-0 opacity-0"
      />
      <span className="absolute top-0 right-0">
        <IconButton
          icon="calendar"
          label={actions.calendar}
          onClick={() => calendar.current?.showPicker()}
        />
      </span>
    </div>
  );
}
