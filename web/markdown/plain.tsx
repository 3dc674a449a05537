import type { ReactNode } from 'react';
import { langOf } from './script.ts';

/** Text as it came. */
export function Plain({ text }: { readonly text: string }): ReactNode {
  return (
    <p dir="auto" lang={langOf(text)} className="max-w-[75ch] break-words whitespace-pre-wrap">
      {text}
    </p>
  );
}
