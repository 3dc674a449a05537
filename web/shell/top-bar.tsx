import type { ReactNode } from 'react';
import { useWide } from '../browser/media.ts';
import { useCrumbs } from '../browser/title.ts';
import { Button, IconButton, linkLook } from '../components/button.tsx';
import { PathLink } from '../components/path-link.tsx';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { BalanceChip } from './balance-chip.tsx';
import {
  AccountButton,
  AnnouncementsButton,
  LanguageButton,
  ThemeButton,
} from './menu-buttons.tsx';

export function TopBar({ onSearch }: { readonly onSearch: () => void }): ReactNode {
  const words = useWords(sharedWords);
  const wide = useWide();
  return (
    <header className="sticky top-0 z-20 flex h-12 items-center gap-1 border-b border-line bg-canvas px-4 md:gap-2 md:px-6">
      <Breadcrumb />
      {wide ? (
        <Button size="small" icon="search" onClick={onSearch} aria-keyshortcuts="Control+K Meta+K">
          <span className="max-lg:sr-only">{words.palette.open}</span>
          <kbd className="rounded-badge border border-line px-1 font-sans text-caption text-muted">
            {commandKey()}
          </kbd>
        </Button>
      ) : (
        <IconButton icon="search" label={words.palette.open} size="small" onClick={onSearch} />
      )}
      <AnnouncementsButton />
      <BalanceChip />
      {wide && (
        <>
          <LanguageButton />
          <ThemeButton />
        </>
      )}
      <AccountButton compact={!wide} />
    </header>
  );
}

function Breadcrumb(): ReactNode {
  const crumbs = useCrumbs();
  return (
    <nav aria-label="Breadcrumb" className="mr-auto min-w-0">
      <ol className="flex min-w-0 items-center gap-1.5 text-table text-muted">
        {crumbs.map(({ label, to }, index) => (
          <li
            key={`${index}${label}`}
            className="flex min-w-0 items-center gap-1.5 not-last:shrink-0 max-sm:not-last:hidden"
          >
            {index > 0 && (
              <span aria-hidden="true" className="text-faint max-sm:hidden">
                /
              </span>
            )}
            {to === undefined ? (
              <span aria-current="page" className="truncate text-text">
                {label}
              </span>
            ) : (
              <PathLink path={to} className={`truncate ${linkLook}`}>
                {label}
              </PathLink>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}

function commandKey(): string {
  return /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘K' : 'Ctrl K';
}
