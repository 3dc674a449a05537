import { useLocation } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { type ReactNode, useState } from 'react';
import { useMe } from '../api/data.ts';
import { Drawer } from '../components/dialog.tsx';
import { Icon, type IconName } from '../components/icon.tsx';
import { PathLink } from '../components/path-link.tsx';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { type Destination, isAt, operatorDestinations, userDestinations } from './navigation.ts';

const inBar = ['/', '/keys', '/usage', '/top-up'];
const barred = userDestinations.filter(({ path }) => inBar.includes(path));
const others = userDestinations.filter(({ path }) => !inBar.includes(path));

/** On a phone: four pages within the thumb's reach, the others behind "More". */
export function BottomBar(): ReactNode {
  const words = useWords(sharedWords);
  const [open, setOpen] = useState(false);
  const path = useLocation({ select: (location) => location.pathname });
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
        onClick={() => setOpen(true)}
        className={tabLook(elsewhere)}
      >
        <Tab icon="more" label={words.nav.more} />
      </button>
      <Drawer open={open} onClose={() => setOpen(false)} title={words.nav.more}>
        <More onGo={() => setOpen(false)} />
      </Drawer>
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

function More({ onGo }: { readonly onGo: () => void }): ReactNode {
  const words = useWords(sharedWords);
  const operator = useMe().role === 'operator';
  return (
    <>
      <Entries destinations={others} onGo={onGo} />
      {operator && (
        <>
          <h2 className="mt-4 mb-1 flex items-center gap-2 border-t border-line pt-4 text-caption text-muted">
            <Icon name="shield" className="size-3.5" />
            {words.nav.operator}
          </h2>
          <Entries destinations={operatorDestinations} onGo={onGo} />
        </>
      )}
    </>
  );
}

function Entries({
  destinations,
  onGo,
}: {
  readonly destinations: readonly Destination[];
  readonly onGo: () => void;
}): ReactNode {
  const words = useWords(sharedWords);
  return (
    <ul className="grid grid-cols-2 gap-1">
      {destinations.map(({ path, name, icon }) => (
        <li key={path}>
          <PathLink
            path={path}
            onClick={onGo}
            className="flex h-11 items-center gap-2.5 rounded-control px-2 text-body text-text hover:bg-sunken"
          >
            <Icon name={icon} className="text-muted" />
            {words.nav[name]}
          </PathLink>
        </li>
      ))}
    </ul>
  );
}
