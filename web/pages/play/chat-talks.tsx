import { clsx } from 'clsx';
import { type ReactNode, useState } from 'react';
import type { ModelRow } from '../../../src/console/contract.ts';
import { saveJson } from '../../browser/save.ts';
import { Button, IconButton, linkLook } from '../../components/button.tsx';
import { Icon } from '../../components/icon.tsx';
import { ApartLink } from '../apart-link.tsx';
import { Segments } from '../../components/segments.tsx';
import { playgroundWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { modelPath } from '../model-parts.tsx';
import type { ChatForm } from './chat-form.ts';
import { type Conversation, newTurnId } from './conversation.ts';
import { ModelPicker } from './model-picker.tsx';
import type { Pane, Panes } from './panes.ts';
import { Transcript } from './transcript.tsx';
import { type Turn, messagesOf, unanswered } from './turns.ts';

interface TalksProps {
  readonly panes: Panes;
  readonly models: readonly ModelRow[];
  readonly group: string;
  readonly form: ChatForm;
  readonly running: boolean;
  readonly onRun: (pane: Pane, turns: readonly Turn[]) => void;
}

type View = 'conversation' | 'raw';

/** The conversations side by side, each under its model. */
export function Talks({ panes, form, running, onRun, ...rest }: TalksProps): ReactNode {
  const [view, setView] = useState<View>('conversation');
  return (
    <>
      <Bar panes={panes} form={form} view={view} onView={setView} />
      <div className="flex min-h-0 flex-1 snap-x divide-x divide-line overflow-x-auto">
        {panes.all.map((pane, at) => (
          <div key={at} className="flex min-w-[88%] sm:min-w-52 flex-1 snap-start flex-col">
            <PaneHead
              {...rest}
              pane={pane}
              at={at}
              onChange={(id) => panes.change(at, id)}
              onRemove={panes.all.length === 1 || running ? undefined : () => panes.remove(at)}
            />
            {view === 'raw' ? (
              <Raw talk={pane.talk} />
            ) : (
              <Talk {...pane} onRun={(turns) => onRun(pane, turns)} />
            )}
          </div>
        ))}
      </div>
    </>
  );
}

interface BarProps extends Pick<TalksProps, 'panes' | 'form'> {
  readonly view: View;
  readonly onView: (view: View) => void;
}

function Bar({ panes, form, view, onView }: BarProps): ReactNode {
  const { chat, ...words } = useWords(playgroundWords);
  const empty = panes.all.every(({ talk }) => talk.turns.length === 0);
  return (
    <header className="@container flex flex-wrap items-center gap-x-2 gap-y-1 border-b border-line px-3 py-1.5 max-sm:gap-x-0">
      <span className="shrink-0 @max-2xl:mr-auto">
        <Segments
          label={chat.view}
          value={view}
          onChange={onView}
          options={[
            ['conversation', chat.conversation],
            ['raw', chat.raw],
          ]}
        />
      </span>
      <span className="flex-1 basis-0 text-caption text-muted @max-2xl:order-last @max-2xl:basis-full">
        {words.notSaved}
      </span>
      {panes.add !== undefined && (
        <Button
          size="small"
          look="ghost"
          icon="plus"
          aria-label={words.addModel}
          onClick={panes.add}
        >
          <span className="max-sm:hidden">{words.addModel}</span>
        </Button>
      )}
      {/* They have their room before the first message: nothing moves when it is sent. */}
      <span className={clsx('flex shrink-0 gap-x-2 max-sm:gap-x-0', empty && 'invisible')}>
        <IconButton
          size="small"
          icon="download"
          label={chat.export}
          onClick={() => save(panes.all, form)}
        />
        <IconButton
          size="small"
          icon="trash"
          label={chat.clear}
          onClick={() => panes.all.forEach(({ talk }) => clear(talk))}
        />
      </span>
    </header>
  );
}

interface PaneHeadProps extends Pick<TalksProps, 'models' | 'group'> {
  readonly pane: Pane;
  readonly at: number;
  readonly onChange: (id: string) => void;
  readonly onRemove: (() => void) | undefined;
}

function PaneHead({ pane, at, models, group, onChange, onRemove }: PaneHeadProps): ReactNode {
  const words = useWords(playgroundWords);
  const { model } = pane;
  return (
    <div className="flex items-center gap-1 border-b border-line px-3 py-1.5">
      <ModelPicker
        label={at === 0 ? words.model : words.modelAt(at + 1)}
        models={models}
        chosen={model}
        onChange={onChange}
      />
      <ApartLink
        path={modelPath(model.id, group)}
        aria-label={words.aboutModel}
        data-tip={words.aboutModel}
        className={`${linkLook} inline-flex h-7 items-center px-1 touch:h-11 touch:px-2`}
      >
        <Icon name="info" />
      </ApartLink>
      {onRemove && (
        <IconButton
          size="small"
          icon="close"
          label={words.removeModel(model.id)}
          onClick={onRemove}
        />
      )}
    </div>
  );
}

interface TalkProps {
  readonly talk: Conversation;
  readonly model: ModelRow;
  readonly onRun: (turns: readonly Turn[]) => void;
}

function Talk({ talk, model, onRun }: TalkProps): ReactNode {
  const { turns } = talk;
  const before = (turn: Turn) => turns.slice(0, turns.indexOf(turn));
  return (
    <Transcript
      label={model.id}
      turns={turns}
      running={talk.running}
      onEdit={(turn, text) => onRun([...before(turn), { ...turn, text }])}
      onAgain={(turn) => onRun(before(turn))}
      onRemove={(turn) => talk.set(turns.filter((each) => each !== turn))}
      onResult={(callId, text) => {
        const answered = [...turns, { role: 'tool', id: newTurnId(), callId, text } as const];
        if (unanswered(answered).length > 0) talk.set(answered);
        else onRun(answered);
      }}
    />
  );
}

function Raw({ talk: { turns } }: { readonly talk: Conversation }): ReactNode {
  const { chat } = useWords(playgroundWords);
  const last = turns.findLast((turn) => turn.role === 'assistant');
  const raw = last?.role === 'assistant' ? last.raw : [];
  return (
    <pre
      tabIndex={0}
      aria-label={chat.raw}
      className="min-h-0 flex-1 overflow-auto p-4 font-mono text-caption break-all whitespace-pre-wrap"
    >
      {raw.length === 0 ? (
        <span className="font-sans text-muted">{chat.rawEmpty}</span>
      ) : (
        raw.join('\n')
      )}
    </pre>
  );
}

function clear(talk: Conversation): void {
  talk.stop();
  talk.set([]);
}

/** The conversation as a file. */
function save(panes: readonly Pane[], { system, ...form }: ChatForm): void {
  const conversations = panes.map(({ model, talk }) => ({
    model: model.id,
    settings: form,
    messages: messagesOf(system, talk.turns),
  }));
  saveJson('conversation.json', conversations.length === 1 ? conversations[0] : conversations);
}
