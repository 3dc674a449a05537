import type { ReactNode } from 'react';
import type { KeyChange, KeyView } from '../../src/console/contract.ts';
import { useSession } from '../api/data.ts';
import { AmountInput, Field } from '../components/field.tsx';
import { amountError } from '../format/amount.ts';
import { nanoDigits, shortest } from '../format/money.ts';
import { keysWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';

const limitNames = ['limit', 'daily_limit', 'monthly_limit'] as const;

/** What a key may spend, as typed: empty is no limit. */
export type WrittenLimits = Readonly<Record<(typeof limitNames)[number], string>>;

export function writtenLimits(key?: KeyView): WrittenLimits {
  const text = (amount: string | null = null) => (amount === null ? '' : shortest(amount));
  return {
    limit: text(key?.limit),
    daily_limit: text(key?.daily_limit),
    monthly_limit: text(key?.monthly_limit),
  };
}

const changedLimits = (written: WrittenLimits, before: WrittenLimits) =>
  limitNames.filter((name) => written[name] !== before[name]);

/** Error codes by field. */
export function wrongLimits(
  written: WrittenLimits,
  before: WrittenLimits,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    changedLimits(written, before).flatMap((name) => {
      const error =
        written[name] === '' ? undefined : amountError(written[name], { decimals: nanoDigits });
      return error === undefined ? [] : [[name, error]];
    }),
  );
}

/** Only the limits that differ from before; null takes one away. */
export function limitsBody(
  written: WrittenLimits,
  before: WrittenLimits,
): Pick<KeyChange, (typeof limitNames)[number]> {
  return Object.fromEntries(
    changedLimits(written, before).map((name) => [name, written[name] || null]),
  );
}

interface LimitFieldsProps {
  readonly limits: WrittenLimits;
  readonly errors: Readonly<Record<string, string | undefined>>;
  readonly onChange: (limits: WrittenLimits) => void;
  readonly note?: string;
}

export function LimitFields({ limits, errors, onChange, note }: LimitFieldsProps): ReactNode {
  const { form: words } = useWords(keysWords);
  const { limit_zone: limitZone } = useSession();
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-table font-medium">{words.limits}</legend>
      <div className="grid gap-4 sm:grid-cols-3">
        {limitNames.map((name) => (
          <Field key={name} label={words.limitOf[name]} error={errors[name]}>
            {(tied) => (
              <AmountInput
                {...tied}
                name={name}
                value={limits[name]}
                onChange={(amount) => onChange({ ...limits, [name]: amount })}
              />
            )}
          </Field>
        ))}
      </div>
      <p className="text-caption text-muted">{words.limitsHelp(limitZone)}</p>
      {note !== undefined && <p className="text-caption text-muted">{note}</p>}
    </fieldset>
  );
}
