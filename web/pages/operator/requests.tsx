import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { OperatorRequest, Page as PageOf } from '../../../src/console/contract.ts';
import { addressOf } from '../../api/client.ts';
import { data, queryClient } from '../../api/data.ts';
import { useSearchState } from '../../browser/search-state.ts';
import { Button, ButtonAnchor } from '../../components/button.tsx';
import { EmptyState } from '../../components/error-panel.tsx';
import { Switch } from '../../components/field.tsx';
import { FilterBar, type FilterField } from '../../components/filter-bar.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Page, Panel } from '../../components/page.tsx';
import { PathLink } from '../../components/path-link.tsx';
import { type Column, fromFirst, Pager, Table } from '../../components/table.tsx';
import { Time, useZone } from '../../components/time.tsx';
import { formatCount } from '../../format/count.ts';
import { formatDuration } from '../../format/time.ts';
import { operatorRequestWords, requestWords, sharedWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { codeOf, HttpStatus, useRequestColumns } from '../request-parts.tsx';
import { Period, periodOf, queryOf, useFailedFields } from '../usage-filter.tsx';
import { pathName, ZoneNow } from './parts.tsx';

const noFilter = { user: '', key: '', model: '', channel: '', http: '', code: '', id: '' };
/** `all`: also requests that a later attempt answered. `live`: the list fetches itself again. */
const searchDefaults = { ...noFilter, from: '-7d', to: '', all: '', live: '', after: '' } as const;

const path = 'operator/requests';
const liveEveryMs = 2_000;
const presets = ['-1h', '-24h', '-7d'] as const;

export const ahead = () =>
  void queryClient.prefetchQuery(data<PageOf<OperatorRequest>>(path, { from: '-7d' }));

/** The requests of all users that got no whole answer, newest first. */
export function RequestsPage(): ReactNode {
  const words = useWords(operatorRequestWords);
  const { actions, table } = useWords(sharedWords);
  const zone = useZone();
  const [state, setState] = useSearchState(searchDefaults);
  const { from, to, http, live, after, ...plain } = state;
  const filter = queryOf({ ...plain, status: http, ...periodOf({ from, to }, zone) });
  // A tab that nobody looks at fetches nothing: TanStack Query stops there by itself.
  const requests = useQuery({
    ...data<PageOf<OperatorRequest>>(path, { ...filter, ...(after !== '' && { after }) }),
    refetchInterval: live === '1' ? liveEveryMs : false,
  });
  const filtered = Object.entries(state).some(([name, value]) => name in noFilter && value !== '');
  const turn = (change: { readonly all?: string; readonly live?: string }) =>
    setState(change, { replace: true });
  return (
    <Page title={words.title} wide note={<ZoneNow />}>
      <div className="flex flex-wrap items-start gap-2">
        <Period presets={presets} state={state} onChange={setState} />
        <div className="min-w-0 flex-1">
          <FilterBar fields={useFields()} value={state} onChange={setState}>
            <ButtonAnchor icon="download" href={addressOf(`${path}.csv`, filter)} download>
              {table.csv}
            </ButtonAnchor>
          </FilterBar>
        </div>
      </div>
      <div className="flex flex-wrap items-center gap-x-6 gap-y-2">
        <Switch on={state.all === '1'} onChange={(on) => turn({ all: on ? '1' : '' })}>
          {words.retried}
        </Switch>
        <Switch on={live === '1'} onChange={(on) => turn({ live: on ? '1' : '' })}>
          <span data-tip={words.liveTip}>{words.live}</span>
        </Switch>
      </div>
      <Panel flush>
        <Loaded query={requests}>
          {(page) => (
            <>
              {page.items.length > 0 && <RequestTable requests={page.items} />}
              {page.items.length === 0 && (
                <EmptyState text={filtered ? words.nothing : words.none}>
                  {filtered && (
                    <Button onClick={() => setState(noFilter)}>{actions.clearFilter}</Button>
                  )}
                </EmptyState>
              )}
              <Pager
                page={fromFirst(page, after)}
                onTurn={(next) => setState({ after: next ?? '' })}
              />
            </>
          )}
        </Loaded>
      </Panel>
      <p className="text-caption text-muted">{words.kept}</p>
    </Page>
  );
}

function useFields(): readonly FilterField[] {
  const { filter } = useWords(operatorRequestWords);
  const { columns } = useWords(requestWords);
  const failed = useFailedFields();
  return [
    { name: 'user', label: filter.user, placeholder: 'usr_…' },
    { name: 'key', label: filter.key, placeholder: 'key_…' },
    { name: 'model', label: columns.model },
    { name: 'channel', label: filter.channel },
    ...failed,
    { name: 'id', label: filter.id, placeholder: 'req_…' },
  ];
}

function RequestTable({ requests }: { readonly requests: readonly OperatorRequest[] }): ReactNode {
  const { title } = useWords(operatorRequestWords);
  return (
    <Table
      label={title}
      rows={requests}
      rowKey={({ id }) => id}
      columns={useColumns()}
      path={({ id }) => `/${path}/${id}`}
      card={(request) => ({
        title: request.model ?? request.endpoint ?? codeOf(request),
        value: <HttpStatus request={request} />,
        detail: (
          <>
            <Time at={request.at} />
            <span className="max-w-32 truncate">{request.user.name ?? request.user.id}</span>
            <span className="font-mono">{codeOf(request)}</span>
            {request.channel !== null && (
              <span className="max-w-32 truncate">{request.channel}</span>
            )}
          </>
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
    id,
    {
      id: 'user',
      header: columns.user,
      cell: ({ user }) => (
        <span className="block max-w-36 truncate">
          <PathLink path={`/operator/users/${pathName(user.id)}`}>{user.name ?? user.id}</PathLink>
        </span>
      ),
    },
    key && { ...key, spare: 3 },
    model,
    {
      id: 'channel',
      header: columns.channel,
      cell: ({ channel }) => <span className="block max-w-36 truncate">{channel ?? '—'}</span>,
    },
    status,
    code,
    {
      id: 'attempts',
      header: columns.attempts,
      align: 'right',
      spare: 1,
      cell: ({ attempts }) => formatCount(attempts.length),
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
