import type { ReactNode } from 'react';
import type { AnnouncementView } from '../../src/console/contract.ts';
import { Banner } from '../components/banner.tsx';
import { useLanguage } from '../words/language.ts';

export function Announcement({ item }: { readonly item: AnnouncementView }): ReactNode {
  const language = useLanguage();
  return (
    <Banner tone={item.level === 'info' ? 'accent' : item.level}>
      <p className="font-medium">{item.title[language]}</p>
      <p className="whitespace-pre-line">{item.text[language]}</p>
    </Banner>
  );
}
