import type { ReactNode } from 'react';
import { Page } from '../components/page.tsx';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';

export function TopUpPage(): ReactNode {
  const { nav } = useWords(sharedWords);
  return <Page title={nav.topUp}>{null}</Page>;
}
