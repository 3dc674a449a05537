import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { ChannelTestEvents, ChannelView } from '../../../src/console/contract.ts';
import { sendForEvents } from '../../api/server-events.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Foot } from '../../components/dialog-foot.tsx';
import { Icon } from '../../components/icon.tsx';
import { PathLink } from '../../components/path-link.tsx';
import { formatDuration } from '../../format/time.ts';
import { channelWords, operatorWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { channelAddress, channelPath } from './channel-parts.tsx';
import { type Planned, planFor } from './channel-test-plan.ts';

/** So many channels are tested at once. */
const atOnce = 4;

/** `ok` undefined: under way. `ms`: until the whole answer. */
interface Result {
  readonly ok: boolean | undefined;
  readonly ms: number | undefined;
  readonly said: string | null;
}

/** Sends one small request to every channel, some at a time. */
export function TestAll({
  channels,
  onClose,
}: {
  readonly channels: readonly ChannelView[];
  readonly onClose: () => void;
}): ReactNode {
  const { test: words } = useWords(channelWords);
  const [{ tests: plan, off, untestable }] = useState(() => planFor(channels));
  const { results, running, start, stop } = useTests(plan);
  const ended = plan.filter(({ name }) => results[name]?.ok !== undefined);
  const failed = ended.filter(({ name }) => results[name]?.ok === false);
  return (
    <Dialog onClose={onClose} title={words.allTitle}>
      <div className="flex flex-col gap-4">
        <p className="text-table text-muted">{words.allCost(plan.length)}</p>
        <Skipped text={words.allOff(off.length)} names={off} />
        <Skipped text={words.allUntestable(untestable.length)} names={untestable} />
        <ul
          className="divide-y divide-line rounded-control border border-line text-table"
          aria-label={words.allTitle}
        >
          {plan.map((one) => (
            <Row key={one.name} planned={one} result={results[one.name]} />
          ))}
        </ul>
        <Foot>
          <p role="status" className="mr-auto self-center text-table">
            {ended.length > 0 && words.allDone(ended.length, plan.length, failed.length)}
          </p>
          {running && <Button onClick={stop}>{words.stop}</Button>}
          <Button look="primary" busy={running} onClick={() => void start()}>
            {ended.length === 0 ? words.run : words.again}
          </Button>
        </Foot>
      </div>
    </Dialog>
  );
}

interface SkippedProps {
  readonly text: string;
  readonly names: readonly string[];
}

/** Why some channels are skipped; opens to their names. */
function Skipped({ text, names }: SkippedProps): ReactNode {
  const { comma } = useWords(operatorWords);
  if (names.length === 0) return null;
  return (
    <details className="text-table text-muted">
      <summary>{text}</summary>
      <p className="mt-1 text-caption wrap-anywhere">{names.join(comma)}</p>
    </details>
  );
}

function Row({
  planned: { name, model },
  result,
}: {
  readonly planned: Planned;
  readonly result: Result | undefined;
}): ReactNode {
  const { test: words } = useWords(channelWords);
  return (
    <li className="flex flex-wrap items-center gap-x-3 px-3 py-1.5">
      <span className="min-w-0 flex-1 wrap-anywhere">
        <PathLink path={channelPath(name)}>{name}</PathLink>
        <span className="block text-caption text-muted">{model}</span>
      </span>
      {result !== undefined && result.ok === undefined && (
        <span className="text-caption text-muted">{words.waiting}</span>
      )}
      {result?.ok === true && (
        <span className="flex items-center gap-1 text-good">
          <Icon name="check" />
          <span className="figures">{formatDuration(result.ms ?? 0)}</span>
        </span>
      )}
      {result?.ok === false && (
        <span className="flex items-center gap-1 text-bad">
          <Icon name="failed" />
          {words.failed}
        </span>
      )}
      {result?.ok === false && result.said !== null && (
        <span className="line-clamp-2 w-full text-caption wrap-anywhere text-muted">
          {result.said}
        </span>
      )}
    </li>
  );
}

function useTests(plan: readonly Planned[]) {
  const [results, setResults] = useState<Readonly<Record<string, Result>>>({});
  const [running, setRunning] = useState(false);
  const going = useRef<AbortController>(undefined);
  useEffect(() => () => going.current?.abort(), []);
  const note = (name: string, result: Result) => setResults((old) => ({ ...old, [name]: result }));
  const start = async (): Promise<void> => {
    const { signal } = (going.current = new AbortController());
    setResults({});
    setRunning(true);
    const waiting = plan.values();
    const work = async () => {
      for (const { name, ...body } of waiting) {
        if (signal.aborted) return;
        note(name, { ok: undefined, ms: undefined, said: null });
        const result = await testOne(name, body, signal);
        if (!signal.aborted) note(name, result);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    if (signal.aborted)
      setResults((old) =>
        Object.fromEntries(Object.entries(old).filter(([, { ok }]) => ok !== undefined)),
      );
    setRunning(false);
  };
  return { results, running, start, stop: () => going.current?.abort() };
}

async function testOne(
  name: string,
  body: Omit<Planned, 'name'>,
  signal: AbortSignal,
): Promise<Result> {
  let ms: number | undefined;
  let done: ChannelTestEvents['done'] | undefined;
  try {
    await sendForEvents<ChannelTestEvents>(
      `${channelAddress(name)}/test`,
      { body, signal },
      {
        stage: (stage) => {
          ms = stage.ms;
        },
        done: (result) => {
          done = result;
        },
      },
    );
  } catch (error) {
    return { ok: false, ms, said: error instanceof Error ? error.message : String(error) };
  }
  return { ok: done?.ok ?? false, ms, said: done?.said ?? null };
}
