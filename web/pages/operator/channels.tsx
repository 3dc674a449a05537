import type { ReactNode } from 'react';
import type { ChannelStateName, ChannelView } from '../../../src/console/contract.ts';
import { prefetch } from '../../api/data.ts';
import { useMedia, useWide } from '../../browser/media.ts';
import { useSearchState } from '../../browser/search-state.ts';
import { Button, CreateButton } from '../../components/button.tsx';
import { menuColumn, useColumns } from '../../components/column-menu.tsx';
import { TextInput } from '../../components/field.tsx';
import { FilterBar, type FilterField } from '../../components/filter-bar.tsx';
import { ListPanel } from '../../components/list-panel.tsx';
import { Page } from '../../components/page.tsx';
import { named } from '../../components/named-columns.ts';
import { type Column, Table } from '../../components/table.tsx';
import { formatCount, formatShare } from '../../format/count.ts';
import { channelWords, operatorWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { useVendorName, vendorText } from '../../words/vendor-names.ts';
import { NewChannel } from './channel-form.tsx';
import { TestAll } from './channel-test-all.tsx';
import { ChannelMenu } from './channel-menu.tsx';
import {
  ChannelBadge,
  ChannelWhy,
  channelPath,
  firstByteText,
  useChannels,
  useChannelTurn,
} from './channel-parts.tsx';

/** `form`: `new`, `test` for all channels, or `copy:` and the name of a channel. */
const noFilter = { q: '', vendor: '', model: '', group: '', state: '' };
const searchDefaults = { ...noFilter, sort: '', form: '' };
type Search = Readonly<Record<keyof typeof searchDefaults, string>>;
const states: readonly ChannelStateName[] = [
  'untried',
  'healthy',
  'failing',
  'degraded',
  'cooling',
  'parked',
  'draining',
  'drained',
  'disabled',
];

export const ahead = () => prefetch('operator/channels');

/** The channels and their health. */
export function ChannelsPage(): ReactNode {
  const words = useWords(channelWords);
  const channels = useChannels();
  const search = useSearchState(searchDefaults);
  const [state, setState] = search;
  const all = channels.data?.items ?? [];
  return (
    <Page
      title={words.title}
      wide
      note={channels.data && <Counts channels={all} />}
      actions={
        <>
          <Button icon="play" onClick={() => setState({ form: 'test' })}>
            {words.test.allTitle}
          </Button>
          <CreateButton onClick={() => setState({ form: 'new' })}>{words.add}</CreateButton>
        </>
      }
    >
      <Filters channels={all} state={state} onChange={setState} />
      <ListPanel
        query={channels}
        search={search}
        noFilter={noFilter}
        keep={(channel) => matches(channel, state)}
        empty={words.empty}
        nothing={words.nothing}
      >
        {(rows) => (
          <ChannelTable
            channels={rows.toSorted((a, b) => urgency(a) - urgency(b))}
            sort={state.sort}
            onSort={(sort) => setState({ sort }, { replace: true })}
            onCopy={(name) => setState({ form: `copy:${name}` })}
          />
        )}
      </ListPanel>
      {state.form === 'test' && channels.data !== undefined && (
        <TestAll channels={all} onClose={() => setState({ form: '' })} />
      )}
      {state.form !== '' && state.form !== 'test' && (
        <NewChannel
          like={all.find(({ name }) => state.form === `copy:${name}`)}
          onClose={() => setState({ form: '' })}
        />
      )}
    </Page>
  );
}

function Counts({ channels }: { readonly channels: readonly ChannelView[] }): ReactNode {
  const words = useWords(channelWords);
  const counted = states.flatMap((state) => {
    const count = channels.filter((channel) => channel.state === state).length;
    return count === 0 ? [] : [words.count(words.states[state], count)];
  });
  return <p className="text-caption text-muted">{counted.join(' · ')}</p>;
}

interface FiltersProps {
  readonly channels: readonly ChannelView[];
  readonly state: Search;
  readonly onChange: (change: Partial<Search>, options?: { readonly replace?: boolean }) => void;
}

function Filters({ channels, state, onChange }: FiltersProps): ReactNode {
  const words = useWords(channelWords);
  const nameOf = useVendorName();
  const sorted = (names: readonly string[]) => [...new Set(names)].toSorted();
  const same = (names: readonly string[]) => sorted(names).map((name) => [name, name] as const);
  const fields: readonly FilterField[] = [
    {
      name: 'state',
      label: words.filters.state,
      options: states.map((each) => [each, words.states[each]] as const),
    },
    {
      name: 'vendor',
      label: words.filters.vendor,
      options: sorted(channels.map(({ vendor }) => vendor)).map((vendor) => [
        vendor,
        nameOf(vendor),
      ]),
    },
    {
      name: 'group',
      label: words.filters.group,
      options: same(channels.flatMap(({ groups }) => groups)),
    },
    {
      name: 'model',
      label: words.filters.model,
      suggestions: sorted(channels.flatMap(({ models }) => models.map(({ id }) => id))),
    },
  ];
  return (
    <div className="flex flex-wrap items-center gap-2">
      <TextInput
        type="search"
        aria-label={words.search}
        placeholder={words.searchPlaceholder}
        data-shortcut="filter"
        className="md:max-w-72"
        value={state.q}
        onChange={({ target }) => onChange({ q: target.value }, { replace: true })}
      />
      <FilterBar fields={fields} value={state} onChange={onChange} />
    </div>
  );
}

/** Channels that need attention come first; the others stay sorted by name. */
function urgency({ state }: ChannelView): number {
  return urgent.indexOf(state) + 1 || urgent.length + 1;
}

const urgent: readonly ChannelStateName[] = [
  'parked',
  'failing',
  'cooling',
  'degraded',
  'draining',
  'drained',
];

function matches(channel: ChannelView, wanted: Search): boolean {
  const { name, vendor, base_url: address, groups, models, state } = channel;
  const text = [name, vendorText(vendor), address, ...groups].join(' ').toLowerCase();
  return (
    text.includes(wanted.q.toLowerCase().trim()) &&
    ['', vendor].includes(wanted.vendor) &&
    ['', state].includes(wanted.state) &&
    ['', ...groups].includes(wanted.group) &&
    (wanted.model === '' ||
      models.some(({ id }) => id.toLowerCase().includes(wanted.model.toLowerCase())))
  );
}

interface ChannelTableProps {
  readonly channels: readonly ChannelView[];
  readonly sort: string;
  readonly onSort: (sort: string) => void;
  readonly onCopy: (name: string) => void;
}

function ChannelTable({ channels, sort, onSort, onCopy }: ChannelTableProps): ReactNode {
  const words = useWords(channelWords);
  const nameOf = useVendorName();
  const { turn, dialog } = useChannelTurn();
  const menu = (channel: ChannelView) => (
    <ChannelMenu small channel={channel} onTurn={turn} onCopy={() => onCopy(channel.name)} />
  );
  const wide = useWide();
  const [shown, columnMenu, onFit] = useColumns(
    'channels',
    useChannelColumns(menu),
    useMedia('(min-width: 1800px)') ? [] : ['vendor', 'base', 'order'],
  );
  return (
    <>
      <Table
        label={words.title}
        rows={channels}
        rowKey={({ name }) => name}
        columns={shown}
        onFit={onFit}
        sort={sort}
        onSort={onSort}
        path={({ name }) => channelPath(name)}
        card={(channel) => ({
          title: channel.name,
          value: <ChannelBadge channel={channel} />,
          detail: (
            <>
              <span>{nameOf(channel.vendor)}</span>
              <span>{words.lastHour(formatCount(channel.last_hour.requests))}</span>
              {channel.last_hour.error_share !== null && (
                <span>{words.errorShare(errorShare(channel))}</span>
              )}
              <ChannelWhy channel={channel} />
            </>
          ),
          menu: menu(channel),
        })}
      />
      {wide && <div className="border-t border-line px-3 py-2">{columnMenu}</div>}
      {dialog}
    </>
  );
}

function useChannelColumns(
  menu: (channel: ChannelView) => ReactNode,
): readonly Column<ChannelView>[] {
  const { columns } = useWords(channelWords);
  const { actions } = useWords(operatorWords);
  const nameOf = useVendorName();
  const names = { ...columns, base: columns.baseUrl, speed: columns.firstByte };
  const shown: readonly Column<ChannelView>[] = named(names, [
    {
      id: 'name',
      sortBy: ({ name }) => name,
      cell: ({ name }) => <span className="block max-w-56 truncate font-medium">{name}</span>,
    },
    {
      id: 'state',
      sortBy: urgency,
      cell: (channel) => (
        <span className="flex max-w-64 flex-col items-start py-1 whitespace-normal">
          <ChannelBadge channel={channel} /> <ChannelWhy channel={channel} />
        </span>
      ),
    },
    { id: 'vendor', sortBy: ({ vendor }) => vendor, cell: ({ vendor }) => nameOf(vendor) },
    { id: 'base', cell: (channel) => <Host channel={channel} /> },
    {
      id: 'models',
      spare: 2,
      align: 'right',
      sortBy: ({ models }) => models.length,
      cell: ({ models }) => formatCount(models.length),
    },
    {
      id: 'order',
      align: 'right',
      sortBy: ({ priority }) => priority,
      cell: ({ priority, weight }) => `${priority} / ${weight}`,
    },
    {
      id: 'requests',
      align: 'right',
      sortBy: ({ last_hour: { requests } }) => requests,
      cell: ({ last_hour: { requests } }) => formatCount(requests),
    },
    {
      id: 'errors',
      align: 'right',
      sortBy: ({ last_hour: { error_share: errors } }) => errors,
      cell: errorShare,
    },
    {
      id: 'speed',
      spare: 3,
      align: 'right',
      sortBy: ({ last_hour: { first_byte_median_ms: median } }) => median,
      cell: (channel) => firstByteText(channel.last_hour),
    },
    { id: 'cost', spare: 1, amount: (channel) => channel.vendor_cost_24h, as: 'spend' },
  ]);
  return [...shown, menuColumn(actions(''), menu)];
}

const errorShare = ({ last_hour: { error_share: errors } }: ChannelView): string =>
  errors === null ? '—' : formatShare(errors);

function Host({ channel: { base_url: address } }: { readonly channel: ChannelView }): ReactNode {
  const words = useWords(channelWords);
  if (address === null) return <span className="text-muted">{words.vendorDefault}</span>;
  const host = address.replace(/^https?:\/\//, '');
  return (
    <span className="block max-w-48 truncate" data-tip={address}>
      {host}
    </span>
  );
}
