import { Popover } from 'radix-ui';
import type { ReactNode } from 'react';
import type { AnnouncementView, List } from '../../src/console/contract.ts';
import { useData } from '../api/data.ts';
import { Loaded } from '../components/loaded.tsx';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { Announcement } from './announcement.tsx';

interface AnnouncementsProps {
  readonly trigger: ReactNode;
  readonly onOpen: () => void;
}

/** Fetched when it opens, as it does at first. */
export function Announcements({ trigger, onOpen }: AnnouncementsProps): ReactNode {
  const words = useWords(sharedWords);
  return (
    <Popover.Root defaultOpen onOpenChange={(open) => open && onOpen()}>
      <Popover.Trigger asChild>{trigger}</Popover.Trigger>
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
