import { type FocusEvent, type KeyboardEvent, type ReactNode, useId } from 'react';
import { Select, TextInput } from '../components/field.tsx';
import { isDay, shiftDay } from '../format/day.ts';

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
          <DayInput
            key={`from ${from}`}
            label={words.from}
            day={from}
            onDay={(day) => onChange({ from: day, to: after(day, to) })}
          />
          <span aria-hidden="true">–</span>
          <DayInput
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

interface DayInputProps {
  readonly label: string;
  readonly day: string;
  readonly onDay: (day: string) => void;
}

/** Takes the date on blur or Enter: during typing it passes through other dates. */
function DayInput({ label, day, onDay }: DayInputProps): ReactNode {
  const take = (value: string) =>
    value !== day && isDay(value) && value > '2020-01-01' && onDay(value);
  return (
    <TextInput
      type="date"
      aria-label={label}
      defaultValue={day}
      className="w-36!"
      onBlur={(event: FocusEvent<HTMLInputElement>) => take(event.target.value)}
      onKeyDown={(event: KeyboardEvent<HTMLInputElement>) =>
        event.key === 'Enter' && take(event.currentTarget.value)
      }
    />
  );
}
