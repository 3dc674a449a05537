import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import type { RequestTimeline } from '../../src/console/contract.ts';
import { StatusBadge } from '../components/status-badge.tsx';
import { formatDuration } from '../format/time.ts';
import { requestWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';

interface Attempt {
  readonly began_ms: number;
  readonly ended_ms: number;
  readonly failed: boolean;
}

interface TimelineProps<Shown extends Attempt> {
  readonly attempts: readonly Shown[];
  readonly request: Pick<RequestTimeline, 'total_ms' | 'charged'>;
  /** Beside the attempt's number. */
  readonly name?: (attempt: Shown) => ReactNode;
  /** Below the attempt's bar. */
  readonly detail?: (attempt: Shown, index: number) => ReactNode;
}

/** The attempts of a request as bars on one time axis, which begins with the request. */
export function Timeline<Shown extends Attempt>({
  attempts,
  request: { total_ms: totalMs, charged },
  name,
  detail,
}: TimelineProps<Shown>): ReactNode {
  const { timeline: words } = useWords(requestWords);
  const endMs = Math.max(1, totalMs, ...attempts.map(({ ended_ms: endedMs }) => endedMs));
  return (
    <div className="flex flex-col gap-4">
      <ol aria-label={words.label} className="flex flex-col gap-4">
        {attempts.map((attempt, index) => (
          <li key={index} className="flex min-w-0 flex-col gap-1 text-table">
            <div className="flex flex-wrap items-center gap-x-2">
              <span className="font-medium">{words.attempt(index + 1)}</span>
              {name?.(attempt)}
              <StatusBadge status={attempt.failed ? 'failed' : 'ok'}>
                {attempt.failed ? words.failed : words.answered}
              </StatusBadge>
              <span className="ml-auto text-caption text-muted figures">
                {words.span(formatDuration(attempt.began_ms), formatDuration(attempt.ended_ms))}
              </span>
            </div>
            <Bar attempt={attempt} endMs={endMs} />
            {detail?.(attempt, index)}
          </li>
        ))}
      </ol>
      <div
        aria-hidden="true"
        className="flex justify-between border-t border-line pt-1 text-caption text-muted figures"
      >
        {[0, endMs / 2, endMs].map((ms) => (
          <span key={ms}>{formatDuration(ms)}</span>
        ))}
      </div>
      {charged && new Set(attempts.map(({ failed }) => failed)).size === 2 && (
        <p className="text-caption text-muted">{words.onlyAnswered}</p>
      )}
    </div>
  );
}

function Bar({
  attempt: { began_ms: beganMs, ended_ms: endedMs, failed },
  endMs,
}: {
  readonly attempt: Attempt;
  readonly endMs: number;
}): ReactNode {
  const share = (ms: number) => `${(ms / endMs) * 100}%`;
  return (
    <div className="relative h-2 overflow-hidden rounded-full bg-idle-soft" aria-hidden="true">
      <div
        className={clsx('absolute h-full min-w-1 rounded-full', failed ? 'bg-bad' : 'bg-good')}
        style={{ left: `min(${share(beganMs)}, 100% - 4px)`, width: share(endedMs - beganMs) }}
      />
    </div>
  );
}
