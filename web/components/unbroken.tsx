import type { ReactNode } from 'react';

const day = String.raw`\d{4}-\d{2}-\d{2}`;
const clock = String.raw` \d{2}:\d{2}(?::\d{2})?`;
/** The whole name, not the same letters inside a word or a number. */
const literal = (name: string) =>
  String.raw`(?<![\p{L}\p{N}])${name.replace(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`)}(?![\p{L}\p{N}])`;

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
  return piecesOf(text, names).map((piece, index) =>
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

/** The text in pieces, of which every second one is a date or a name. */
export function piecesOf(text: string, names: readonly string[]): readonly string[] {
  const longestFirst = names.filter((name) => name !== '').sort((a, b) => b.length - a.length);
  const whole = [`${day}(?:${clock})?`, ...longestFirst.map(literal)];
  return text.split(new RegExp(`(${whole.join('|')})`, 'u'));
}
