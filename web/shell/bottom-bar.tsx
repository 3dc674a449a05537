import { clsx } from 'clsx';
import { type ReactNode, Suspense, useState } from 'react';
import { later } from '../api/later.ts';
import { Icon, type IconName } from '../components/icon.tsx';
import { PathLink } from '../components/path-link.tsx';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { isAt, useMarkedPath, userDestinations } from './navigation.ts';

const MoreDrawer = later(
  () => import('./more-drawer.tsx'),
  (file) => file.MoreDrawer,
);

const barred = userDestinations.filter(({ inBar }) => inBar);

/** On a phone: four pages within the thumb's reach, the others behind "More". */
export function BottomBar(): ReactNode {
  const words = useWords(sharedWords);
  const [open, setOpen] = useState(false);
  const path = useMarkedPath();
  const elsewhere = !barred.some((destination) => isAt(destination.path, path));
  return (
    <nav
      aria-label={words.nav.main}
      className="fixed inset-x-0 bottom-0 z-20 grid grid-cols-5 border-t border-line bg-surface pb-[env(safe-area-inset-bottom)]"
    >
      {barred.map(({ path: to, name, icon }) => (
        <PathLink
          key={to}
          path={to}
          aria-current={isAt(to, path) ? 'page' : undefined}
          className={tabLook(isAt(to, path))}
        >
          <Tab icon={icon} label={words.nav[name]} />
        </PathLink>
      ))}
      <button
        type="button"
        aria-haspopup="dialog"
        aria-expanded={open}
        onPointerEnter={() => void MoreDrawer.load()}
        onClick={() => setOpen(true)}
        className={tabLook(elsewhere)}
      >
        <Tab icon="more" label={words.nav.more} />
      </button>
      <Suspense>{open && <MoreDrawer onClose={() => setOpen(false)} />}</Suspense>
    </nav>
  );
}

function tabLook(here: boolean): string {
  return clsx(
    'flex h-14 flex-col items-center justify-center gap-0.5 text-caption',
    here ? 'font-medium text-accent' : 'text-muted',
  );
}

function Tab({ icon, label }: { readonly icon: IconName; readonly label: string }): ReactNode {
  return (
    <>
      <Icon name={icon} className="size-5" />
      <span className="max-w-full truncate">{label}</span>
    </>
  );
}
