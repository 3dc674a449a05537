import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import { Panel } from '../../components/page.tsx';
import type { Sample } from '../../samples/client.ts';
import { playgroundWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { CodePanel } from './code-panel.tsx';

interface BenchProps {
  readonly settings: ReactNode;
  readonly work: ReactNode;
  readonly sample: Sample;
  /** On a phone the work stands above the settings: what is typed stays in view. */
  readonly workFirst?: boolean;
}

/** Settings on the left, work in the middle, code on the right where there is room. */
export function Bench({ settings, work, sample, workFirst = false }: BenchProps): ReactNode {
  const words = useWords(playgroundWords);
  return (
    <div className="grid items-start gap-4 lg:grid-cols-[280px_minmax(0,1fr)] 2xl:grid-cols-[300px_minmax(0,1fr)_480px]">
      <Panel title={words.settings}>
        <div className="flex flex-col gap-4">{settings}</div>
      </Panel>
      <div className={clsx('min-w-0', workFirst && 'max-lg:order-first')}>{work}</div>
      <CodePanel
        title={words.code}
        note={words.codeNote}
        sample={sample}
        className="lg:col-span-2 2xl:col-span-1"
      />
    </div>
  );
}

/** Settings that are rarely changed: folded on a phone, open where there is room. */
export function More({ children }: { readonly children: ReactNode }): ReactNode {
  const words = useWords(playgroundWords);
  return (
    <details className="group" open={matchMedia('(min-width: 1024px)').matches}>
      <summary className="rounded-badge text-table font-medium text-muted hover:text-text">
        {words.more}
      </summary>
      <div className="flex flex-col gap-4 pt-3">{children}</div>
    </details>
  );
}
