import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { OperatorRequestDetail, RequestAttempt } from '../../../src/console/contract.ts';
import { prefetch, useData, type Visit } from '../../api/data.ts';
import { CopyText } from '../../components/copy.tsx';
import { EmptyState } from '../../components/error-panel.tsx';
import { Fact, Facts } from '../../components/facts.tsx';
import { DetailPage } from '../../components/detail-page.tsx';
import { Panel } from '../../components/page.tsx';
import { PathLink } from '../../components/path-link.tsx';
import { Time, ZoneNote } from '../../components/time.tsx';
import { formatCount } from '../../format/count.ts';
import { formatDuration } from '../../format/time.ts';
import { operatorRequestWords, requestWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { codeOf, ErrorCode } from '../error-code.tsx';
import { HttpStatus, Reason } from '../request-parts.tsx';
import { Timeline } from '../request-timeline.tsx';
import { ChannelLink } from './channel-parts.tsx';
import { operatorModelPath } from './model-parts.ts';
import { UserInLine, userPath } from './user-name.tsx';

const address = (id: string): string => `operator/requests/${encodeURIComponent(id)}`;

export const ahead = ({ params: { id = '' } }: Visit) => prefetch(address(id));

/** One request of any user, with each channel that was called for it. */
export function OperatorRequestPage(): ReactNode {
  const words = useWords(operatorRequestWords);
  const { title, missing, columns } = useWords(requestWords);
  const { id = '' } = useParams({ strict: false });
  const request = useData<OperatorRequestDetail>(address(id));
  return (
    <DetailPage
      query={request}
      title={title}
      list={{ label: words.title, to: '/operator/requests' }}
      note={({ at }) => <ZoneNote at={at} />}
      missing={
        <EmptyState text={missing}>
          <CopyText text={id} label={columns.id} />
        </EmptyState>
      }
    >
      {(found) => <Detail request={found} />}
    </DetailPage>
  );
}

function Detail({ request }: { readonly request: OperatorRequestDetail }): ReactNode {
  const { timeline } = useWords(requestWords);
  const attempts = request.attempts.map((attempt) => ({
    ...attempt,
    failed: attempt.fault !== null,
  }));
  return (
    <div className="grid gap-4 lg:grid-cols-[3fr_2fr]">
      <Panel title={timeline.title} className="self-start">
        {attempts.length === 0 ? (
          <NoAttempts request={request} />
        ) : (
          <Timeline
            attempts={attempts}
            request={request}
            name={(attempt) => <Channel of={attempt} />}
            detail={(attempt, index) => <Attempt attempt={attempt} after={{ request, index }} />}
          />
        )}
      </Panel>
      <Panel className="self-start">
        <RequestFacts request={request} />
      </Panel>
    </div>
  );
}

function NoAttempts({
  request: { channel, attempts_made: made },
}: {
  readonly request: OperatorRequestDetail;
}): ReactNode {
  const words = useWords(operatorRequestWords);
  const { timeline } = useWords(requestWords);
  const text = channel === null ? words.notSent : words.noneFailed;
  return (
    <p className="text-table text-muted">
      {made > 0 ? timeline.onlyNumber(formatCount(made)) : text}
    </p>
  );
}

function Channel({
  of: { channel, key: number },
}: {
  readonly of: Pick<RequestAttempt, 'channel' | 'key'>;
}): ReactNode {
  const words = useWords(operatorRequestWords);
  return (
    <>
      <ChannelLink name={channel} />
      {number !== null && <span className="text-muted">{words.key(number)}</span>}
    </>
  );
}

interface After {
  readonly request: OperatorRequestDetail;
  /** The place of the attempt among those of the request. */
  readonly index: number;
}

/** How far the attempt came, what the vendor said, and why another followed or did not. */
function Attempt({
  attempt: { fault, began_ms: beganMs, ended_ms: endedMs },
  after,
}: {
  readonly attempt: RequestAttempt;
  readonly after: After;
}): ReactNode {
  const words = useWords(operatorRequestWords);
  const took = (
    <Fact name={words.took}>
      <span className="figures">{formatDuration(endedMs - beganMs)}</span>
    </Fact>
  );
  if (fault === null)
    return (
      <>
        <p>{words.answered}</p>
        <Facts>{took}</Facts>
      </>
    );
  return (
    <>
      <p>{words.faults[fault.kind] ?? fault.kind}</p>
      <p>{words.after[reasonAfter(after, fault)]}</p>
      <Facts>
        <Fact name={words.fault}>
          <span className="font-mono text-caption">{fault.kind}</span>
        </Fact>
        <Fact name={words.stage}>{words.stages[fault.stage] ?? fault.stage}</Fact>
        <Fact name={words.response}>
          {fault.status === null ? words.noResponse : `HTTP ${fault.status}`}
        </Fact>
        {fault.why !== null && <Fact name={words.connection}>{fault.why}</Fact>}
        {took}
      </Facts>
    </>
  );
}

const blamed: readonly string[] = ['bad_request', 'context_length', 'content_policy'];
const forgivenOnce: readonly string[] = ['server_error', 'protocol'];

/** What followed the failed attempt, or else why nothing did. */
function reasonAfter(
  { request: { attempts, attempts_max: attemptsMax, outcome, charged }, index }: After,
  { kind, stage, may_retry: mayRetry }: NonNullable<RequestAttempt['fault']>,
) {
  const next = attempts[index + 1];
  if (next !== undefined) return next.channel === attempts[index]?.channel ? 'same' : 'other';
  if (outcome === 'left') return 'left';
  if (mayRetry) return attempts.length < attemptsMax ? 'noChannel' : 'exhausted';
  if (stage === 'streaming') return charged ? 'deliveredCharged' : 'delivered';
  if (blamed.includes(kind)) return 'blamed';
  const isRepeated = attempts.slice(0, index).some(({ fault }) => fault?.kind === kind);
  return isRepeated && forgivenOnce.includes(kind) ? 'repeated' : 'costly';
}

function RequestFacts({ request }: { readonly request: OperatorRequestDetail }): ReactNode {
  const words = useWords(operatorRequestWords);
  const { columns, facts, openCharge, refunded } = useWords(requestWords);
  const { user, id } = request;
  return (
    <Facts>
      <Fact name={columns.id}>
        <CopyText text={id} label={columns.id} />
      </Fact>
      <Fact name={columns.time}>
        <Time at={request.at} />
      </Fact>
      <Fact name={words.columns.user}>
        <UserInLine user={user} link />
      </Fact>
      <Fact name={columns.key}>
        {request.key_name}
        <CopyText text={request.key_id} label={words.filter.key} className="max-w-40" />
      </Fact>
      <Fact name={columns.model}>
        {request.model === null || request.outcome === 'model_not_found' ? (
          (request.model ?? '—')
        ) : (
          <PathLink path={operatorModelPath(request.model)}>{request.model}</PathLink>
        )}
      </Fact>
      {request.endpoint !== null && <Fact name={facts.endpoint}>{request.endpoint}</Fact>}
      <Fact name={columns.status}>
        <HttpStatus request={request} />
      </Fact>
      <EndFacts request={request} />
      {request.param !== null && (
        <Fact name={facts.param}>
          <span className="font-mono text-caption">{request.param}</span>
        </Fact>
      )}
      {request.channel !== null && (
        <Fact name={words.columns.channel}>
          <ChannelLink name={request.channel} />
        </Fact>
      )}
      <Fact name={facts.total}>
        <span className="figures">{formatDuration(request.total_ms)}</span>
      </Fact>
      <Fact name={words.charge}>
        {request.charged ? (
          <span className="flex flex-wrap justify-end gap-x-2">
            {refunded[request.refunded]}
            <PathLink path={`${userPath(user.id)}?tab=usage&charge=${id}`}>{openCharge}</PathLink>
          </span>
        ) : (
          words.notCharged
        )}
      </Fact>
    </Facts>
  );
}

/** The error, or how a request without one ended. */
function EndFacts({ request }: { readonly request: OperatorRequestDetail }): ReactNode {
  const words = useWords(operatorRequestWords);
  const { columns } = useWords(requestWords);
  const reason = <Reason request={request} />;
  const code = codeOf(request);
  if (code === null) return <Fact name={words.outcome}>{reason}</Fact>;
  return (
    <>
      {request.outcome !== code && (
        <Fact name={words.outcome}>
          <span className="font-mono text-caption">{request.outcome}</span>
        </Fact>
      )}
      <Fact name={columns.code}>
        <span className="text-caption">
          <ErrorCode request={request} />
        </span>
      </Fact>
      <Fact name={columns.message}>{reason}</Fact>
    </>
  );
}
