import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import type { TaskDetail, TaskStateName, TaskView } from '../../src/console/contract.ts';
import { data } from '../api/data.ts';
import { absent } from '../components/absent.tsx';
import { Banner } from '../components/banner.tsx';
import { ButtonAnchor } from '../components/button.tsx';
import { Original } from '../components/original.tsx';
import { Money } from '../components/money.tsx';
import { type Status, StatusBadge } from '../components/status-badge.tsx';
import { formatYuan, parseYuan } from '../format/money.ts';
import { formatDuration } from '../format/time.ts';
import { tasksWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { useSentenceGap } from '../words/language.ts';

const statuses: Readonly<Record<TaskStateName, Status>> = {
  pending: 'pending',
  processing: 'running',
  completed: 'ok',
  failed: 'failed',
};

export const isRunning = ({ state }: Pick<TaskView, 'state'>): boolean =>
  state === 'pending' || state === 'processing';

const pollMs = 3000;

/** A task; while it runs the page polls, in addition to events. */
export function useTask(id: string) {
  return useQuery({
    ...data<TaskDetail>(`tasks/${id}`),
    refetchInterval: ({ state }) =>
      state.data !== undefined && isRunning(state.data) ? pollMs : false,
  });
}

export function TaskBadge({ state }: Pick<TaskView, 'state'>): ReactNode {
  const words = useWords(tasksWords);
  return <StatusBadge status={statuses[state]}>{words.states[state]}</StatusBadge>;
}

/** Reserved while the task runs, charged when it succeeds, nothing when it fails. */
export function TaskMoney({ task }: { readonly task: TaskView }): ReactNode {
  const words = useWords(tasksWords);
  if (task.state === 'failed') return <StatusBadge status="notCharged" />;
  if (task.state === 'completed') return <Money amount={task.charged} as="row" />;
  return (
    <span className="inline-flex items-baseline gap-1 text-muted">
      {words.heldLabel} <Money amount={task.held} as="row" />
    </span>
  );
}

/** A percentage only where the vendor gives one. */
export function TaskPercent({ task }: { readonly task: TaskView }): ReactNode {
  const words = useWords(tasksWords);
  if (!isRunning(task)) return absent;
  if (task.progress === null) return <Elapsed since={task.submitted_at} />;
  return <span className="figures">{words.percent(String(task.progress))}</span>;
}

const tickMs = 1000;

function Elapsed({ since }: { readonly since: string }): ReactNode {
  const words = useWords(tasksWords);
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), tickMs);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.floor((now - Date.parse(since)) / 1000));
  return (
    <span className="figures">
      {words.elapsed(
        seconds < 60 ? words.seconds(String(seconds)) : formatDuration(seconds * 1000),
      )}
    </span>
  );
}

/** The progress of a task, or its end: never more than the vendor reported. */
export function TaskProgress({ task }: { readonly task: TaskDetail }): ReactNode {
  const words = useWords(tasksWords);
  const gap = useSentenceGap();
  if (task.state === 'completed') return <VideoPlayer task={task} />;
  if (task.state === 'failed') {
    return (
      <Banner tone="bad">
        <p className="font-medium">
          {words.failed}
          {gap}
          {task.error !== null && <Original text={task.error.message} />}
        </p>
        <p className="text-muted">
          {words.notCharged} · {words.released(formatYuan(billed(task), 'row'))}
        </p>
      </Banner>
    );
  }
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-table">
        <TaskBadge state={task.state} />
        <span>{task.state === 'pending' ? words.queued : words.working}</span>
        <span className="text-muted">
          <TaskPercent task={task} />
        </span>
        {task.usual_ms !== null && (
          <span className="text-muted">{words.usually(formatDuration(task.usual_ms))}</span>
        )}
      </div>
      <Bar percent={task.progress} />
      <p className="text-caption text-muted">{words.leave}</p>
    </div>
  );
}

/** The charged sum of the task's lines. */
const billed = ({ lines }: TaskDetail): bigint =>
  lines.reduce((sum, { charged }) => sum + parseYuan(charged), 0n);

function Bar({ percent }: { readonly percent: number | null }): ReactNode {
  const words = useWords(tasksWords);
  return (
    <div
      role="progressbar"
      aria-label={words.progressLabel}
      {...(percent !== null && {
        'aria-valuenow': percent,
        'aria-valuemin': 0,
        'aria-valuemax': 100,
      })}
      className="h-1.5 overflow-hidden rounded-full bg-idle-soft"
    >
      {percent === null ? (
        <div className="h-full w-1/3 rounded-full bg-accent sweep" />
      ) : (
        <div className="h-full rounded-full bg-accent" style={{ width: `${percent}%` }} />
      )}
    </div>
  );
}

function VideoPlayer({ task }: { readonly task: TaskDetail }): ReactNode {
  const words = useWords(tasksWords);
  if (task.video_url === null) return <Banner tone="warn">{words.gone}</Banner>;
  return (
    <div className="flex flex-col gap-2">
      {/* oxlint-disable-next-line jsx-a11y/media-has-caption -- vendors make none */}
      <video
        key={task.video_url}
        src={task.video_url}
        controls
        preload="metadata"
        playsInline
        aria-label={words.player}
        className="max-h-[60dvh] w-full rounded-control border border-line bg-sunken"
      />
      <div className="flex flex-wrap items-center gap-2">
        <ButtonAnchor href={task.video_url} download={`${task.id}.mp4`} icon="download">
          {words.download}
        </ButtonAnchor>
        {task.ended_at !== null && (
          <span className="text-caption text-muted">
            {words.done(formatDuration(Date.parse(task.ended_at) - Date.parse(task.submitted_at)))}
          </span>
        )}
      </div>
    </div>
  );
}
