import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import { type MoneyContext, type Yuan, formatYuan, isRounded, plusOf } from '../format/money.ts';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { useCopy } from './copy.tsx';
import { FractionPad } from './fraction-pad.tsx';

interface MoneyProps {
  /** null: there is no amount (`—`). For one that is not loaded yet, use Skeleton. */
  readonly amount: Yuan | null;
  /** How it is rounded: see `formatYuan`. */
  readonly as: MoneyContext;
  readonly estimated?: boolean;
  /** `+¥1.00`, for lists of moves. */
  readonly signed?: boolean;
  /** Decimals of the longest amount in its column: see `MoneyColumn`. */
  readonly places?: number | undefined;
  readonly className?: string;
}

/**
 * An amount of yuan. Where rounding hides digits, the exact amount shows on hover and focus, and a
 * press copies it.
 */
export function Money({
  amount,
  as,
  estimated = false,
  signed = false,
  places = 0,
  className,
}: MoneyProps): ReactNode {
  if (amount === null) return <span className={clsx('text-faint', className)}>—</span>;
  // The cost of a request shows all nine decimals, so that the points of a list line up.
  const nine = as === 'exact' || as === 'row';
  const text = formatYuan(amount, nine ? 'exact' : as);
  const shown = `${estimated ? '≈ ' : ''}${signed ? plusOf(amount) : ''}${text}`;
  const pad = <FractionPad of={text} places={places} />;
  if (isRounded(text))
    return (
      <Rounded amount={amount} className={className}>
        {shown}
        {pad}
      </Rounded>
    );
  return (
    <span className={clsx('whitespace-nowrap figures', className)}>
      {nine ? <Nine text={shown} /> : shown}
      {pad}
    </span>
  );
}

function Rounded({
  amount,
  className,
  children,
}: {
  readonly amount: Yuan;
  readonly className: string | undefined;
  readonly children: ReactNode;
}): ReactNode {
  const words = useWords(sharedWords);
  const exact = formatYuan(amount, 'exact');
  const { copied, copy } = useCopy(amount);
  return (
    <button
      type="button"
      className={clsx(
        'cursor-copy rounded-badge whitespace-nowrap decoration-edge decoration-dotted underline-offset-4 figures hover:underline',
        className,
      )}
      data-tip={copied ? words.actions.copied : words.actions.copyExact(exact)}
      onClick={(event) => {
        event.stopPropagation(); // otherwise the click opens the row
        void copy();
      }}
    >
      {children}
    </button>
  );
}

/** With all nine decimals the points of a column line up; trailing zeros are muted. */
function Nine({ text }: { readonly text: string }): ReactNode {
  const faint = /(?<=\.\d{6})0+$/.exec(text);
  if (faint === null) return text;
  return (
    <>
      {text.slice(0, faint.index)}
      <span className="text-faint">{faint[0]}</span>
    </>
  );
}
