import { Outlet } from '@tanstack/react-router';
import { type ReactNode, Suspense, useEffect, useState } from 'react';
import { addressOf } from '../api/client.ts';
import { useMe } from '../api/data.ts';
import { tryNow, useLostAt } from '../api/reach.ts';
import { refreshShown, startEvents, useArePaused, useEvent } from '../api/events.ts';
import { later } from '../api/later.ts';
import { watchSleep } from '../browser/awake.ts';
import { useMedia, useOnline, useWide } from '../browser/media.ts';
import { Button } from '../components/button.tsx';
import { useZone } from '../components/time.tsx';
import { formatClock } from '../format/time.ts';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { useSentenceGap } from '../words/language.ts';
import { BottomBar } from './bottom-bar.tsx';
import { onBalance, onCharge } from './live-money.ts';
import { isAt, operatorDestinations, usePaths, userDestinations } from './navigation.ts';
import { Sidebar } from './sidebar.tsx';
import { type Overlay, useShortcuts } from './shortcuts.ts';
import { TopBar } from './top-bar.tsx';

const Palette = later(
  () => import('./palette.tsx'),
  (file) => file.Palette,
);
const ShortcutList = later(
  () => import('./shortcut-list.tsx'),
  (file) => file.ShortcutList,
);
const narrowKey = 'tollgate_sidebar';

/** The frame of every page of a signed-in user. */
export function Shell(): ReactNode {
  const words = useWords(sharedWords);
  const wide = useWide();
  const roomy = useMedia('(min-width: 1024px)');
  const [narrow, setNarrow] = useState(() => localStorage.getItem(narrowKey) === 'narrow');
  const [overlay, setOverlay] = useState<Overlay>();
  useShortcuts(setOverlay);
  useLiveData();
  const toggle = () => {
    localStorage.setItem(narrowKey, narrow ? 'wide' : 'narrow');
    setNarrow(!narrow);
  };
  const close = () => setOverlay(undefined);
  return (
    <div className="flex min-h-dvh">
      <a
        href="#content"
        className="fixed top-2 left-2 z-60 -translate-y-20 rounded-control bg-accent px-3 py-2 text-on-accent focus:translate-y-0"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById('content')?.focus();
        }}
      >
        {words.nav.skip}
      </a>
      {wide && <Sidebar narrow={narrow || !roomy} onToggle={roomy ? toggle : undefined} />}
      <div className="flex min-w-0 flex-1 flex-col">
        <TopBar onSearch={() => setOverlay('palette')} />
        <Connection />
        <main id="content" tabIndex={-1} className="min-w-0 flex-1 max-md:pb-16">
          <Outlet />
        </main>
      </div>
      {!wide && <BottomBar />}
      <Suspense>
        {overlay === 'palette' && <Palette onClose={close} />}
        {overlay === 'shortcuts' && <ShortcutList onClose={close} />}
      </Suspense>
    </div>
  );
}

/**
 * Warns when the shown data may be old, and names the page that was asked for and cannot be opened.
 */
function Connection(): ReactNode {
  const words = useWords(sharedWords);
  const online = useOnline();
  const paused = useArePaused();
  const lostAtMs = useLostAt();
  const reachable = lostAtMs === undefined;
  const zone = useZone();
  const gap = useSentenceGap();
  const { asked, shown } = usePaths();
  if (online && reachable && !paused) return null;
  const { live, nav } = words;
  const page = asked !== shown && destinations.find(({ path }) => isAt(path, asked));
  return (
    <div className="sticky top-12 z-20 flex flex-wrap items-center gap-x-3 border-b border-line bg-warn-soft px-4 py-1 text-caption text-warn md:px-6">
      <div role="status">
        <p>
          {!online ? live.offline : reachable ? live.paused : live.unreachable}
          {!reachable &&
            `${gap}${live.before(formatClock(new Date(lostAtMs).toISOString(), zone))}`}
        </p>
        {!reachable && page && <p className="font-medium">{live.notOpened(nav[page.name])}</p>}
      </div>
      {!reachable && (
        <Button size="small" icon="refresh" className="ml-auto" onClick={tryNow}>
          {live.tryNow}
        </Button>
      )}
    </div>
  );
}

const destinations = [...userDestinations, ...operatorDestinations];

/** After an event the balance is fetched again, and what the page shows of money. */
function useLiveData(): void {
  const zone = useZone();
  const { id } = useMe();
  useEffect(() => startEvents(addressOf('events'), id), [id]);
  useEffect(() => watchSleep(zone, refreshShown), [zone]);
  useEvent('balance', onBalance);
  useEvent('charge', onCharge);
}
