import { clsx } from 'clsx';
import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import type {
  ChannelTestBody,
  ChannelTestEvents,
  ChannelView,
  UnsavedTestBody,
} from '../../../src/console/contract.ts';
import { sendForEvents } from '../../api/server-events.ts';
import { Banner } from '../../components/banner.tsx';
import { FormProblem } from '../../components/form.tsx';
import { Button } from '../../components/button.tsx';
import { MaybeDisabled } from '../../components/maybe-disabled.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Foot } from '../../components/dialog-foot.tsx';
import { Fact, Facts } from '../../components/facts.tsx';
import { Choice, ChoiceField } from '../../components/choice.tsx';
import { Field, Textarea } from '../../components/field.tsx';
import { Icon } from '../../components/icon.tsx';
import { Money } from '../../components/money.tsx';
import { formatCount } from '../../format/count.ts';
import { formatDuration } from '../../format/time.ts';
import { channelWords, modelsWords, operatorWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { channelAddress } from './channel-parts.tsx';
import { testable } from './channel-test-plan.ts';

const stages = ['resolve', 'connect', 'first_byte', 'done'] as const;
type Done = ChannelTestEvents['done'];

interface Course {
  readonly running: boolean;
  readonly reached: readonly ChannelTestEvents['stage'][];
  readonly done: Done | undefined;
  readonly error: Error | null;
}

const fresh: Course = { running: false, reached: [], done: undefined, error: null };

/** Sends one small request to the vendor and shows it stage by stage; no user pays. */
export function ChannelTest({
  channel,
  onClose,
}: {
  readonly channel: ChannelView;
  readonly onClose: () => void;
}): ReactNode {
  const { test: words } = useWords(channelWords);
  const able = testable.filter((capability) =>
    channel.models.some((model) => model.priced && model.capabilities.includes(capability)),
  );
  return (
    <Dialog onClose={onClose} title={words.title(channel.name)}>
      {able.length === 0 ? (
        <Banner tone="accent">{words.none}</Banner>
      ) : (
        <TestForm channel={channel} able={able} />
      )}
    </Dialog>
  );
}

interface TestFormProps {
  readonly channel: ChannelView;
  readonly able: readonly (typeof testable)[number][];
}

function TestForm({ channel, able }: TestFormProps): ReactNode {
  const { test: words, capabilities } = useWords(channelWords);
  const [capability, setCapability] = useState(able[0] ?? 'chat');
  const models = channel.models.filter(
    (model) => model.priced && model.capabilities.includes(capability),
  );
  const [chosen, setModel] = useState('');
  const model = models.some(({ id }) => id === chosen) ? chosen : (models[0]?.id ?? '');
  const [prompt, setPrompt] = useState(words.promptText);
  const { course, run, stop } = useTest(`${channelAddress(channel.name)}/test`);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void run({ capability, model, ...(prompt.trim() !== '' && { prompt: prompt.trim() }) });
  };
  const id = useId();
  return (
    <form id={id} onSubmit={submit} className="flex flex-col gap-4">
      <p className="text-table text-muted">{words.cost}</p>
      <div className="grid gap-4 sm:grid-cols-2">
        <ChoiceField
          label={words.capability}
          value={capability}
          options={able.map((each) => [each, capabilities[each]] as const)}
          onChange={setCapability}
        />
        <ChoiceField
          label={words.model}
          value={model}
          options={models.map(({ id }) => [id, id] as const)}
          onChange={setModel}
        />
      </div>
      <Field label={words.prompt}>
        {(tied) => (
          <Textarea
            {...tied}
            rows={2}
            maxLength={2000}
            value={prompt}
            onChange={({ target }) => setPrompt(target.value)}
          />
        )}
      </Field>
      <FormProblem error={course.error} />
      <Stages course={course} />
      {course.done && <Outcome done={course.done} />}
      <Foot>
        {course.running && <Button onClick={stop}>{words.stop}</Button>}
        <Button look="primary" type="submit" form={id} busy={course.running}>
          {course.done === undefined ? words.run : words.again}
        </Button>
      </Foot>
    </form>
  );
}

interface UnsavedProps {
  /** Undefined: no vendor is chosen yet. */
  readonly draft: Pick<UnsavedTestBody, 'vendor' | 'base_url' | 'secret'> | undefined;
  readonly models: readonly { readonly id: string; readonly upstream?: string }[];
}

/** Tests a channel before it is saved, within its form. */
export function UnsavedTest({ draft, models }: UnsavedProps): ReactNode {
  const { test: words, capabilities } = useWords(channelWords);
  const [capability, setCapability] = useState<(typeof testable)[number]>('chat');
  const { course, run, stop } = useTest('operator/channel-test');
  const [model] = models;
  const missing = draft === undefined || model === undefined ? words.needsModel : undefined;
  const start = () => {
    if (draft === undefined || model === undefined) return;
    const { id, upstream = id } = model;
    const asked: UnsavedTestBody = { ...draft, capability, model: id, upstream };
    void run(asked);
  };
  return (
    <section className="flex flex-col gap-3 rounded-control border border-line p-3">
      <div className="flex flex-wrap items-center gap-2">
        <p className="min-w-40 flex-1 text-table">
          {model === undefined ? words.untested : words.tests(model.id)}
        </p>
        <Choice
          label={words.capability}
          className="w-auto"
          value={capability}
          options={testable.map((each) => [each, capabilities[each]])}
          onChange={(chosen) => setCapability(testable.find((each) => each === chosen) ?? 'chat')}
        />
        {course.running ? (
          <Button onClick={stop}>{words.stop}</Button>
        ) : (
          <MaybeDisabled disabledFor={missing} onClick={start}>
            {course.done === undefined ? words.run : words.again}
          </MaybeDisabled>
        )}
      </div>
      <FormProblem error={course.error} />
      <Stages course={course} />
      {course.done && <Outcome done={course.done} />}
    </section>
  );
}

function useTest(address: string) {
  const [course, setCourse] = useState(fresh);
  const going = useRef<AbortController>(undefined);
  useEffect(() => () => going.current?.abort(), []);
  const run = async (body: ChannelTestBody): Promise<void> => {
    going.current?.abort();
    const { signal } = (going.current = new AbortController());
    setCourse({ ...fresh, running: true });
    let error: Error | null = null;
    try {
      await sendForEvents<ChannelTestEvents>(
        address,
        { body, signal },
        {
          stage: (stage) => setCourse((old) => ({ ...old, reached: [...old.reached, stage] })),
          done: (done) => setCourse((old) => ({ ...old, done })),
        },
      );
    } catch (thrown) {
      if (!signal.aborted) error = thrown instanceof Error ? thrown : new Error(String(thrown));
    }
    setCourse((old) => ({ ...old, running: false, error }));
  };
  return { course, run, stop: () => going.current?.abort() };
}

function Stages({ course: { running, reached, done } }: { readonly course: Course }): ReactNode {
  const { test: words } = useWords(channelWords);
  if (!running && reached.length === 0 && done === undefined) return null;
  const next = stages.find((stage) => !reached.some((each) => each.stage === stage));
  return (
    <ol className="grid grid-cols-2 gap-2 sm:grid-cols-4" aria-live="polite">
      {stages.map((stage) => {
        const at = reached.find((each) => each.stage === stage);
        const failed = done !== undefined && !done.ok && stage === (next ?? 'done');
        const current = running && stage === next;
        const icon = failed ? 'failed' : at === undefined ? 'clock' : 'check';
        return (
          <li
            key={stage}
            className={clsx(
              'rounded-control border p-2 text-table',
              current ? 'border-accent' : 'border-line',
            )}
          >
            <span className="flex items-center gap-1">
              <Icon
                name={icon}
                className={failed ? 'text-bad' : at === undefined ? 'text-muted' : 'text-good'}
              />
              {words.stages[stage]}
            </span>
            <span className="text-caption text-muted figures">
              {at === undefined
                ? current
                  ? words.waiting
                  : '—'
                : words.stageAfter(formatDuration(at.ms))}
            </span>
          </li>
        );
      })}
    </ol>
  );
}

/** What comes below the window's edge is scrolled to. */
const showOutcome = (outcome: HTMLElement | null): void =>
  outcome?.scrollIntoView({ block: 'nearest' });

const inTokens = new Set(['input', 'output']);

function Outcome({ done }: { readonly done: Done }): ReactNode {
  const { test: words } = useWords(channelWords);
  const { classes } = useWords(modelsWords);
  const { comma } = useWords(operatorWords);
  const known: Readonly<Record<string, string>> = classes;
  const usage = Object.entries(done.usage ?? {}).map(
    ([name, amount]) =>
      `${known[name] ?? name} ${inTokens.has(name) ? words.tokens(formatCount(amount)) : formatCount(amount)}`,
  );
  return (
    <div ref={showOutcome} className="flex flex-col gap-3" role="status">
      <Banner tone={done.ok ? 'good' : 'bad'}>{done.ok ? words.ok : words.failed}</Banner>
      <Facts>
        <Fact name={words.status}>{done.status ?? '—'}</Fact>
        <Fact name={words.usage}>{usage.length === 0 ? '—' : usage.join(comma)}</Fact>
        <Fact name={words.estimated}>
          {done.estimated_cost === null ? (
            words.noCost
          ) : (
            <Money amount={done.estimated_cost} as="exact" />
          )}
        </Fact>
      </Facts>
      {done.answer !== null && <VendorText title={words.answer} text={done.answer} />}
      {done.said !== null && <VendorText title={words.said} text={done.said} />}
    </div>
  );
}

function VendorText({ title, text }: { readonly title: string; readonly text: string }): ReactNode {
  return (
    <section>
      <h3 className="mb-1 text-table font-medium">{title}</h3>
      <pre
        tabIndex={0}
        className="max-h-40 overflow-auto rounded-control bg-sunken p-2 font-mono text-caption whitespace-pre-wrap wrap-anywhere"
      >
        {text}
      </pre>
    </section>
  );
}
