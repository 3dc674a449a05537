import type { ReactNode } from 'react';
import { addressOf } from '../../api/client.ts';
import { useSearchState } from '../../browser/search-state.ts';
import { ButtonAnchor } from '../../components/button.tsx';
import { FilterBar, type FilterField } from '../../components/filter-bar.tsx';
import { Page } from '../../components/page.tsx';
import { useZone, ZoneNote } from '../../components/time.tsx';
import { endOfDay, isDay, startOfDay } from '../../format/day.ts';
import { bookWords, sharedWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { AuditTrail, noFilter } from './audit-trail.tsx';

/** Every change with its author, target and reason: entries are only ever added. */
export function AuditPage(): ReactNode {
  const { audit: words } = useWords(bookWords);
  const { table } = useWords(sharedWords);
  const zone = useZone();
  const [state, setState] = useSearchState(noFilter);
  const { from, to, ...plain } = state;
  const filter = {
    ...plain,
    from: isDay(from) ? startOfDay(from, zone) : from,
    to: isDay(to) ? endOfDay(to, zone) : to,
  };
  const families = Object.entries(words.families);
  const fields: readonly FilterField[] = [
    {
      name: 'action',
      label: words.filters.action,
      options: [...families, ...Object.entries(words.actions)],
    },
    { name: 'actor', label: words.filters.actor, placeholder: 'usr_…' },
    { name: 'account', label: words.filters.account, placeholder: 'usr_…' },
    { name: 'target', label: words.filters.target, placeholder: words.targetPlaceholder },
    { name: 'from', label: words.filters.from, placeholder: '2026-11-01' },
    { name: 'to', label: words.filters.to, placeholder: '2026-11-21' },
  ];
  return (
    <Page title={words.title} wide note={<ZoneNote />}>
      <FilterBar fields={fields} value={state} onChange={setState}>
        <ButtonAnchor icon="download" href={addressOf('operator/audit.csv', filter)} download>
          {table.csv}
        </ButtonAnchor>
      </FilterBar>
      <AuditTrail filter={filter} />
      <p className="text-caption text-muted">{words.appendOnly}</p>
    </Page>
  );
}
