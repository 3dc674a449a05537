import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { FailedPage, OperatorRequest } from '../../../src/console/contract.ts';
import { addressOf } from '../../api/client.ts';
import { data, prefetch, queryClient, sessionData } from '../../api/data.ts';
import { useNow } from '../../browser/now.ts';
import { useSearchState } from '../../browser/search-state.ts';
import { ButtonAnchor } from '../../components/button.tsx';
import { Switch } from '../../components/field.tsx';
import { FilterBar, type FilterField } from '../../components/filter-bar.tsx';
import { ListPanel } from '../../components/list-panel.tsx';
import { Page } from '../../components/page.tsx';
import { Segments } from '../../components/segments.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { useZone, ZoneNote } from '../../components/time.tsx';
import { formatCount } from '../../format/count.ts';
import { formatDuration } from '../../format/time.ts';
import { operatorRequestWords, requestWords, sharedWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { codeOf } from '../error-code.tsx';
import { HttpStatus, KeptFrom, RequestLine, useRequestColumns } from '../request-parts.tsx';
import { Period, periodOf, useFailedFields } from '../usage-filter.tsx';
import { UserInLine, UserName } from './user-name.tsx';

const noFilter = { user: '', key: '', model: '', channel: '', http: '', code: '', id: '' };
/** `all`: also the requests that were answered. `live`: the list fetches itself again. */
const searchDefaults = { ...noFilter, from: '-7d', to: '', all: '', live: '', after: '' } as const;

const path = 'operator/requests';
const liveEveryMs = 2_000;
const shows = ['failed', 'all'] as const;
const presets = ['-1h', '-24h', '-7d'] as const;

export function ahead(): void {
  const zone = queryClient.getQueryData(sessionData.queryKey)?.me?.settings.zone;
  if (zone !== undefined) prefetch(path, periodOf(searchDefaults, zone, Date.now()));
}

/** The requests of all users, newest first: those that got no whole answer, or all. */
export function RequestsPage(): ReactNode {
  const words = useWords(operatorRequestWords);
  const { table } = useWords(sharedWords);
  const zone = useZone();
  const nowMs = useNow();
  const search = useSearchState(searchDefaults);
  const [state, setState] = search;
  const { from, to, http, live, after, ...plain } = state;
  const shown = state.all === '1' ? 'all' : 'failed';
  const filter = { ...plain, status: http, ...periodOf({ from, to }, zone, nowMs) };
  // A tab that nobody looks at fetches nothing: TanStack Query stops there by itself.
  const requests = useQuery({
    ...data<FailedPage<OperatorRequest>>(path, { ...filter, after }),
    refetchInterval: live === '1' ? liveEveryMs : false,
  });
  const turn = (change: { readonly all?: string; readonly live?: string }) =>
    setState(change, { replace: true });
  return (
    <Page title={words.title} wide note={<ZoneNote />}>
      <div className="flex flex-wrap items-start gap-2">
        <Period presets={presets} state={state} onChange={setState} />
        <div className="min-w-0 flex-1">
          <FilterBar fields={useFields(shown)} value={state} onChange={setState}>
            <ButtonAnchor icon="download" href={addressOf(`${path}.csv`, filter)} download>
              {table.csv}
            </ButtonAnchor>
          </FilterBar>
        </div>
      </div>
      <div className="flex flex-wrap items-center gap-x-6 gap-y-2">
        <Segments
          label={words.show}
          value={shown}
          onChange={(chosen) => turn({ all: chosen === 'all' ? '1' : '' })}
          options={shows.map((each) => [each, words.shows[each]] as const)}
        />
        <Switch on={live === '1'} onChange={(on) => turn({ live: on ? '1' : '' })}>
          <span data-tip={words.liveTip}>{words.live}</span>
        </Switch>
      </div>
      <ListPanel
        query={requests}
        search={search}
        noFilter={noFilter}
        empty={words.none[shown]}
        nothing={words.nothing}
        oneWay
        head={<KeptFrom from={requests.data?.kept_from} />}
      >
        {(rows) => <RequestTable requests={rows} label={words.list[shown]} />}
      </ListPanel>
      <p className="text-caption text-muted">{words.kept[shown]}</p>
    </Page>
  );
}

function useFields(shown: (typeof shows)[number]): readonly FilterField[] {
  const { filter } = useWords(operatorRequestWords);
  const { columns } = useWords(requestWords);
  const failed = useFailedFields(shown === 'all' ? { '2xx': filter.answered } : {});
  return [
    { name: 'user', label: filter.user, placeholder: 'usr_…' },
    { name: 'key', label: filter.key, placeholder: 'key_…' },
    { name: 'model', label: columns.model },
    { name: 'channel', label: filter.channel },
    ...failed,
    { name: 'id', label: filter.id, placeholder: 'req_…' },
  ];
}

function RequestTable({
  requests,
  label,
}: {
  readonly requests: readonly OperatorRequest[];
  readonly label: string;
}): ReactNode {
  return (
    <Table
      label={label}
      rows={requests}
      rowKey={({ id }) => id}
      columns={useColumns()}
      path={({ id }) => `/${path}/${id}`}
      card={(request) => ({
        title: request.model ?? request.endpoint ?? codeOf(request) ?? '—',
        value: <HttpStatus request={request} />,
        detail: (
          <RequestLine
            at={request.at}
            who={<UserInLine user={request.user} />}
            channel={request.channel}
            rest={codeOf(request) && <span className="font-mono">{codeOf(request)}</span>}
          />
        ),
      })}
    />
  );
}

function useColumns(): readonly Column<OperatorRequest>[] {
  const { columns } = useWords(operatorRequestWords);
  const [time, id, key, model, status, code] = useRequestColumns();
  const own: readonly (Column<OperatorRequest> | undefined)[] = [
    time,
    id && { ...id, spare: 3 },
    {
      id: 'user',
      header: columns.user,
      cell: ({ user }) => <UserName user={user} link className="max-w-36" />,
    },
    key && { ...key, spare: 4 },
    model,
    {
      id: 'channel',
      header: columns.channel,
      cell: ({ channel }) => (
        <span className="block max-w-24 min-[1200px]:max-w-36 truncate">{channel ?? '—'}</span>
      ),
    },
    status,
    code && { ...code, spare: 0 },
    {
      id: 'attempts',
      header: columns.attempts,
      align: 'right',
      spare: 1,
      cell: ({ attempts_made: attempts }) => formatCount(attempts),
    },
    {
      id: 'total',
      header: columns.total,
      align: 'right',
      spare: 2,
      cell: ({ total_ms: totalMs }) => formatDuration(totalMs),
    },
  ];
  return own.filter((column) => column !== undefined);
}
