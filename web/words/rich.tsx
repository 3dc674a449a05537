import { Fragment, type ReactNode } from 'react';

/**
 * A sentence with elements in it: `<Rich text="Paid {amount} at {time}" amount={…} time={…} />`.
 * The sentence stays whole in the dictionary.
 */
export function Rich({
  text,
  ...parts
}: { readonly text: string } & Readonly<Record<string, ReactNode>>): ReactNode {
  return text
    .split(/\{(\w+)\}/)
    .map((piece, index) => (
      <Fragment key={index}>{index % 2 === 0 ? piece : parts[piece]}</Fragment>
    ));
}
