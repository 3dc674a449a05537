import { type ReactNode, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { KeyView, ModelsView, Page } from '../../src/console/contract.ts';
import type { Query } from '../api/client.ts';
import { data } from '../api/data.ts';
import { useNow } from '../browser/now.ts';
import { FilterBar, type FilterField } from '../components/filter-bar.tsx';
import { useZone } from '../components/time.tsx';
import { dayFrom, isDay, shiftDay, startOfDay } from '../format/day.ts';
import { requestWords, usageWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { usualCodes } from './request-parts.tsx';
import { RangeField } from './range-field.tsx';
import { type filterMeant, UsageSearchField } from './usage-search.tsx';

/** The default filter. A custom period is days, both included; a relative one stays relative. */
export const usageSearch = {
  from: '-30d',
  to: '',
  key: '',
  model: '',
  kind: '',
  status: '',
  min_cost: '',
  request: '',
  http: '',
  code: '',
  tab: 'requests',
  /** As the API has it; empty: newest first. */
  sort: '',
  limit: '50',
  after: '',
} as const;

/** Failed requests are kept for seven days. */
export const failedSearch = { ...usageSearch, from: '-7d' } as const;

export type UsageSearch = { readonly [Name in keyof typeof usageSearch]: string };
export type ChangeUsageSearch = (
  change: { readonly [Name in keyof UsageSearch]?: string },
  options?: { readonly replace?: boolean },
) => void;

/** The filter that takes every charge of its period. */
export const noFilter = { key: '', model: '', kind: '', status: '', min_cost: '', request: '' };

/** Whether charges are filtered, or of another period than at first. */
export const isFiltered = (state: UsageSearch): boolean =>
  state.from !== usageSearch.from ||
  Object.entries(state).some(([name, value]) => name in noFilter && value !== '');

type Range = Pick<UsageSearch, 'from' | 'to'>;

/** The filter of charges as parameters of the console's API. */
export function filterOf(
  { from, to, key, model, kind, status, min_cost, request }: UsageSearch,
  zone: string,
  nowMs: number,
): Query {
  return { ...periodOf({ from, to }, zone, nowMs), key, model, kind, status, min_cost, request };
}

/** The filter of failed requests. */
export function failedFilterOf(
  { from, to, key, model, http, code }: UsageSearch,
  zone: string,
  nowMs: number,
): Query {
  return { ...periodOf({ from, to }, zone, nowMs), key, model, status: http, code };
}

/**
 * The period as instants, both of its days included. `-30d` is today and the 29 days before, as on
 * every page, where the API's own `-30d` begins at this time of day; hours stay relative.
 */
export function periodOf({ from, to }: Range, zone: string, nowMs: number): Range {
  const [, days] = /^-(\d{1,4})d$/.exec(from) ?? [];
  const first = days === undefined ? from : shiftDay(dayFrom(nowMs, 0, zone), 1 - Number(days));
  return {
    from: isDay(first) ? startOfDay(first, zone) : first,
    to: isDay(to) ? startOfDay(shiftDay(to, 1), zone) : to,
  };
}

/** Whether the period of a filter is over, so that its last day is whole. */
export function useIsOver({ to }: Query): boolean {
  const nowMs = useNow();
  return typeof to === 'string' && Date.parse(to) <= nowMs;
}

const presets = ['-24h', '-7d', '-30d', '-90d'] as const;
const ofFailed: readonly string[] = ['-24h', failedSearch.from];
const kinds = [
  'chat',
  'messages',
  'responses',
  'completions',
  'embeddings',
  'images',
  'image_edits',
  'video',
  'speech',
  'transcriptions',
];
const statuses = ['ok', 'cut', 'left', 'length', 'error', 'estimated'] as const;
const startDays = 7;

interface UsageFilterProps {
  /** What is listed: each has filters of its own. */
  readonly of: 'charges' | 'failed';
  readonly state: UsageSearch;
  readonly onChange: ChangeUsageSearch;
  readonly children?: ReactNode;
}

/**
 * Period and filter, all of it in the address. Names of keys and models are fetched when the filter
 * opens.
 */
export function UsageFilter({ of, state, onChange, children }: UsageFilterProps): ReactNode {
  const words = useWords(usageWords);
  const [opened, setOpened] = useState(false);
  const keys = useQuery({
    ...data<Page<KeyView>>('keys', { limit: 100 }),
    enabled: opened || state.key !== '',
  });
  const models = useQuery({ ...data<ModelsView>('models'), enabled: opened });
  // A longer period of the address, or of another tab, stays what is asked for.
  const offered = presets.filter(
    (preset) => of === 'charges' || ofFailed.includes(preset) || preset === state.from,
  );
  const charges = useChargeFields();
  const failed = useFailedFields();
  const navigate = useNavigate();
  const found = (meant: ReturnType<typeof filterMeant>) => {
    if (of === 'charges' || meant.request === undefined) return onChange(meant);
    void navigate({ to: '/requests/$id', params: { id: meant.request } });
  };
  const keyNames = keys.data?.items.map(({ id, name }) => [id, name] as const) ?? [];
  const modelIds = models.data?.items.map(({ id }) => id) ?? [];
  const fields = [
    { name: 'key', label: words.filter.key, options: keyNames },
    { name: 'model', label: words.filter.model, suggestions: modelIds },
    ...(of === 'charges' ? charges : failed),
  ];
  return (
    <div className="flex flex-wrap items-start gap-2">
      <Period presets={offered} state={state} onChange={onChange} />
      <UsageSearchField
        keys={keyNames}
        models={modelIds}
        onEnter={() => setOpened(true)}
        onFound={found}
      />
      <div className="min-w-0 flex-1 basis-44">
        <FilterBar fields={fields} value={state} onChange={onChange} onOpen={() => setOpened(true)}>
          {children}
        </FilterBar>
      </div>
    </div>
  );
}

function useChargeFields(): readonly FilterField[] {
  const { filter, kinds: names, statuses: ends } = useWords(usageWords);
  return [
    {
      name: 'kind',
      label: filter.kind,
      options: kinds.map((kind) => [kind, names[kind] ?? kind] as const),
    },
    {
      name: 'status',
      label: filter.status,
      options: statuses.map((status) => [status, ends[status]] as const),
    },
    { name: 'min_cost', label: filter.cost, placeholder: filter.costPlaceholder },
    { name: 'request', label: filter.request, placeholder: 'req_…' },
  ];
}

/** By the status that the client got, and by the error code. */
export function useFailedFields(
  otherStatuses: Readonly<Record<string, string>> = {},
): readonly FilterField[] {
  const { filter } = useWords(requestWords);
  const statuses = { ...filter.statuses, ...otherStatuses };
  return [
    { name: 'http', label: filter.status, options: Object.entries(statuses) },
    { name: 'code', label: filter.code, suggestions: usualCodes },
  ];
}

interface PeriodProps {
  readonly presets: readonly ('-1h' | '-24h' | '-7d' | '-30d' | '-90d')[];
  readonly state: Range;
  readonly onChange: (range: Range) => void;
}

export function Period({ presets: offered, state, onChange }: PeriodProps): ReactNode {
  const { range } = useWords(usageWords);
  const zone = useZone();
  const nowMs = useNow();
  return (
    <RangeField
      words={range}
      presets={offered.map((preset) => [preset, range[preset]])}
      from={state.from}
      to={state.to || (isDay(state.from) ? dayFrom(nowMs, 0, zone) : '')}
      own={{ from: dayFrom(nowMs, 1 - startDays, zone), to: dayFrom(nowMs, 0, zone) }}
      onChange={onChange}
    />
  );
}
