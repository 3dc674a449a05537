import type { ReactNode } from 'react';
import type { FailedPage, FailedRequest } from '../../src/console/contract.ts';
import type { UseQueryResult } from '@tanstack/react-query';
import { CopyText } from '../components/copy.tsx';
import { ListPanel, type ListPanelProps } from '../components/list-panel.tsx';
import { Original } from '../components/original.tsx';
import { Badge } from '../components/status-badge.tsx';
import { named } from '../components/named-columns.ts';
import { type Column, Table } from '../components/table.tsx';
import { Time, useZone } from '../components/time.tsx';
import { Unbroken } from '../components/unbroken.tsx';
import { formatTime } from '../format/time.ts';
import { requestWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { codeOf } from './error-code.tsx';

/** Error codes to choose from; others can be typed. */
export const usualCodes: readonly string[] = [
  'insufficient_quota',
  'rate_limit_exceeded',
  'model_not_found',
  'invalid_request_error',
  'unsupported_parameter',
  'context_length_exceeded',
  'content_policy_violation',
  'address_not_allowed',
  'server_error',
  'unavailable',
];

/** Whether the client got the whole answer. */
export const isAnswered = ({ outcome }: Pick<FailedRequest, 'outcome'>): boolean =>
  /^(?:ok|length)(?:, not kept)?$/.test(outcome);

/** The HTTP status that the client got. A 200 is no success here when the stream broke off. */
export function HttpStatus({
  request,
}: {
  readonly request: Pick<FailedRequest, 'status' | 'outcome'>;
}): ReactNode {
  const { interrupted } = useWords(requestWords);
  const { status } = request;
  if (status >= 500)
    return (
      <Badge tone="bad" icon="failed">
        {status}
      </Badge>
    );
  const answered = isAnswered(request);
  return (
    <Badge tone={answered ? 'good' : 'warn'} icon={answered ? 'check' : 'warning'}>
      {answered || status >= 300 ? status : interrupted(String(status))}
    </Badge>
  );
}

/** Why there was no answer: a sentence about the end, or the error's text, which is English. */
export function Reason({
  request: { code, outcome, message },
}: {
  readonly request: FailedRequest;
}): ReactNode {
  const { ended, notKept, ownMessage } = useWords(requestWords);
  if (message !== null) return <Original text={message} lang="en" within={ownMessage} />;
  return ended[outcome] ?? (code === null ? outcome : notKept);
}

/** The same in few words, and in the reader's language. */
function ShortReason({ request }: { readonly request: FailedRequest }): ReactNode {
  const { names } = useWords(requestWords);
  return names[request.outcome] ?? <Reason request={request} />;
}

export function useRequestColumns(): readonly Column<FailedRequest>[] {
  const { columns } = useWords(requestWords);
  return named(columns, [
    { id: 'time', cell: ({ at }) => <Time at={at} /> },
    {
      id: 'id',
      cell: ({ id }) => (
        <CopyText text={id} label={columns.id} className="w-24 min-[1200px]:w-32" />
      ),
    },
    {
      id: 'key',
      spare: 2,
      cell: ({ key_name: name }) => <span className="block max-w-36 truncate">{name}</span>,
      className: 'text-muted',
    },
    {
      id: 'model',
      cell: ({ model }) => (
        <span className="block max-w-32 min-[1200px]:max-w-48 truncate">{model ?? '—'}</span>
      ),
    },
    { id: 'status', cell: (request) => <HttpStatus request={request} /> },
    {
      id: 'code',
      spare: 1,
      cell: (request) => (
        <span className="block max-w-32 min-[1200px]:max-w-52 truncate font-mono text-caption">
          {codeOf(request) ?? '—'}
        </span>
      ),
    },
    {
      id: 'reason',
      cell: (request) => (
        <span className="block max-w-80 truncate">
          <ShortReason request={request} />
        </span>
      ),
    },
  ]);
}

interface RequestLineProps {
  readonly at: string;
  /** Whose request it is: its user, or its key. */
  readonly who: ReactNode;
  readonly channel?: string | null;
  /** What else tells it apart: why it failed, or its model; null: nothing. */
  readonly rest: ReactNode;
}

/** The second line of a request's card; dots keep a name and a code apart. */
export function RequestLine({ at, who, channel, rest }: RequestLineProps): ReactNode {
  return (
    <span className="min-w-0 wrap-anywhere">
      <Time at={at} />
      {who !== null && <> · {who}</>}
      {channel != null && ` · ${channel}`}
      {rest !== null && <> · {rest}</>}
    </span>
  );
}

interface ListProps extends Pick<ListPanelProps<FailedRequest>, 'search' | 'noFilter'> {
  readonly query: UseQueryResult<FailedPage<FailedRequest>>;
  readonly path: (request: FailedRequest) => string;
}

/** Says how far back a list of failed requests reaches, where its period begins before. */
export function KeptFrom({ from = null }: { readonly from: string | null | undefined }): ReactNode {
  const { keptFrom } = useWords(requestWords);
  const zone = useZone();
  if (from === null) return null;
  return (
    <p role="status" className="border-b border-line px-4 py-2 text-caption text-muted">
      <Unbroken text={keptFrom(formatTime(from, zone))} />
    </p>
  );
}

/** Failed requests of one user, newest first. */
export function FailedList({ path, ...list }: ListProps): ReactNode {
  const words = useWords(requestWords);
  const columns = useRequestColumns();
  return (
    <ListPanel
      {...list}
      empty={words.none}
      nothing={words.nothing}
      oneWay
      head={<KeptFrom from={list.query.data?.kept_from} />}
      note={words.kept}
    >
      {(rows) => (
        <Table
          label={words.list}
          rows={rows}
          rowKey={({ id }) => id}
          columns={columns}
          path={path}
          card={(request) => ({
            title: <ShortReason request={request} />,
            value: <HttpStatus request={request} />,
            detail: <RequestLine at={request.at} who={request.key_name} rest={request.model} />,
          })}
        />
      )}
    </ListPanel>
  );
}
