import { useNavigate, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Page as PageOf, TaskDetail, TaskView } from '../../src/console/contract.ts';
import { ApiError } from '../api/client.ts';
import { prefetch, refresh, useData } from '../api/data.ts';
import { useEvent } from '../api/events.ts';
import { useSearchState } from '../browser/search-state.ts';
import { ButtonLink } from '../components/button.tsx';
import { CopyText } from '../components/copy.tsx';
import { Drawer, stepsIn } from '../components/dialog.tsx';
import { EmptyState } from '../components/error-panel.tsx';
import { Fact, Facts } from '../components/facts.tsx';
import { ListPanel } from '../components/list-panel.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Money } from '../components/money.tsx';
import { Page } from '../components/page.tsx';
import { PathLink } from '../components/path-link.tsx';
import { named } from '../components/named-columns.ts';
import { type Column, Table } from '../components/table.tsx';
import { Time, ZoneNote } from '../components/time.tsx';
import { formatCount } from '../format/count.ts';
import { formatQuantity } from '../format/quantity.ts';
import { priceText } from '../format/price.ts';
import { sharedWords, tasksWords, usageWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { Rich } from '../words/rich.tsx';
import { TaskBadge, TaskMoney, TaskPercent, TaskProgress, useTask } from './task-parts.tsx';

const searchDefaults = { after: '' };

export const ahead = () => prefetch('tasks');

/** The user's tasks. `/tasks/:id` is the same page with the task beside it. */
export function TasksPage(): ReactNode {
  const words = useWords(tasksWords);
  const list = useSearchState(searchDefaults);
  const [{ after }] = list;
  const tasks = useData<PageOf<TaskView>>('tasks', { after });
  const { id } = useParams({ strict: false });
  const navigate = useNavigate();
  useEvent('task', refreshTasks);
  // The list keeps its own page.
  const search = after === '' ? {} : { after };
  const to = (next: string | undefined) =>
    void navigate({
      to: next === undefined ? '/tasks' : '/tasks/$id',
      params: { id: next },
      search,
      resetScroll: false,
    } as never);
  return (
    <Page
      title={words.title}
      wide
      note={<ZoneNote />}
      actions={
        <ButtonLink
          look="primary"
          icon="plus"
          to="/playground/$kind"
          params={{ kind: 'video' }}
          data-shortcut="create"
        >
          {words.newVideo}
        </ButtonLink>
      }
    >
      <p className="text-table text-muted">{words.note}</p>
      <ListPanel query={tasks} search={list} empty={words.empty}>
        {(rows) => (
          <TaskTable tasks={rows} selected={id} query={String(new URLSearchParams(search))} />
        )}
      </ListPanel>
      {id !== undefined && (
        <TaskDrawer key={id} id={id} among={tasks.data?.items ?? []} onTo={to} />
      )}
    </Page>
  );
}

const refreshTasks = (): Promise<void> => refresh('tasks');

interface TaskTableProps {
  readonly tasks: readonly TaskView[];
  readonly selected: string | undefined;
  /** The query of the list's address. */
  readonly query: string;
}

function TaskTable({ tasks, selected, query }: TaskTableProps): ReactNode {
  const words = useWords(tasksWords);
  const { columns: names } = words;
  const columns: readonly Column<TaskView>[] = named(names, [
    { id: 'submitted', cell: ({ submitted_at: at }) => <Time at={at} /> },
    {
      id: 'model',
      cell: ({ model }) => <span className="block max-w-64 truncate">{model}</span>,
    },
    {
      id: 'key',
      spare: 1,
      cell: ({ key_name: name }) => (
        <span className="block max-w-48 truncate text-muted">{name}</span>
      ),
    },
    { id: 'length', align: 'right', cell: ({ seconds }) => words.seconds(formatCount(seconds)) },
    { id: 'state', cell: (task) => <TaskBadge state={task.state} /> },
    { id: 'progress', align: 'right', cell: (task) => <TaskPercent task={task} /> },
    { id: 'money', align: 'right', cell: (task) => <TaskMoney task={task} /> },
    {
      id: 'expires',
      spare: 2,
      align: 'right',
      cell: ({ expires_at: at }) => <Time at={at} as="relative" />,
    },
  ]);
  return (
    <Table
      label={words.title}
      rows={tasks}
      rowKey={({ id }) => id}
      columns={columns}
      path={({ id }) => `/tasks/${id}${query && `?${query}`}`}
      {...(selected !== undefined && { selected })}
      card={(task) => ({
        title: task.model,
        value: <TaskMoney task={task} />,
        detail: (
          <>
            <TaskBadge state={task.state} />
            <span>{words.seconds(formatCount(task.seconds))}</span>
            <Time at={task.submitted_at} as="relative" />
          </>
        ),
      })}
    />
  );
}

interface TaskDrawerProps {
  readonly id: string;
  readonly among: readonly TaskView[];
  readonly onTo: (id: string | undefined) => void;
}

function TaskDrawer({ id, among, onTo }: TaskDrawerProps): ReactNode {
  const words = useWords(tasksWords);
  const { notFound } = useWords(sharedWords);
  const task = useTask(id);
  const missing = task.error instanceof ApiError && task.error.status === 404;
  return (
    <Drawer
      onClose={() => onTo(undefined)}
      title={task.data?.model ?? words.task}
      {...stepsIn(among, id, onTo)}
    >
      {missing ? (
        <EmptyState text={notFound.text} />
      ) : (
        <Loaded query={task}>{(detail) => <Detail task={detail} />}</Loaded>
      )}
    </Drawer>
  );
}

function Detail({ task }: { readonly task: TaskDetail }): ReactNode {
  const words = useWords(tasksWords);
  const { facts } = words;
  const { charge } = useWords(usageWords);
  return (
    <div className="flex flex-col gap-4">
      <TaskProgress task={task} />
      <Facts>
        <Fact name={facts.id}>
          <CopyText text={task.id} label={facts.id} />
        </Fact>
        <Fact name={facts.key}>
          <PathLink path={`/keys/${task.key_id}`}>{task.key_name}</PathLink>
        </Fact>
        <Fact name={facts.length}>{words.seconds(formatCount(task.seconds))}</Fact>
        {task.size !== null && <Fact name={facts.size}>{task.size}</Fact>}
        <Fact name={facts.submitted}>
          <Time at={task.submitted_at} />
        </Fact>
        {task.ended_at !== null && (
          <Fact name={facts.ended}>
            <Time at={task.ended_at} />
          </Fact>
        )}
        <Fact name={task.state === 'completed' ? charge.charged : words.columns.money}>
          <TaskMoney task={task} />
        </Fact>
      </Facts>
      {task.state !== 'failed' && <Lines task={task} />}
      <p className="text-caption text-muted">
        <Rich text={words.expiresAt} time={<Time at={task.expires_at} as="relative" />} />
      </p>
    </div>
  );
}

function Lines({ task }: { readonly task: TaskDetail }): ReactNode {
  const words = useWords(tasksWords);
  const { per, units } = useWords(usageWords);
  if (task.lines.length === 0) return null;
  return (
    <div className="rounded-control border border-line text-table">
      <ul className="divide-y divide-line">
        {task.lines.map((line) => (
          <li
            key={`${line.class}${line.variant}`}
            className="flex flex-wrap justify-between gap-x-3 px-3 py-1.5 figures"
          >
            <span className="text-muted">
              {units[line.price.unit](formatQuantity(line.quantity))} ×{' '}
              {priceText(line.price.amount)} {per[line.price.unit]}
            </span>
            <Money amount={line.charged} as="exact" />
          </li>
        ))}
      </ul>
      {task.state === 'completed' && (
        <p className="border-t border-line px-3 py-1.5">
          <PathLink path={`/usage/${task.id}`}>{words.seeCharge}</PathLink>
        </p>
      )}
    </div>
  );
}
