import { Popover } from 'radix-ui';
import { type ReactNode, useCallback, useState } from 'react';
import type { AnnouncementView, List } from '../../src/console/contract.ts';
import { queryClient, useData } from '../api/data.ts';
import { useEvent } from '../api/events.ts';
import { IconButton } from '../components/button.tsx';
import { Banner } from '../components/banner.tsx';
import { Loaded } from '../components/loaded.tsx';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { useLanguage } from '../words/language.ts';

/** Fetched when it opens; a new announcement shows as a dot and in the button's name. */
export function Announcements(): ReactNode {
  const words = useWords(sharedWords);
  const [open, setOpen] = useState(false);
  const [fresh, setFresh] = useState(0);
  const arrived = useCallback(() => {
    setFresh((count) => count + 1);
    void queryClient.invalidateQueries({ queryKey: ['announcements'] });
  }, []);
  useEvent('announcement', arrived);
  const change = (next: boolean) => {
    setOpen(next);
    if (next) setFresh(0);
  };
  return (
    <Popover.Root open={open} onOpenChange={change}>
      <Popover.Trigger asChild>
        <IconButton
          icon="announcements"
          label={fresh > 0 ? words.announcements.unread(fresh) : words.announcements.label}
          size="small"
          className={fresh > 0 ? 'text-accent' : ''}
        />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="end"
          sideOffset={4}
          collisionPadding={8}
          aria-label={words.announcements.label}
          className="z-30 max-h-[70dvh] w-96 max-w-[calc(100vw-1rem)] overflow-y-auto rounded-card border border-line bg-surface p-2 shadow-overlay overlay-in"
        >
          <AnnouncementList />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

function AnnouncementList(): ReactNode {
  const words = useWords(sharedWords);
  const query = useData<List<AnnouncementView>>('announcements');
  return (
    <Loaded query={query}>
      {({ items }) =>
        items.length === 0 ? (
          <p className="p-4 text-center text-table text-muted">{words.announcements.none}</p>
        ) : (
          <div className="flex flex-col gap-2">
            {items.map((item) => (
              <Announcement key={item.id} item={item} />
            ))}
          </div>
        )
      }
    </Loaded>
  );
}

export function Announcement({ item }: { readonly item: AnnouncementView }): ReactNode {
  const language = useLanguage();
  return (
    <Banner tone={item.level === 'info' ? 'accent' : item.level}>
      <p className="font-medium">{item.title[language]}</p>
      <p className="whitespace-pre-line">{item.text[language]}</p>
    </Banner>
  );
}
