import { type ReactNode, Suspense } from 'react';
import { later } from '../../api/later.ts';
import { Plain } from '../../markdown/plain.tsx';

const Rendered = later(
  () => import('../../markdown/rendered.tsx'),
  (file) => file.Rendered,
);

/** The text of an answer; plain until what draws it is there. */
export function Prose({ text }: { readonly text: string }): ReactNode {
  return (
    <Suspense fallback={<Plain text={text} />}>
      <Rendered text={text} />
    </Suspense>
  );
}
