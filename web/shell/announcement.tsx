import type { ReactNode } from 'react';
import type { AnnouncementView } from '../../src/console/contract.ts';
import { Banner } from '../components/banner.tsx';
import { type Language, useLanguage } from '../words/language.ts';

interface AnnouncementProps {
  readonly item: Pick<AnnouncementView, 'level' | 'title' | 'text'>;
  /** The viewer's, unless it is another. */
  readonly language?: Language;
}

export function Announcement({ item, language }: AnnouncementProps): ReactNode {
  const viewers = useLanguage();
  const shown = language ?? viewers;
  return (
    <Banner tone={item.level === 'info' ? 'accent' : item.level}>
      <p className="font-medium wrap-anywhere">{item.title[shown]}</p>
      <p className="whitespace-pre-line wrap-anywhere">{item.text[shown]}</p>
    </Banner>
  );
}
