import type { ReactNode } from 'react';
import { missingDecimals } from '../format/money.ts';

interface FractionPadProps {
  /** The amount that it stands behind. */
  readonly of: string;
  /** Decimals of the longest amount in the column: see `longestFraction`. */
  readonly places: number;
}

/**
 * The width of the decimals that an amount lacks, so that points line up in a right-aligned column.
 * Zeros that nobody sees, reads or copies: a figure space is narrower than a digit in our typeface.
 */
export function FractionPad({ of, places }: FractionPadProps): ReactNode {
  const missing = missingDecimals(of, places);
  if (missing === 0) return null;
  return (
    <span aria-hidden="true" className="invisible">
      {'0'.repeat(missing)}
    </span>
  );
}
