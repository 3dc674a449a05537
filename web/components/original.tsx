import type { ReactNode } from 'react';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { Rich } from '../words/rich.tsx';

interface OriginalProps {
  readonly text: string;
  /** The language of the text; unknown where a vendor wrote it. */
  readonly lang?: string;
  /** A sentence with the text at `{message}`, which says whose it is. */
  readonly within?: string;
}

/** A text of the API, which the console does not translate: a page in Chinese says so. */
export function Original({ text, lang = '', within }: OriginalProps): ReactNode {
  const { original } = useWords(sharedWords);
  return <Rich text={within ?? original} message={<span lang={lang}>{text}</span>} />;
}
