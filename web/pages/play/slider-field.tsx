import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import { IconButton } from '../../components/button.tsx';
import { Field, TextInput } from '../../components/field.tsx';
import { playgroundWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';

export interface Range {
  readonly least: number;
  readonly most: number;
  readonly step: number;
  /** Where the slider rests while nothing is sent. */
  readonly rest: number;
}

interface SliderFieldProps {
  readonly label: string;
  readonly range: Range;
  /** As typed; empty: the parameter is not sent. */
  readonly value: string;
  readonly error: string | undefined;
  readonly onChange: (value: string) => void;
}

/** A number, by slider or typed; taken back, the request does not have it. */
export function SliderField({
  label,
  range: { least, most, step, rest },
  value,
  error,
  onChange,
}: SliderFieldProps): ReactNode {
  const { chat } = useWords(playgroundWords);
  const sent = value.trim() !== '';
  const number = Number(value.replace(',', '.'));
  return (
    <Field label={label} error={error}>
      {(tied) => (
        <div className="flex items-center gap-2">
          <input
            type="range"
            aria-label={chat.slider(label)}
            aria-valuetext={sent ? undefined : chat.usual}
            min={least}
            max={most}
            step={step}
            value={sent && !Number.isNaN(number) ? number : rest}
            onChange={(event) => onChange(event.target.value)}
            className={clsx(
              'h-6 min-w-0 flex-1 touch:h-11',
              sent ? 'accent-accent' : 'accent-muted opacity-60',
            )}
          />
          <TextInput
            {...tied}
            inputMode="decimal"
            placeholder={chat.notSent}
            value={value}
            onChange={(event) => onChange(event.target.value)}
            className="w-24! shrink-0 figures"
          />
          <IconButton
            icon="back"
            size="small"
            label={chat.unset(label)}
            onClick={() => onChange('')}
            className={clsx(!sent && 'invisible')}
          />
        </div>
      )}
    </Field>
  );
}
