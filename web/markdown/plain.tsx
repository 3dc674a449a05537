import type { ReactNode } from 'react';

/** Text as it came. */
export function Plain({ text }: { readonly text: string }): ReactNode {
  return (
    <p dir="auto" className="max-w-[75ch] break-words whitespace-pre-wrap">
      {text}
    </p>
  );
}
