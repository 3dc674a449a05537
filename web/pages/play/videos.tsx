import { type ReactNode, useCallback, useState } from 'react';
import type { ModelDetail, UnitPrice } from '../../../src/console/contract.ts';
import { ApiError, send } from '../../api/client.ts';
import { refreshMoney, useData, useSession } from '../../api/data.ts';
import { useEvent } from '../../api/events.ts';
import { useOnce } from '../../api/once.ts';
import { useSearchState } from '../../browser/search-state.ts';
import { MaybeDisabled } from '../../components/maybe-disabled.tsx';
import { ChoiceField } from '../../components/choice.tsx';
import { Field, Textarea } from '../../components/field.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Panel } from '../../components/page.tsx';
import { PathLink } from '../../components/path-link.tsx';
import { formatYuan } from '../../format/money.ts';
import { videoCost } from '../../format/price.ts';
import { videoSample } from '../../samples/video.ts';
import { playgroundWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { modelAddress } from '../model-parts.tsx';
import { TaskMoney, TaskProgress, isRunning, useTask } from '../task-parts.tsx';
import { Refused } from './charge.tsx';
import { printable } from './code-body.ts';
import { CostBefore, usePoor } from './cost-before.tsx';
import { Bench } from './layout.tsx';
import type { Payer } from './payer.tsx';
import { ImagePicker } from './image-picker.tsx';
import { RadioCards } from './radio-cards.tsx';
import type { SentFile } from './turns.ts';

/** The choice for models without durations in the catalog. */
const usualDurations = [5, 10, 15, 20] as const;
/** The id of the task is in the address: a reload finds it again. */
const searchDefaults = { task: '' };

export function Videos(payer: Payer): ReactNode {
  const detail = useData<ModelDetail>(modelAddress(payer.model.id));
  return (
    <Loaded query={detail}>{(model) => <Studio key={model.id} {...payer} detail={model} />}</Loaded>
  );
}

function Studio({
  keyId,
  model,
  choices,
  detail,
}: Payer & { readonly detail: ModelDetail }): ReactNode {
  const { video: words, covered } = useWords(playgroundWords);
  const { base_url: baseUrl } = useSession();
  const durations = detail.durations ?? usualDurations;
  const [{ task }] = useSearchState(searchDefaults);
  const [seconds, setSeconds] = useState(durations.includes(5) ? 5 : (durations[0] ?? 5));
  const [resolution, setResolution] = useState('');
  const [prompt, setPrompt] = useState('');
  const [start, setStart] = useState<SentFile>();
  const priceOf = (length: number) => videoCost(model.prices, length, resolution || undefined);
  const takesImage = detail.modalities?.in.includes('image') ?? false;
  const body = {
    model: model.id,
    prompt: prompt || words.promptPlaceholder,
    duration: seconds,
    ...(resolution !== '' && { resolution }),
    ...(start && takesImage && { image: start.url }),
    async: true,
  };
  return (
    <Bench
      sample={videoSample(baseUrl, printable(body, start ? [start] : []))}
      settings={
        <>
          {choices}
          <Durations all={durations} value={seconds} priceOf={priceOf} onChange={setSeconds} />
          <Resolutions prices={model.prices} value={resolution} onChange={setResolution} />
          {takesImage && (
            <ImagePicker
              label={words.start}
              choose={words.choose}
              image={start}
              onChange={setStart}
            />
          )}
        </>
      }
      work={
        <div className="flex flex-col gap-4">
          <Panel>
            <Order
              keyId={keyId}
              body={body}
              prompt={prompt}
              onPrompt={setPrompt}
              cost={priceOf(seconds)}
              covered={(available) => {
                const paid = durations.filter((each) => (priceOf(each) ?? available) <= available);
                return paid.length === 0 ? undefined : covered.seconds(String(Math.max(...paid)));
              }}
            />
          </Panel>
          <Panel>
            {task === '' ? (
              <p className="py-10 text-center text-muted">{words.empty}</p>
            ) : (
              <Result key={task} id={task} />
            )}
          </Panel>
        </div>
      }
    />
  );
}

interface OrderProps {
  readonly keyId: string;
  readonly body: { readonly duration: number };
  readonly prompt: string;
  readonly onPrompt: (prompt: string) => void;
  readonly cost: bigint | undefined;
  readonly covered: (available: bigint) => string | undefined;
}

interface OrderAttempt {
  readonly busy: boolean;
  readonly error?: unknown;
}

/** The prompt, and the button that submits the task and reserves its cost. */
function Order({ keyId, body, prompt, onPrompt, cost, covered }: OrderProps): ReactNode {
  const { video: words, ...shared } = useWords(playgroundWords);
  const [, setSearch] = useSearchState(searchDefaults);
  const [checked, setChecked] = useState(false);
  const once = useOnce();
  const poor = usePoor(cost);
  const [state, setState] = useState<OrderAttempt>({ busy: false });
  const submit = async () => {
    setChecked(true);
    if (prompt.trim() === '' || state.busy) return;
    setState({ busy: true });
    try {
      const headers = { 'x-paying-key': keyId };
      const { id } = await send<{ id: string }>('POST', 'play/videos', {
        body,
        headers,
        idempotencyKey: once.keyFor({ keyId, body }),
      });
      once.taken();
      void refreshMoney();
      setSearch({ task: id }, { replace: true });
      setState({ busy: false });
    } catch (error) {
      // The gateway stores its refusal under this key too: another attempt needs a new one.
      if (error instanceof ApiError && error.requestId !== undefined) once.taken();
      setState({ busy: false, error });
    }
  };
  return (
    <div className="flex flex-col gap-3">
      <Field
        label={words.prompt}
        error={checked && prompt.trim() === '' ? words.needPrompt : undefined}
      >
        {(tied) => (
          <Textarea
            {...tied}
            placeholder={words.promptPlaceholder}
            value={prompt}
            onChange={(event) => onPrompt(event.target.value)}
          />
        )}
      </Field>
      {state.error !== undefined && <Refused error={state.error} />}
      <div className="flex flex-wrap items-center justify-end gap-2">
        <span className="text-caption text-muted">
          {cost === undefined ? (
            shared.byTokens
          ) : (
            <CostBefore
              most={cost}
              text={words.price(String(body.duration), formatYuan(cost, 'spend'))}
              covered={covered}
            />
          )}
        </span>
        <MaybeDisabled
          look="primary"
          icon="play"
          busy={state.busy}
          disabledFor={poor}
          onClick={() => void submit()}
        >
          {words.submit}
        </MaybeDisabled>
      </div>
    </div>
  );
}

const priced = (cost: bigint | undefined): string | undefined =>
  cost === undefined ? undefined : formatYuan(cost, 'spend');

interface DurationsProps {
  readonly all: readonly number[];
  readonly value: number;
  readonly priceOf: (seconds: number) => bigint | undefined;
  readonly onChange: (seconds: number) => void;
}

function Durations({ all, value, priceOf, onChange }: DurationsProps): ReactNode {
  const { video: words } = useWords(playgroundWords);
  return (
    <RadioCards
      label={words.duration}
      value={String(value)}
      onChange={(chosen) => onChange(Number(chosen))}
      options={all.map((length) => ({
        value: String(length),
        text: words.seconds(String(length)),
        detail: priced(priceOf(length)),
      }))}
    />
  );
}

interface ResolutionsProps {
  readonly prices: readonly UnitPrice[];
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** The resolutions that have a price of their own. */
function Resolutions({ prices, value, onChange }: ResolutionsProps): ReactNode {
  const { video: words } = useWords(playgroundWords);
  const named = prices.flatMap(
    ({ variant = '' }) => /^(\d{3,4}p|[248]k)(?:\/|$)/.exec(variant)?.[1] ?? [],
  );
  const all = [...new Set(named)];
  if (all.length === 0) return null;
  return (
    <ChoiceField
      label={words.resolution}
      value={value}
      options={[['', words.usual], ...all.map((one) => [one, one] as const)]}
      onChange={onChange}
    />
  );
}

function Result({ id }: { readonly id: string }): ReactNode {
  const { video: words, seeCharge } = useWords(playgroundWords);
  const task = useTask(id);
  const { refetch } = task;
  useEvent(
    'task',
    useCallback(
      (changed: { readonly id: string }) => void (changed.id === id && refetch()),
      [id, refetch],
    ),
  );
  return (
    <Loaded query={task}>
      {(detail) => (
        <div className="flex flex-col gap-3">
          {isRunning(detail) && (
            <p className="text-table">{words.submitted(formatYuan(detail.held, 'row'))}</p>
          )}
          <TaskProgress task={detail} />
          <p className="flex flex-wrap items-center gap-x-4 gap-y-1 text-table">
            {!isRunning(detail) && <TaskMoney task={detail} />}
            {detail.state === 'completed' && <PathLink path={`/usage/${id}`}>{seeCharge}</PathLink>}
            <PathLink path={`/tasks/${id}`}>{words.all}</PathLink>
          </p>
        </div>
      )}
    </Loaded>
  );
}
