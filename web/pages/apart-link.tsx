import type { ReactNode } from 'react';
import { Icon } from '../components/icon.tsx';
import { PathLink, type PathLinkProps } from '../components/path-link.tsx';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';

/** A link to a new tab, with the sign for it: the page that it is on has unsaved work. */
export function ApartLink({ children, ...link }: PathLinkProps): ReactNode {
  const { actions } = useWords(sharedWords);
  return (
    <PathLink {...link} target="_blank" rel="noopener">
      {children}
      {/* Positioned, so that a row that scrolls also cuts off the hidden text. */}
      <span className="relative">
        <Icon name="external" className="ml-1 inline size-3.5 shrink-0 align-middle" />
        <span className="sr-only">{actions.newTab}</span>
      </span>
    </PathLink>
  );
}
