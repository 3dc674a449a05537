import type { ReactNode } from 'react';
import { useSession } from '../api/data.ts';
import { formatDay, formatRelative, formatTime, formatZone } from '../format/time.ts';
import { useNow } from '../browser/now.ts';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { useLanguage } from '../words/language.ts';

/** The account's zone; without a session, the browser's. */
export function useZone(): string {
  return useSession().me?.settings.zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
}

interface TimeProps {
  /** null: never, or not yet. */
  readonly at: string | null;
  /** `relative` shows the absolute time on hover. */
  readonly as?: 'absolute' | 'relative' | 'day';
  readonly absent?: string;
}

export function Time({ at, as = 'absolute', absent = '—' }: TimeProps): ReactNode {
  const zone = useZone();
  const language = useLanguage();
  const nowMs = useNow();
  if (at === null) return <span className="text-faint">{absent}</span>;
  const absolute = formatTime(at, zone);
  const shown =
    as === 'relative'
      ? formatRelative(at, nowMs, language)
      : as === 'day'
        ? formatDay(at, zone)
        : absolute;
  return (
    <time
      dateTime={at}
      data-tip={shown === absolute ? undefined : `${absolute} · ${formatZone(zone, at)}`}
      className="whitespace-nowrap figures"
    >
      {shown}
    </time>
  );
}

/** Names the zone of a page's times, once per page; at a time of which summer time is known. */
export function ZoneNote({ at }: { readonly at?: string }): ReactNode {
  const zone = useZone();
  const now = new Date(useNow()).toISOString();
  const words = useWords(sharedWords);
  return <p className="text-caption text-muted">{words.times.in(formatZone(zone, at ?? now))}</p>;
}
