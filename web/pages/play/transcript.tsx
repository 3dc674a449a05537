import { clsx } from 'clsx';
import { type ReactNode, memo, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Button, IconButton } from '../../components/button.tsx';
import { Textarea } from '../../components/field.tsx';
import { Icon } from '../../components/icon.tsx';
import { Badge } from '../../components/status-badge.tsx';
import { formatCount } from '../../format/count.ts';
import { playgroundWords, sharedWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { ChargeLine, Refused } from './charge.tsx';
import { FileView } from './composer.tsx';
import { Prose } from './prose.tsx';
import { ToolCard } from './tool-card.tsx';
import type { AnswerTurn, ToolTurn, Turn, UserTurn } from './turns.ts';

interface TranscriptProps {
  readonly turns: readonly Turn[];
  readonly running: boolean;
  /** Replaces the text of a turn; the turns after it are dropped, and the model answers again. */
  readonly onEdit: (turn: UserTurn, text: string) => void;
  readonly onAgain: (turn: AnswerTurn) => void;
  readonly onRemove: (turn: Turn) => void;
  readonly onResult: (callId: string, text: string) => void;
  readonly label: string;
}

const nearPx = 48;

/** The turns of a conversation. Scrolls along with the answer until the user scrolls up. */
export function Transcript({
  turns,
  running,
  onEdit,
  onAgain,
  onRemove,
  onResult,
  label,
}: TranscriptProps): ReactNode {
  const words = useWords(playgroundWords);
  const box = useRef<HTMLDivElement>(null);
  const [following, setFollowing] = useState(true);
  useLayoutEffect(() => {
    if (following && box.current) box.current.scrollTop = box.current.scrollHeight;
  });
  const given = new Map(
    turns.flatMap((turn) => (turn.role === 'tool' ? [[turn.callId, turn] as const] : [])),
  );
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={box}
        role="log"
        aria-label={label}
        aria-live="off"
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) =>
          setFollowing(scrollHeight - scrollTop - clientHeight < nearPx)
        }
        className="flex h-full flex-col gap-4 overflow-y-auto p-4"
      >
        {turns.length === 0 && <p className="m-auto text-center text-muted">{words.chat.empty}</p>}
        {turns.map((turn) =>
          turn.role === 'user' ? (
            <TurnView
              key={turn.id}
              turn={turn}
              running={running}
              onEdit={onEdit}
              onRemove={onRemove}
            />
          ) : turn.role === 'assistant' ? (
            <Answer
              key={turn.id}
              turn={turn}
              running={running}
              given={given}
              onAgain={onAgain}
              onRemove={onRemove}
              onResult={onResult}
            />
          ) : null,
        )}
      </div>
      {!following && (
        <Button
          size="small"
          icon="down"
          className="absolute! bottom-3 left-1/2 -translate-x-1/2 shadow-overlay"
          onClick={() => setFollowing(true)}
        >
          {words.chat.jump}
        </Button>
      )}
    </div>
  );
}

interface TurnViewProps extends Pick<TranscriptProps, 'running' | 'onEdit' | 'onRemove'> {
  readonly turn: UserTurn;
}

const TurnView = memo(function TurnView({
  turn,
  running,
  onEdit,
  onRemove,
}: TurnViewProps): ReactNode {
  const { chat } = useWords(playgroundWords);
  const [editing, setEditing] = useState<string>();
  if (editing !== undefined) {
    return (
      <div className="flex flex-col gap-2">
        <Textarea
          autoFocus
          aria-label={chat.message}
          value={editing}
          onChange={(event) => setEditing(event.target.value)}
        />
        <div className="flex justify-end gap-2">
          <EditButtons
            onCancel={() => setEditing(undefined)}
            onSave={() => {
              setEditing(undefined);
              onEdit(turn, editing);
            }}
          />
        </div>
      </div>
    );
  }
  return (
    <div role="group" aria-label={chat.you} className="group flex flex-col items-end gap-1">
      <div className="max-w-[85%] rounded-card bg-accent-soft px-3 py-2">
        <SentFiles turn={turn} />
        <p dir="auto" className="break-words whitespace-pre-wrap">
          {turn.text}
        </p>
      </div>
      {!running && (
        <div className="-mr-1.5 flex">
          <IconButton
            icon="edit"
            size="small"
            label={chat.edit}
            onClick={() => setEditing(turn.text)}
          />
          <IconButton
            icon="trash"
            size="small"
            label={chat.removeTurn}
            onClick={() => onRemove(turn)}
          />
        </div>
      )}
    </div>
  );
});

function EditButtons({
  onCancel,
  onSave,
}: {
  readonly onCancel: () => void;
  readonly onSave: () => void;
}): ReactNode {
  const { chat } = useWords(playgroundWords);
  const { actions } = useWords(sharedWords);
  return (
    <>
      <Button onClick={onCancel}>{actions.cancel}</Button>
      <Button look="primary" icon="play" onClick={onSave}>
        {chat.save}
      </Button>
    </>
  );
}

function SentFiles({ turn: { files } }: { readonly turn: UserTurn }): ReactNode {
  if (files.length === 0) return null;
  return (
    <ul className="flex flex-wrap gap-2 pb-1">
      {files.map((file) => (
        <li key={file.url} className="max-w-full">
          <FileView file={file} />
        </li>
      ))}
    </ul>
  );
}

interface AnswerProps
  extends Pick<TranscriptProps, 'running' | 'onAgain' | 'onRemove' | 'onResult'> {
  readonly turn: AnswerTurn;
  readonly given: ReadonlyMap<string, ToolTurn>;
}

const Answer = memo(function Answer({
  turn,
  running,
  given,
  onAgain,
  onRemove,
  onResult,
}: AnswerProps): ReactNode {
  const { chat } = useWords(playgroundWords);
  const waiting =
    turn.state === 'running' &&
    turn.text === '' &&
    turn.reasoning === '' &&
    turn.calls.length === 0;
  return (
    <div
      role="group"
      aria-label={turn.model}
      className="flex min-w-0 flex-col gap-2"
      data-state={turn.state}
    >
      <header className="flex items-center gap-2 text-caption text-muted">
        <span className="truncate font-mono">{turn.model}</span>
        {turn.state === 'stopped' && <Badge icon="stop">{chat.stopped}</Badge>}
      </header>
      {waiting && <p className="text-muted late">{chat.waiting}</p>}
      {turn.reasoning !== '' && <Reasoning turn={turn} />}
      {turn.text !== '' && <Prose text={turn.text} />}
      {turn.calls.map((call, index) => (
        <ToolCard
          key={call.id || index}
          call={call}
          result={given.get(call.id)?.text}
          canAnswer={!running}
          onResult={(text) => onResult(call.id, text)}
        />
      ))}
      <Ending turn={turn} />
      {turn.error !== undefined && <Refused error={turn.error} />}
      <div className="flex flex-wrap items-center gap-x-2">
        {turn.state !== 'running' && (
          <ChargeLine charge={turn.charge} firstByteMs={turn.firstByteMs} />
        )}
        {!running && (
          <span className="-ml-1.5 flex">
            <IconButton
              icon="refresh"
              size="small"
              label={chat.again}
              onClick={() => onAgain(turn)}
            />
            <IconButton
              icon="trash"
              size="small"
              label={chat.removeTurn}
              onClick={() => onRemove(turn)}
            />
          </span>
        )}
      </div>
    </div>
  );
});

/** Folded once there is an answer. */
function Reasoning({
  turn: { reasoning, text, charge },
}: {
  readonly turn: AnswerTurn;
}): ReactNode {
  const { chat } = useWords(playgroundWords);
  const folder = useRef<HTMLDetailsElement>(null);
  const thinking = text === '';
  useEffect(() => {
    if (folder.current) folder.current.open = thinking;
  }, [thinking]);
  const count = typeof charge === 'object' ? (charge.tokens?.reasoning ?? 0) : 0;
  return (
    <details ref={folder} className="rounded-control border border-line bg-sunken">
      <summary className="px-3 py-1.5 text-caption font-medium text-muted">
        {count > 0 ? chat.reasoningTokens(formatCount(count)) : chat.reasoning}
      </summary>
      <p className="px-3 pb-2 text-table break-words whitespace-pre-wrap text-muted">{reasoning}</p>
    </details>
  );
}

/** Why the answer ended, where the model did not end it itself. */
function Ending({ turn: { finish, charge, state } }: { readonly turn: AnswerTurn }): ReactNode {
  const { chat } = useWords(playgroundWords);
  const status = typeof charge === 'object' ? charge.status : undefined;
  const poor = status === 'length';
  const text = poor
    ? chat.lengthBalance
    : status === 'cut'
      ? chat.brokeOff
      : finish === 'length'
        ? chat.lengthMax
        : finish === 'content_filter'
          ? chat.filtered
          : undefined;
  if (text === undefined || state === 'running') return null;
  return (
    <p className={clsx('flex items-center gap-1 text-caption', poor ? 'text-bad' : 'text-warn')}>
      <Icon name="warning" />
      {text}
    </p>
  );
}
