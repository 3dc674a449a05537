import type { ReactNode } from 'react';
import type { PriceClass } from '../../../src/console/contract.ts';
import { IconButton } from '../../components/button.tsx';
import { AmountInput, Field, Select } from '../../components/field.tsx';
import type { Mistakes } from '../../components/form.tsx';
import { amountError } from '../../format/amount.ts';
import { nanoDigits } from '../../format/money.ts';
import { lineKey, pieceDigits } from '../../format/price.ts';
import { emptyLine, type PriceLine, writtenPath } from '../../format/written-price.ts';
import { modelsWords, priceWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { useLineName } from '../model-parts.tsx';

const priceClasses: readonly PriceClass[] = [
  'input',
  'cached_input',
  'cache_write_5m',
  'cache_write_1h',
  'output',
  'reasoning',
  'audio_input',
  'audio_output',
  'image_input',
  'image_output',
  'image',
  'megapixel',
  'second',
  'character',
  'request',
];

/** The error of a typed amount; an empty one is no price. */
export function lineError({ amount, per }: PriceLine): string | undefined {
  if (amount === '' || /^0(\.0*)?$/.test(amount)) return undefined;
  return amountError(amount, { decimals: per === 1 ? pieceDigits : nanoDigits });
}

/** The errors of all lines. */
export const wrongLines = (lines: readonly PriceLine[]): Mistakes =>
  Object.fromEntries(lines.map((line) => [lineKey(line), lineError(line)]));

/** The mistakes of lines that the server found in the price at `at`, by line. */
export const refusedLines = (wrong: Mistakes, at: string, lines: readonly PriceLine[]): Mistakes =>
  Object.fromEntries(
    lines.flatMap((line) => {
      const what = wrong[`${at}.${writtenPath(line, lines)}`];
      return what === undefined ? [] : [[lineKey(line), what]];
    }),
  );

interface PriceFieldsProps {
  readonly lines: readonly PriceLine[];
  readonly onChange: (lines: readonly PriceLine[]) => void;
  readonly errors: Mistakes;
}

/** A price as lines of class and amount. */
export function PriceFields({ lines, onChange, errors }: PriceFieldsProps): ReactNode {
  const { per } = useWords(modelsWords);
  const words = useWords(priceWords);
  const nameOf = useLineName();
  const set = (key: string, amount: string) =>
    onChange(lines.map((line) => (lineKey(line) === key ? { ...line, amount } : line)));
  return (
    <div className="flex flex-col gap-3">
      {lines.map((line) => {
        const key = lineKey(line);
        return (
          <div key={key} className="flex items-start gap-1">
            <Field
              className="flex-1"
              label={
                <>
                  {nameOf(line)} <span className="font-normal text-muted">/ {per[line.unit]}</span>
                </>
              }
              error={errors[key]}
            >
              {(tied) => (
                <AmountInput
                  {...tied}
                  name={key}
                  value={line.amount}
                  onChange={(amount) => set(key, amount)}
                />
              )}
            </Field>
            <IconButton
              className="mt-6"
              icon="close"
              label={words.editor.removeLine(nameOf(line))}
              onClick={() => onChange(lines.filter((each) => lineKey(each) !== key))}
            />
          </div>
        );
      })}
      <AddLine lines={lines} onAdd={(of) => onChange([...lines, emptyLine(of)])} />
    </div>
  );
}

export function AddLine({
  lines,
  onAdd,
}: {
  readonly lines: readonly PriceLine[];
  readonly onAdd: (of: PriceClass) => void;
}): ReactNode {
  const { classes } = useWords(modelsWords);
  const { editor: words } = useWords(priceWords);
  const free = priceClasses.filter(
    (of) => !lines.some((line) => lineKey(line) === lineKey(emptyLine(of))),
  );
  return (
    <Select
      aria-label={words.addLine}
      className="max-w-72"
      value=""
      onChange={({ target }) => target.value !== '' && onAdd(target.value as PriceClass)}
    >
      <option value="">{words.addLine}</option>
      {free.map((of) => (
        <option key={of} value={of}>
          {classes[of]}
        </option>
      ))}
    </Select>
  );
}
