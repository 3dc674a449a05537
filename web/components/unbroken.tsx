import type { ReactNode } from 'react';

const day = String.raw`\d{4}-\d{2}-\d{2}`;
const clock = String.raw` \d{2}:\d{2}(?::\d{2})?`;
const literal = (name: string) => name.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

interface UnbrokenProps {
  readonly text: string;
  /** Names in the text, of channels for instance. */
  readonly names?: readonly string[];
}

/**
 * A text whose dates are not broken at their hyphens, nor its names: a name breaks only where no
 * line has room for all of it.
 */
export function Unbroken({ text, names = [] }: UnbrokenProps): ReactNode {
  const whole = [`${day}(?:${clock})?`, ...names.filter((name) => name !== '').map(literal)];
  return text.split(new RegExp(`(${whole.join('|')})`)).map((piece, index) =>
    index % 2 === 0 ? (
      piece
    ) : (
      <span
        key={index}
        className={names.includes(piece) ? 'inline-block max-w-full' : 'whitespace-nowrap'}
      >
        {piece}
      </span>
    ),
  );
}
