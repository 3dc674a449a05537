import type { ReactNode } from 'react';
import { datePattern } from '../format/date-pattern.ts';

const dates = new RegExp(`(${datePattern})`);

interface UnbrokenProps {
  readonly text: string;
  /** One group: what is kept whole. */
  readonly whole?: RegExp;
}

/** A text whose dates are not broken at their hyphens, unless no line has room for one of them. */
export function Unbroken({ text, whole = dates }: UnbrokenProps): ReactNode {
  return text.split(whole).map((piece, index) =>
    index % 2 === 0 ? (
      piece
    ) : (
      <span key={index} className="inline-block max-w-full">
        {piece}
      </span>
    ),
  );
}
