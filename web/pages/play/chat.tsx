import { type ReactNode, useMemo, useState } from 'react';
import { useSession } from '../../api/data.ts';
import { Panel } from '../../components/page.tsx';
import { chatSample } from '../../samples/chat.ts';
import { playgroundWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { Most } from './chat-cost.tsx';
import { type ChatForm, emptyForm, settingsOf } from './chat-form.ts';
import { ChatSettingsFields } from './chat-settings.tsx';
import { Talks } from './chat-talks.tsx';
import { printable } from './code-body.ts';
import { Composer, emptyDraft, type Draft } from './composer.tsx';
import { newTurnId } from './conversation.ts';
import { usePoor } from './cost-before.tsx';
import { fileKinds } from './files.ts';
import { Bench } from './layout.tsx';
import { type Pane, rememberPanes, usePanes } from './panes.ts';
import type { Payer } from './payer.tsx';
import { type ChatSettings, type Turn, type UserTurn, chatBody, sentTurns } from './turns.ts';

const noSettings: ChatSettings = {
  system: '',
  numbers: {},
  effort: undefined,
  tools: undefined,
};

/** Chats with one model, or with up to four side by side. */
export function Chat(payer: Payer): ReactNode {
  const { keyId, group, models, keyField } = payer;
  const words = useWords(playgroundWords);
  const [form, setForm] = useState<ChatForm>(emptyForm);
  const [draft, setDraft] = useState<Draft>(emptyDraft);
  const panes = usePanes(payer);
  const asked = useAsked(panes.all);
  const settings = useMemo(() => settingsOf(form, asked), [form, asked]);
  const poor = usePoor();
  const running = panes.all.some(({ talk }) => talk.running);
  const run = ({ model, talk }: Pane, turns: readonly Turn[]) =>
    talk.run(turns, { keyId, model: model.id, settings: settings ?? noSettings });

  const send = () => {
    if (settings === undefined || running) return;
    const turn = turnOf(draft);
    if (turn === undefined && !panes.all.some(({ talk }) => endsWithQuestion(talk.turns))) return;
    rememberPanes(panes.all);
    for (const pane of panes.all) {
      const { turns } = pane.talk;
      run(pane, turn === undefined ? turns : [...turns, turn]);
    }
    setDraft(emptyDraft);
  };
  return (
    <Bench
      sample={useSample(panes.all[0], settings ?? noSettings, draft)}
      settings={
        <>
          {keyField}
          <ChatSettingsFields
            form={form}
            limits={asked}
            onChange={(change) => setForm({ ...form, ...change })}
          />
        </>
      }
      work={
        <Panel
          flush
          className="flex h-[calc(100dvh-15.5rem)] min-h-84 flex-col md:h-[max(28rem,calc(100dvh-13rem))] [&>div]:flex [&>div]:min-h-0 [&>div]:flex-1 [&>div]:flex-col"
        >
          <Talks
            panes={panes}
            models={models}
            group={group}
            form={form}
            running={running}
            onRun={run}
          />
          <Composer
            draft={draft}
            onChange={setDraft}
            onSend={send}
            onStop={() => panes.all.forEach(({ talk }) => talk.stop())}
            running={running}
            takes={asked.takes}
            disabledFor={settings === undefined ? words.chat.checkSettings : poor}
            note={<Most panes={panes.all} settings={settings ?? noSettings} draft={draft} />}
          />
        </Panel>
      }
    />
  );
}

/** What all of these models can do. */
function useAsked(panes: readonly Pane[]) {
  const names = panes.map(({ model }) => model.id).join('\n');
  return useMemo(() => {
    const asked = panes.map(({ model }) => model);
    const most = asked.flatMap(({ output_tokens_max: each }) => each ?? []);
    return {
      output_tokens_max: most.length === 0 ? null : Math.min(...most),
      reasoning: asked.some(({ reasoning }) => reasoning),
      // A model that names no modalities is not refused an image: its vendor knows.
      takes: fileKinds.filter((kind) =>
        asked.every(({ modalities }) => modalities?.in.includes(kind) ?? kind === 'image'),
      ),
    };
    // The models are known by their names.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [names]);
}

/** The typed message as a turn; undefined if it is empty. */
function turnOf({ text, files }: Draft): UserTurn | undefined {
  if (text.trim() === '' && files.length === 0) return undefined;
  return { role: 'user', id: newTurnId(), text, files };
}

/** The request that was sent last as code; before the first, the request that is being written. */
function useSample({ model, talk }: Pane, settings: ChatSettings, draft: Draft) {
  const { base_url: baseUrl } = useSession();
  const sent = useSent(talk.turns);
  return useMemo(() => {
    const hello = {
      role: 'user',
      id: 0,
      text: draft.text || 'Hello!',
      files: draft.files,
    } as const;
    return chatSample(baseUrl, printed(model.id, settings, sent.length > 0 ? sent : [hello]));
  }, [baseUrl, model.id, settings, draft, sent]);
}

/**
 * The turns that the last answer answers; none before the first request. They stay the same list
 * while the answer arrives: its dependants are not rendered again with every frame.
 */
function useSent(turns: readonly Turn[]): readonly Turn[] {
  const now = sentTurns(turns);
  const [kept, keep] = useState(now);
  if (now.length === kept.length && now.every((turn, at) => turn === kept[at])) return kept;
  keep(now);
  return now;
}

const endsWithQuestion = (turns: readonly Turn[]): boolean =>
  ['user', 'tool'].includes(turns.at(-1)?.role ?? '');

function printed(model: string, settings: ChatSettings, turns: readonly Turn[]) {
  return printable(
    chatBody(model, settings, turns),
    turns.flatMap((turn) => (turn.role === 'user' ? turn.files : [])),
  );
}
