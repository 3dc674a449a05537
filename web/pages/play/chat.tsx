import { type ReactNode, useMemo, useState } from 'react';
import type { ModelRow } from '../../../src/console/contract.ts';
import { useSession } from '../../api/data.ts';
import { useMedia } from '../../browser/media.ts';
import { useSearchState } from '../../browser/search-state.ts';
import { Button } from '../../components/button.tsx';
import { Field, Select } from '../../components/field.tsx';
import { Panel } from '../../components/page.tsx';
import { Segments } from '../../components/segments.tsx';
import { formatYuan } from '../../format/money.ts';
import { mostOfTokens, tokensAtMost } from '../../format/price.ts';
import { chatSample } from '../../samples/chat.ts';
import { playgroundWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { type ChatForm, ChatSettingsFields, emptyForm, settingsOf } from './chat-settings.tsx';
import { printable } from './code-body.ts';
import { Composer, emptyDraft, type Draft } from './composer.tsx';
import { type Conversation, newTurnId, useConversation } from './conversation.ts';
import { Bench } from './layout.tsx';
import { ModelOptions, type Payer } from './payer.tsx';
import { Transcript } from './transcript.tsx';
import {
  type ChatSettings,
  type Turn,
  type UserTurn,
  chatBody,
  messagesOf,
  unanswered,
} from './turns.ts';

const searchDefaults = { beside: '' };
const noSettings: ChatSettings = {
  system: '',
  temperature: undefined,
  topP: undefined,
  maxTokens: undefined,
  tools: undefined,
};

/** Chats with one model, or with two side by side. */
export function Chat({ keyId, model, models, choices }: Payer): ReactNode {
  const words = useWords(playgroundWords);
  const [form, setForm] = useState<ChatForm>(emptyForm);
  const [draft, setDraft] = useState<Draft>(emptyDraft);
  const [{ beside }, setSearch] = useSearchState(searchDefaults);
  const wide = useMedia('(min-width: 1024px)');
  const second = wide ? models.find(({ id }) => id === beside) : undefined;
  const settings = useMemo(() => settingsOf(form), [form]);
  const panes = usePanes(model, second);
  const ask = (pane: ModelRow) => ({ keyId, model: pane.id, settings: settings ?? noSettings });
  const running = panes.some(({ talk }) => talk.running);

  const send = () => {
    if (settings === undefined || running) return;
    const turn = turnOf(draft);
    if (turn === undefined && !panes.some(({ talk }) => endsWithQuestion(talk.turns))) return;
    for (const { model: pane, talk } of panes)
      talk.run(turn === undefined ? talk.turns : [...talk.turns, turn], ask(pane));
    setDraft(emptyDraft);
  };
  const sample = useSample(panes[0], settings ?? noSettings, draft);
  return (
    <Bench
      sample={sample}
      settings={
        <>
          {choices}
          {wide && (
            <Beside
              models={models}
              chosen={second}
              onChange={(id) => setSearch({ beside: id }, { replace: true })}
            />
          )}
          <ChatSettingsFields form={form} onChange={(change) => setForm({ ...form, ...change })} />
        </>
      }
      work={
        <Panel
          flush
          className="flex h-[max(28rem,calc(100dvh-13rem))] flex-col [&>div]:flex [&>div]:min-h-0 [&>div]:flex-1 [&>div]:flex-col"
        >
          <Talks
            panes={panes}
            form={form}
            onRun={(talk, pane, turns) => talk.run(turns, ask(pane))}
          />
          <Composer
            draft={draft}
            onChange={setDraft}
            onSend={send}
            onStop={() => panes.forEach(({ talk }) => talk.stop())}
            running={running}
            seesImages={panes.every(
              ({ model: pane }) => pane.modalities?.in.includes('image') ?? true,
            )}
            disabledFor={settings === undefined ? words.chat.checkSettings : undefined}
            note={<Most panes={panes} settings={settings ?? noSettings} draft={draft} />}
          />
        </Panel>
      }
    />
  );
}

interface Pane {
  readonly model: ModelRow;
  readonly talk: Conversation;
}

/** One conversation, or two. */
function usePanes(model: ModelRow, second: ModelRow | undefined): readonly [Pane, ...Pane[]] {
  const [left, right] = [useConversation(), useConversation()];
  const first = { model, talk: left };
  return second === undefined ? [first] : [first, { model: second, talk: right }];
}

/** The typed message as a turn; undefined if it is empty. */
function turnOf({ text, images }: Draft): UserTurn | undefined {
  if (text.trim() === '' && images.length === 0) return undefined;
  return { role: 'user', id: newTurnId(), text, images };
}

/** The next request as code. */
function useSample({ model, talk }: Pane, settings: ChatSettings, draft: Draft) {
  const { base_url: baseUrl } = useSession();
  const settled = useSettled(talk.turns);
  return useMemo(() => {
    const hello = {
      role: 'user',
      id: 0,
      text: draft.text || 'Hello!',
      images: draft.images,
    } as const;
    const turns = draft.text === '' && settled.length > 0 ? settled : [...settled, hello];
    return chatSample(baseUrl, printed(model.id, settings, turns));
  }, [baseUrl, model.id, settings, draft, settled]);
}

/**
 * The turns without the one that arrives: its dependants are not rendered again with every frame.
 */
function useSettled(turns: readonly Turn[]): readonly Turn[] {
  const [kept, keep] = useState(turns);
  const now = turns.filter((turn) => turn.role !== 'assistant' || turn.state !== 'running');
  if (now.length === kept.length && now.every((turn, at) => turn === kept[at])) return kept;
  keep(now);
  return now;
}

const endsWithQuestion = (turns: readonly Turn[]): boolean =>
  ['user', 'tool'].includes(turns.at(-1)?.role ?? '');

function printed(model: string, settings: ChatSettings, turns: readonly Turn[]) {
  return printable(
    chatBody(model, settings, turns),
    turns.flatMap((turn) => (turn.role === 'user' ? turn.images : [])),
  );
}

interface BesideProps {
  readonly models: readonly ModelRow[];
  readonly chosen: ModelRow | undefined;
  readonly onChange: (id: string) => void;
}

function Beside({ models, chosen, onChange }: BesideProps): ReactNode {
  const words = useWords(playgroundWords);
  return (
    <Field label={words.secondModel}>
      {(tied) => (
        <Select
          {...tied}
          value={chosen?.id ?? ''}
          onChange={(event) => onChange(event.target.value)}
        >
          <option value="">{words.noSecond}</option>
          <ModelOptions models={models} />
        </Select>
      )}
    </Field>
  );
}

interface TalksProps {
  readonly panes: readonly Pane[];
  readonly form: ChatForm;
  readonly onRun: (talk: Conversation, model: ModelRow, turns: readonly Turn[]) => void;
}

type View = 'conversation' | 'raw';

function Talks({ panes, form, onRun }: TalksProps): ReactNode {
  const { chat, ...words } = useWords(playgroundWords);
  const [view, setView] = useState<View>('conversation');
  const empty = panes.every(({ talk }) => talk.turns.length === 0);
  return (
    <>
      <header className="flex flex-wrap items-center gap-2 border-b border-line px-3 py-2">
        <Segments
          label={chat.view}
          value={view}
          onChange={setView}
          options={[
            ['conversation', chat.conversation],
            ['raw', chat.raw],
          ]}
        />
        <span className="mr-auto text-caption text-muted max-xl:sr-only">{words.notSaved}</span>
        {!empty && (
          <>
            <Button size="small" look="ghost" icon="download" onClick={() => save(panes, form)}>
              {chat.export}
            </Button>
            <Button
              size="small"
              look="ghost"
              icon="plus"
              onClick={() => panes.forEach(({ talk }) => clear(talk))}
            >
              {chat.clear}
            </Button>
          </>
        )}
      </header>
      <div className="flex min-h-0 flex-1 divide-x divide-line">
        {panes.map(({ model, talk }, at) => (
          <div key={at} className="flex min-w-0 flex-1 flex-col">
            {view === 'raw' ? (
              <Raw talk={talk} />
            ) : (
              <Talk talk={talk} model={model} onRun={(turns) => onRun(talk, model, turns)} />
            )}
          </div>
        ))}
      </div>
    </>
  );
}

function clear(talk: Conversation): void {
  talk.stop();
  talk.set([]);
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

interface MostProps {
  readonly panes: readonly Pane[];
  readonly settings: ChatSettings;
  readonly draft: Draft;
}

/** An upper bound: the most tokens that a vendor makes of one image (high detail). */
const tokensOfImage = 6500;

/** The highest cost of the next answer, all models together. */
function Most({ panes, settings, draft }: MostProps): ReactNode {
  const words = useWords(playgroundWords);
  const parts = panes.map(({ model, talk }) => mostOf(model, talk.turns, settings, draft));
  if (parts.some((part) => part === undefined)) return words.byTokens;
  const total = parts.reduce<bigint>((sum, part) => sum + (part ?? 0n), 0n);
  return <span data-tip={words.atMostHelp}>{words.atMost(formatYuan(total, 'spend'))}</span>;
}

function mostOf(
  model: ModelRow,
  before: readonly Turn[],
  settings: ChatSettings,
  draft: Draft,
): bigint | undefined {
  const turns = [...before, { role: 'user', id: 0, text: draft.text, images: [] } as const];
  const images = before.reduce(
    (sum, turn) => sum + (turn.role === 'user' ? turn.images.length : 0),
    draft.images.length,
  );
  const text = JSON.stringify([
    messagesOf(settings.system, turns.map(withoutImages)),
    settings.tools ?? [],
  ]);
  const output = settings.maxTokens ?? model.output_tokens_max;
  return output === null
    ? undefined
    : mostOfTokens(model.prices, tokensAtMost(text) + images * tokensOfImage, output);
}

const withoutImages = (turn: Turn): Turn => (turn.role === 'user' ? { ...turn, images: [] } : turn);

/** The conversation as a file. */
function save(panes: readonly Pane[], { system, ...form }: ChatForm): void {
  const conversations = panes.map(({ model, talk }) => ({
    model: model.id,
    settings: form,
    messages: messagesOf(system, talk.turns),
  }));
  const blob = new Blob(
    [JSON.stringify(conversations.length === 1 ? conversations[0] : conversations, undefined, 2)],
    {
      type: 'application/json',
    },
  );
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = 'conversation.json';
  link.click();
  URL.revokeObjectURL(link.href);
}
