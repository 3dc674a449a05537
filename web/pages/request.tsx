import { clsx } from 'clsx';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { RequestTimeline } from '../../src/console/contract.ts';
import { ApiError } from '../api/client.ts';
import { data, prefetch, type Visit } from '../api/data.ts';
import { Banner } from '../components/banner.tsx';
import { ButtonLink, linkLook } from '../components/button.tsx';
import { CopyText } from '../components/copy.tsx';
import { EmptyState } from '../components/error-panel.tsx';
import { Fact, Facts } from '../components/facts.tsx';
import { DetailPage } from '../components/detail-page.tsx';
import { Panel } from '../components/page.tsx';
import { PathLink } from '../components/path-link.tsx';
import { Time, ZoneNote } from '../components/time.tsx';
import { formatCount } from '../format/count.ts';
import { formatDuration } from '../format/time.ts';
import { requestWords, usageWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { codeOf, ErrorCode } from './error-code.tsx';
import { HttpStatus, isAnswered, Reason } from './request-parts.tsx';
import { Timeline } from './request-timeline.tsx';

const address = (id: string): string => `requests/${encodeURIComponent(id)}`;

export const ahead = ({ params: { id = '' } }: Visit) => prefetch(address(id));

/** A request is recorded a second after its end, and a link at its failure may be faster. */
const recordAttemptsMax = 5;
const isRefused = (error: unknown): boolean =>
  error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 404;

/** Any request of the user by its id: how it ended, its attempts, and what to do next. */
export function RequestPage(): ReactNode {
  const words = useWords(requestWords);
  const { title: usage } = useWords(usageWords);
  const { id = '' } = useParams({ strict: false });
  const request = useQuery({
    ...data<RequestTimeline>(address(id)),
    retry: (failures, error) => failures < recordAttemptsMax && !isRefused(error),
  });
  return (
    <DetailPage
      query={request}
      title={words.title}
      list={{ label: usage, to: '/usage' }}
      note={({ at }) => <ZoneNote at={at} />}
      missing={
        <EmptyState text={words.missing}>
          <CopyText text={id} label={words.columns.id} />
        </EmptyState>
      }
    >
      {(found) => <Detail request={found} />}
    </DetailPage>
  );
}

function Detail({ request }: { readonly request: RequestTimeline }): ReactNode {
  const words = useWords(requestWords);
  const { timeline } = words;
  return (
    <div className="grid gap-4 lg:grid-cols-[3fr_2fr]">
      <div className="flex min-w-0 flex-col gap-4">
        <Ended request={request} />
        <Panel title={timeline.title}>
          {request.attempts.length === 0 ? (
            <p className="text-table text-muted">
              {request.attempts_made > 0
                ? timeline.onlyNumber(formatCount(request.attempts_made))
                : timeline.none}
            </p>
          ) : (
            <Timeline attempts={request.attempts} request={request} />
          )}
        </Panel>
      </div>
      <Panel className="self-start">
        <RequestFacts request={request} />
      </Panel>
    </div>
  );
}

/** What the client got, whether it cost anything, and the remedy. */
function Ended({ request }: { readonly request: RequestTimeline }): ReactNode {
  const words = useWords(requestWords);
  const remedy = useRemedy()(request);
  const { status, outcome, charged } = request;
  return (
    <Panel>
      <div className="flex flex-col gap-3">
        <div className="flex flex-wrap items-center gap-2">
          <HttpStatus request={request} />
          {words.names[outcome] !== undefined && (
            <span className="text-body font-medium">{words.names[outcome]}</span>
          )}
          {codeOf(request) !== null && (
            <span className="text-table">
              <span className="text-muted">{words.columns.code}: </span>
              <ErrorCode request={request} />
            </span>
          )}
        </div>
        {remedy === null ? (
          <p className="text-body">
            <Reason request={request} />
          </p>
        ) : (
          <Banner tone={status >= 500 ? 'bad' : 'warn'}>
            <Reason request={request} />
          </Banner>
        )}
        <p className="text-body">{charged ? words.charged : words.notCharged}</p>
        {request.refunded !== 'none' && (
          <p className="text-body">{words.refunded[request.refunded]}</p>
        )}
        {remedy !== null && (
          <div className="flex flex-col items-start gap-2">
            <h2 className="text-body font-semibold">{words.next}</h2>
            <p className="text-body">{remedy}</p>
            {outcome === 'insufficient_quota' && (
              <ButtonLink look="primary" to="/top-up">
                {words.topUp}
              </ButtonLink>
            )}
            {outcome === 'model_not_found' && <ButtonLink to="/models">{words.models}</ButtonLink>}
          </div>
        )}
        {charged && (
          <PathLink path={`/usage/${request.id}`} className={clsx('self-start', linkLook)}>
            {words.openCharge}
          </PathLink>
        )}
      </div>
    </Panel>
  );
}

/** The advice for a request that failed; null for one that was answered. */
function useRemedy(): (request: RequestTimeline) => string | null {
  const { remedies, byStatus } = useWords(requestWords);
  return (request) => {
    const { outcome, code, status, param } = request;
    if (isAnswered(request)) return null;
    const known = remedies[outcome] ?? remedies[code ?? ''];
    if (known !== undefined) return known;
    if (status < 400 || status >= 500) return byStatus.service;
    return param === null ? byStatus.request : byStatus.parameter;
  };
}

function RequestFacts({ request }: { readonly request: RequestTimeline }): ReactNode {
  const { columns, facts } = useWords(requestWords);
  return (
    <Facts>
      <Fact name={columns.id}>
        <CopyText text={request.id} label={columns.id} />
      </Fact>
      <Fact name={columns.time}>
        <Time at={request.at} />
      </Fact>
      <Fact name={columns.key}>
        <PathLink path={`/keys/${request.key_id}`}>{request.key_name}</PathLink>
      </Fact>
      <Fact name={columns.model}>{request.model ?? '—'}</Fact>
      {request.endpoint !== null && <Fact name={facts.endpoint}>{request.endpoint}</Fact>}
      {request.param !== null && (
        <Fact name={facts.param}>
          <span className="font-mono text-caption">{request.param}</span>
        </Fact>
      )}
      <Fact name={facts.total}>
        <span className="figures">{formatDuration(request.total_ms)}</span>
      </Fact>
    </Facts>
  );
}
