import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import { useMe, useSession } from '../api/data.ts';
import { IconButton } from '../components/button.tsx';
import { DocsLink } from '../components/docs-link.tsx';
import { Icon } from '../components/icon.tsx';
import { PathLink } from '../components/path-link.tsx';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import {
  type Destination,
  isAt,
  operatorDestinations,
  useMarkedPath,
  userDestinations,
} from './navigation.ts';

interface SidebarProps {
  /** 56 px: icons, with their names as tooltips. */
  readonly narrow: boolean;
  readonly onToggle: (() => void) | undefined;
}

export function Sidebar({ narrow, onToggle }: SidebarProps): ReactNode {
  const words = useWords(sharedWords);
  const { site } = useSession();
  const operator = useMe().role === 'operator';
  return (
    <nav
      aria-label={words.nav.main}
      className={clsx(
        'sticky top-0 flex h-dvh shrink-0 flex-col border-r border-line bg-surface p-2',
        narrow ? 'w-14' : 'w-58',
      )}
    >
      <PathLink
        path="/"
        className="mb-2 flex h-10 shrink-0 items-center gap-2 rounded-control px-2 font-semibold text-text"
        aria-label={site}
      >
        <Mark />
        {!narrow && <span className="truncate">{site}</span>}
      </PathLink>
      <div className="-mx-2 flex min-h-0 flex-1 flex-col gap-0.5 overflow-y-auto px-2">
        {userDestinations.map((destination) => (
          <Entry key={destination.path} destination={destination} narrow={narrow} />
        ))}
        {operator && (
          <>
            <div
              className={clsx(
                'mt-3 mb-1 flex items-center gap-2 border-t border-line pt-3 text-caption text-muted',
                narrow ? 'justify-center' : 'px-2',
              )}
            >
              <Icon name="shield" className="size-3.5" />
              <span className={narrow ? 'sr-only' : ''}>{words.nav.operator}</span>
            </div>
            {operatorDestinations.map((destination) => (
              <Entry key={destination.path} destination={destination} narrow={narrow} />
            ))}
          </>
        )}
      </div>
      <div className={clsx('flex shrink-0 pt-2', narrow ? 'flex-col' : 'items-center gap-1')}>
        <DocsLink
          to="index"
          label={narrow ? words.nav.help : undefined}
          className={clsx(entryLook, 'flex-1 text-muted hover:bg-sunken hover:text-text')}
        >
          <Icon name="help" />
          {!narrow && words.nav.help}
        </DocsLink>
        {onToggle !== undefined && (
          <IconButton
            icon="sidebar"
            label={narrow ? words.nav.expand : words.nav.collapse}
            size="small"
            onClick={onToggle}
            aria-expanded={!narrow}
          />
        )}
      </div>
    </nav>
  );
}

const entryLook =
  'flex h-8 shrink-0 items-center gap-2.5 rounded-control px-2.5 text-table touch:h-11';

function Entry({
  destination,
  narrow,
}: {
  readonly destination: Destination;
  readonly narrow: boolean;
}): ReactNode {
  const words = useWords(sharedWords);
  const path = useMarkedPath();
  const here = isAt(destination.path, path);
  const label = words.nav[destination.name];
  return (
    <PathLink
      path={destination.path}
      aria-current={here ? 'page' : undefined}
      {...(narrow && { 'data-tip': label, 'aria-label': label })}
      className={clsx(
        entryLook,
        here
          ? 'bg-accent-soft font-medium text-accent'
          : 'text-muted hover:bg-sunken hover:text-text',
      )}
    >
      <Icon name={destination.icon} />
      {!narrow && <span className="truncate">{label}</span>}
    </PathLink>
  );
}

/** The gate: two posts, two bars. */
export function Mark(): ReactNode {
  return (
    <svg viewBox="0 0 32 32" className="size-6 shrink-0" aria-hidden="true">
      <rect width="32" height="32" rx="7" className="fill-accent" />
      <path d="M8 24V9.5h3V24zm13 0V9.5h3V24zM8 11.5h16v3H8z" className="fill-on-accent" />
      <path d="M11 19.5h10v2.4H11z" className="fill-on-accent opacity-60" />
    </svg>
  );
}
