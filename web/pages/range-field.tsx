import { type ReactNode, useId, useState } from 'react';
import { DayInput } from '../components/day-input.tsx';
import { Select } from '../components/field.tsx';
import { isDay, shiftDay } from '../format/day.ts';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';

interface RangeWords {
  readonly label: string;
  readonly custom: string;
  readonly from: string;
  readonly to: string;
}

interface RangeFieldProps {
  readonly words: RangeWords;
  /** The value in the address and its label. */
  readonly presets: readonly (readonly [value: string, label: string])[];
  /** A preset, or the first day of a custom period. */
  readonly from: string;
  /** The last day of a custom period; empty with presets. */
  readonly to: string;
  /** The initial custom period. */
  readonly own: { readonly from: string; readonly to: string };
  readonly onChange: (range: { readonly from: string; readonly to: string }) => void;
}

/** A period: a preset, or two days of the account's zone, both included. */
export function RangeField({
  words,
  presets,
  from,
  to,
  own,
  onChange,
}: RangeFieldProps): ReactNode {
  const id = useId();
  const isOwn = isDay(from);
  const choose = (value: string) => onChange(value === 'custom' ? own : { from: value, to: '' });
  return (
    <div className="flex flex-wrap items-center gap-2">
      <label htmlFor={id} className="sr-only">
        {words.label}
      </label>
      <Select
        id={id}
        className="w-36 sm:w-40"
        value={isOwn ? 'custom' : from}
        onChange={(event) => choose(event.target.value)}
      >
        {presets.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
        <option value="custom">{words.custom}</option>
      </Select>
      {isOwn && (
        <span className="flex items-center gap-1">
          <End
            key={`from ${from}`}
            label={words.from}
            day={from}
            onDay={(day) => onChange({ from: day, to: after(day, to) })}
          />
          <span aria-hidden="true">–</span>
          <End
            key={`to ${to}`}
            label={words.to}
            day={to}
            onDay={(day) => onChange({ from: before(day, from), to: day })}
          />
        </span>
      )}
    </div>
  );
}

/** A year and a day: the API sums no longer period. */
const daysMax = 366;

/** The last day of a period that begins on `day`: the chosen one, moved into the limits. */
function after(day: string, to: string): string {
  const last = shiftDay(day, daysMax - 1);
  return to < day ? day : to > last ? last : to;
}

function before(day: string, from: string): string {
  const first = shiftDay(day, 1 - daysMax);
  return from > day ? day : from < first ? first : from;
}

interface EndProps {
  readonly label: string;
  readonly day: string;
  readonly onDay: (day: string) => void;
}

/** One end of the period, taken when typing ends: until then it passes through other days. */
function End({ label, day, onDay }: EndProps): ReactNode {
  const { errors } = useWords(sharedWords);
  const [text, setText] = useState(day);
  const [wrong, setWrong] = useState(false);
  const id = useId();
  const take = (value: string) => {
    const isTaken = isDay(value) && value > '2020-01-01';
    setWrong(!isTaken);
    if (isTaken && value !== day) onDay(value);
  };
  return (
    <span className="flex flex-col">
      <DayInput
        aria-label={label}
        aria-invalid={wrong || undefined}
        aria-describedby={wrong ? id : undefined}
        value={text}
        onChange={setText}
        onDone={take}
        className="w-36"
      />
      {wrong && (
        <span id={id} role="alert" className="text-caption text-bad">
          {errors.fields['not_a_day']}
        </span>
      )}
    </span>
  );
}
