import { clsx } from 'clsx';
import { type ReactNode, useEffect } from 'react';
import { useSession } from '../api/data.ts';
import { type Crumb, showTitle } from '../browser/title.ts';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { ButtonLink, linkLook } from './button.tsx';
import { Icon } from './icon.tsx';
import { PathLink } from './path-link.tsx';

interface PageProps {
  readonly title: string;
  /** The pages above it, for the breadcrumb and the way up. */
  readonly above?: readonly Crumb[];
  /** Beside the title; one of them is primary. */
  readonly actions?: ReactNode;
  /** A short text under the title: the zone, the filter. */
  readonly note?: ReactNode;
  /** Tables may grow to 1680 px. */
  readonly wide?: boolean;
  readonly children: ReactNode;
}

const noCrumbs: readonly Crumb[] = [];

/** The frame of every page: title in the tab and the breadcrumb, `h1`, actions. */
export function Page({
  title,
  above = noCrumbs,
  actions,
  note,
  wide = false,
  children,
}: PageProps): ReactNode {
  const { site } = useSession();
  useEffect(() => {
    document.title = `${title} · ${site}`;
    showTitle([...above, { label: title }]);
    // `above` is a new array at each render; only its steps can differ.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [title, site, above.map(({ label, to }) => `${label} ${to}`).join('/')]);
  return (
    <div
      className={clsx(
        'mx-auto flex w-full flex-col gap-4 px-4 py-4 md:px-6 md:py-6',
        wide ? 'max-w-[1680px]' : 'max-w-[1280px]',
      )}
    >
      <WayUp above={above} />
      <header className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="min-w-0">
          <h1 tabIndex={-1} className="text-page font-semibold break-words sm:truncate">
            {title}
          </h1>
          {note}
        </div>
        {actions !== undefined && (
          <div className="flex flex-wrap items-center gap-2">{actions}</div>
        )}
      </header>
      {children}
    </div>
  );
}

/**
 * The step to the page above, on top of every page that has one: on a phone, whose bar has no room
 * for the breadcrumb, and for visitors, whose bar has none.
 */
function WayUp({ above }: { readonly above: readonly Crumb[] }): ReactNode {
  const { me } = useSession();
  const up = above.at(-1);
  if (up?.to === undefined) return null;
  return (
    <PathLink
      path={up.to}
      data-way-up
      className={clsx(
        '-my-2 flex min-h-6 items-center gap-1 self-start text-table touch:min-h-11',
        linkLook,
        me !== null && 'sm:hidden',
      )}
    >
      <Icon name="left" />
      {up.label}
    </PathLink>
  );
}

interface PanelProps {
  readonly title?: ReactNode;
  readonly actions?: ReactNode;
  /** Without padding: for tables. */
  readonly flush?: boolean;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A card on the canvas. */
export function Panel({
  title,
  actions,
  flush = false,
  className,
  children,
}: PanelProps): ReactNode {
  return (
    <section
      className={clsx(
        'min-w-0 rounded-card border border-line bg-surface',
        flush && 'overflow-hidden',
        className,
      )}
    >
      {title !== undefined && (
        <header className="flex min-h-11 flex-wrap items-center justify-between gap-2 border-b border-line px-4 py-1.5">
          <h2 className="text-card font-semibold">{title}</h2>
          {actions !== undefined && <div className="flex items-center gap-1">{actions}</div>}
        </header>
      )}
      <div className={flush ? '' : 'p-4'}>{children}</div>
    </section>
  );
}

/** Shown for missing objects and for those of another user alike. */
export function MissingPage(): ReactNode {
  const words = useWords(sharedWords);
  return (
    <Page title={words.notFound.title}>
      <Panel className="py-8 text-center">
        <p className="mb-3 text-muted">{words.notFound.text}</p>
        <ButtonLink to="/">{words.nav.home}</ButtonLink>
      </Panel>
    </Page>
  );
}
