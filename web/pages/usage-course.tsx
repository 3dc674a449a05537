import { type ReactNode, useState } from 'react';
import type { LatencyView, UsageCourse as Course } from '../../src/console/contract.ts';
import type { Query } from '../api/client.ts';
import { useData } from '../api/data.ts';
import { Chart } from '../components/chart.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Panel } from '../components/page.tsx';
import { Segments } from '../components/segments.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { Unbroken } from '../components/unbroken.tsx';
import { axisCount, formatCount, formatShare } from '../format/count.ts';
import { formatClock, formatDay, formatDuration, formatTime } from '../format/time.ts';
import { requestWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { useIsOver } from './usage-filter.tsx';

type Point = Course['points'][number];

/** How long the requests of the filter took, and how many failed, by hour or day. */
export function UsageCourse({ filter }: { readonly filter: Query }): ReactNode {
  const course = useData<Course>('usage/course', filter);
  const ended = useIsOver(filter);
  return (
    <Loaded query={course} skeleton={<Waiting />}>
      {(view) => (
        <div className="flex flex-col gap-4">
          <Latency course={view} />
          <Errors course={view} ended={ended} />
        </div>
      )}
    </Loaded>
  );
}

interface CourseProps {
  readonly course: Course;
}

const measures = ['first_byte', 'total'] as const;

function Latency({ course }: CourseProps): ReactNode {
  const { course: words } = useWords(requestWords);
  const [measure, setMeasure] = useState<(typeof measures)[number]>('first_byte');
  const { points, unit } = course;
  const values = points.map((point) => point[measure]);
  const lines = [
    ['median', (view: LatencyView) => view.median_ms],
    ['p95', (view: LatencyView) => view.p95_ms],
  ] as const;
  const known = values.filter((value) => value !== null);
  const worst = Math.max(0, ...known.map(({ p95_ms: ms }) => ms));
  return (
    <Panel
      title={words.latency}
      actions={
        <Segments
          label={words.latency}
          value={measure}
          onChange={setMeasure}
          options={measures.map((each) => [each, words.measures[each]] as const)}
        />
      }
    >
      {known.length === 0 ? (
        <p className="text-table text-muted">{words.noLatency}</p>
      ) : (
        <Chart
          key={measure}
          kind="lines"
          labels={labelsOf(course)}
          labelHeader={words.units[unit]}
          summary={words.latencySummary(words.measures[measure], formatDuration(worst))}
          series={lines.map(([id, of]) => ({
            id,
            name: words[id],
            values: values.map((value) => value && of(value)),
            texts: values.map((value) => (value === null ? '—' : formatDuration(of(value)))),
          }))}
          axis={formatDuration}
        />
      )}
      <p className="text-caption text-muted">{words.sampled(words.each[unit])}</p>
    </Panel>
  );
}

function Errors({ course, ended }: CourseProps & { readonly ended: boolean }): ReactNode {
  const { course: words } = useWords(requestWords);
  const { points, unit, failed_since: since, zone } = course;
  const failures = points.reduce((sum, point) => sum + failuresOf(point), 0);
  const requests = points.reduce((sum, point) => sum + requestsOf(point), 0);
  const share = (part: number, whole: number) =>
    words.errorsOf(
      formatCount(part),
      formatCount(whole),
      formatShare(whole === 0 ? 0 : part / whole),
    );
  const counts = [
    ['failed', (point: Point) => point.failed ?? 0],
    ['interrupted', (point: Point) => point.interrupted],
  ] as const;
  return (
    <Panel title={words.errors}>
      {failures === 0 ? (
        <p className="text-table text-muted">{words.noErrors(formatCount(requests))}</p>
      ) : (
        <Chart
          kind="stacked"
          lastIsOpen={!ended}
          labels={labelsOf(course)}
          labelHeader={words.units[unit]}
          summary={words.errorsSummary(share(failures, requests))}
          series={counts.map(([id, of]) => ({
            id,
            name: words[id],
            values: points.map(of),
            texts: points.map((point) => formatCount(of(point))),
          }))}
          totals={points.map((point) => share(failuresOf(point), requestsOf(point)))}
          axis={axisCount}
        />
      )}
      <p className="text-caption text-muted">
        <Unbroken
          text={since === null ? words.chargedOnly : words.failedSince(formatTime(since, zone))}
        />
      </p>
    </Panel>
  );
}

const failuresOf = ({ failed, interrupted }: Point): number => (failed ?? 0) + interrupted;
/** Failed requests are not charged. */
const requestsOf = ({ failed, requests }: Point): number => (failed ?? 0) + requests;

function labelsOf({ points, unit, zone }: Course): readonly string[] {
  return points.map(({ at }) =>
    unit === 'day'
      ? formatDay(at, zone)
      : `${formatDay(at, zone).slice(5)} ${formatClock(at, zone)}`,
  );
}

function Waiting(): ReactNode {
  return (
    <div className="flex flex-col gap-4">
      {['latency', 'errors'].map((panel) => (
        <Panel key={panel} title={<Skeleton className="h-4 w-32" />}>
          <Skeleton className="h-50 sm:h-60 lg:h-72" />
        </Panel>
      ))}
    </div>
  );
}
