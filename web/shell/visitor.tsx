import { Outlet, useLocation } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useSession } from '../api/data.ts';
import { buttonLook } from '../components/button.tsx';
import { DocsLink } from '../components/docs-link.tsx';
import { PathLink } from '../components/path-link.tsx';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { LanguageButton, ThemeButton } from './menu-buttons.tsx';
import { Shell } from './shell.tsx';
import { Mark } from './sidebar.tsx';

/** The frame of every page: that of users, or a plain one for visitors of public pages. */
export function Frame(): ReactNode {
  const { me } = useSession();
  return me === null ? <VisitorFrame /> : <Shell />;
}

function VisitorFrame(): ReactNode {
  const { nav } = useWords(sharedWords);
  const { site } = useSession();
  const { href } = useLocation();
  return (
    <div className="flex min-h-dvh flex-col">
      <header className="flex h-13 items-center gap-1 border-b border-line bg-surface px-4 md:px-6">
        <PathLink
          path="/models"
          className="mr-auto flex items-center gap-2 rounded-control font-semibold text-text"
        >
          <Mark />
          {site}
        </PathLink>
        <DocsLink to="index" className={buttonLook({ look: 'ghost' })}>
          {nav.help}
        </DocsLink>
        <LanguageButton />
        <ThemeButton />
        <PathLink
          path={`/sign-in?${new URLSearchParams({ next: href })}`}
          className={`${buttonLook({ look: 'secondary' })} ml-1`}
        >
          {nav.signIn}
        </PathLink>
      </header>
      <main id="content" tabIndex={-1} className="min-w-0 flex-1">
        <Outlet />
      </main>
    </div>
  );
}
