import type { ReactNode } from 'react';
import type { ChannelView } from '../../../src/console/contract.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Field, TextInput } from '../../components/field.tsx';
import { Panel } from '../../components/page.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import { channelWords, operatorWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';

/** A field for a key: a stored one until another is typed over it, or a new one. */
export interface KeySlot {
  readonly number: number | undefined;
  readonly last4: string | null;
  readonly typed: string;
}

export const newSlot: KeySlot = { number: undefined, last4: null, typed: '' };

export const slotsOf = ({ keys }: Pick<ChannelView, 'keys'>): readonly KeySlot[] =>
  keys.length === 0 ? [newSlot] : keys.map(({ number, last4 }) => ({ number, last4, typed: '' }));

/** Keys as the API takes them: the typed one, else the number of the stored one. */
export const secretsOf = (slots: readonly KeySlot[]): readonly (string | number)[] =>
  slots.flatMap(({ number, typed }) => (typed === '' ? (number ?? []) : typed));

interface Props {
  readonly slots: readonly KeySlot[];
  readonly onChange: (slots: readonly KeySlot[]) => void;
  /** Of a key that is alone. */
  readonly label: string;
  /** Help below the first key: says what an empty one means. */
  readonly help: string;
  readonly error: string | undefined;
}

export function KeyFields({ slots, onChange, label, help, error }: Props): ReactNode {
  const { form: words } = useWords(channelWords);
  const alone = slots.length === 1;
  const put = (place: number, typed: string) =>
    onChange(slots.map((slot, at) => (at === place ? { ...slot, typed } : slot)));
  return (
    <div className="flex flex-col gap-2">
      {slots.map((slot, place) => (
        <div key={slot.number ?? `new ${place}`} className="flex items-end gap-2">
          <div className="min-w-0 grow">
            <Field
              label={alone ? label : words.secretAt(place + 1)}
              {...(place === 0 && { help })}
              error={place === 0 ? error : undefined}
            >
              {(tied) => (
                <TextInput
                  {...tied}
                  type="password"
                  name={place === 0 ? 'secret' : `secret-${place}`}
                  autoComplete="new-password"
                  placeholder={slot.last4 === null ? '' : words.secretEnds(slot.last4)}
                  value={slot.typed}
                  onChange={({ target }) => put(place, target.value)}
                />
              )}
            </Field>
          </div>
          {!alone && (
            <IconButton
              icon="trash"
              label={words.secretRemove(place + 1)}
              onClick={() => onChange(slots.filter((_, at) => at !== place))}
            />
          )}
        </div>
      ))}
      <Button
        size="small"
        look="ghost"
        icon="plus"
        className="self-start"
        onClick={() => onChange([...slots, newSlot])}
      >
        {words.secretMore}
      </Button>
    </div>
  );
}

/** The keys of a channel that has several, each with its health. */
export function ChannelKeys({ keys }: Pick<ChannelView, 'keys'>): ReactNode {
  const words = useWords(channelWords);
  const { faults } = useWords(operatorWords);
  if (keys.length < 2) return null;
  return (
    <Panel title={words.health.keys(keys.length)}>
      <ul className="divide-y divide-line text-table">
        {keys.map(({ number, last4, state, why }) => (
          <li key={number} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-1.5">
            <span>{words.form.secretAt(number)}</span>
            <span className="figures text-muted">
              {last4 === null ? '' : words.form.secretEnds(last4)}
            </span>
            <span className="ml-auto flex items-center gap-2">
              {why !== null && (
                <span className="text-caption text-muted">{faults[why] ?? why}</span>
              )}
              <StatusBadge status={state}>{words.states[state]}</StatusBadge>
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
