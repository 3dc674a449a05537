import type { ReactNode } from 'react';
import { Page } from '../../components/page.tsx';
import { sharedWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';

export function GroupPage(): ReactNode {
  const { nav } = useWords(sharedWords);
  return <Page title={nav.groups}>{null}</Page>;
}
