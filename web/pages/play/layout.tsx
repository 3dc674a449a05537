import type { ReactNode } from 'react';
import { Panel } from '../../components/page.tsx';
import type { Sample } from '../../samples/client.ts';
import { playgroundWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { ChargeLine, Refused } from './charge.tsx';
import { CodePanel } from './code-panel.tsx';
import { RunBar, type RunBarProps } from './run-bar.tsx';
import type { Run } from './run.ts';

interface BenchProps {
  readonly settings: ReactNode;
  readonly work: ReactNode;
  readonly sample: Sample;
}

/**
 * Settings on the left, work in the middle, code on the right where there is room. On a phone the
 * work stands above the settings: what is typed stays in view.
 */
export function Bench({ settings, work, sample }: BenchProps): ReactNode {
  const words = useWords(playgroundWords);
  return (
    <div className="grid items-start gap-4 lg:grid-cols-[280px_minmax(0,1fr)] 2xl:grid-cols-[300px_minmax(0,1fr)_480px]">
      <Panel title={words.settings}>
        <div className="flex flex-col gap-4">{settings}</div>
      </Panel>
      <div className="min-w-0 max-lg:order-first">{work}</div>
      <CodePanel
        title={words.code}
        note={words.codeNote}
        sample={sample}
        className="lg:col-span-2 2xl:col-span-1"
      />
    </div>
  );
}

interface AskedProps<Answer> extends Pick<RunBarProps, 'cost' | 'certain' | 'onRun' | 'onStop'> {
  readonly run: Run<Answer>;
  /** What is asked. */
  readonly question: ReactNode;
  /** What stands where the answer will be: before, and while it is awaited. */
  readonly words: { readonly empty: string; readonly running: string };
  readonly children: (answer: Answer) => ReactNode;
}

/** A question, what it costs, and its answer. */
export function Asked<Answer>({
  run: { state, answer, error, charge },
  question,
  words,
  children,
  ...bar
}: AskedProps<Answer>): ReactNode {
  return (
    <div className="flex flex-col gap-4">
      <Panel>
        <div className="flex flex-col gap-3">
          {question}
          <RunBar running={state === 'running'} {...bar} />
        </div>
      </Panel>
      <Panel>
        <div className="flex flex-col gap-3">
          {state === 'none' && <p className="py-10 text-center text-muted">{words.empty}</p>}
          {state === 'running' && <p role="status">{words.running}</p>}
          {state === 'failed' && <Refused error={error} />}
          {answer !== undefined && children(answer)}
          {state === 'done' && <ChargeLine charge={charge} />}
        </div>
      </Panel>
    </div>
  );
}

/** Settings that are rarely changed, folded at first. */
export function More({ children }: { readonly children: ReactNode }): ReactNode {
  const words = useWords(playgroundWords);
  return (
    <details className="group">
      <summary className="rounded-badge text-table font-medium text-muted hover:text-text">
        {words.more}
      </summary>
      <div className="flex flex-col gap-4 pt-3">{children}</div>
    </details>
  );
}
