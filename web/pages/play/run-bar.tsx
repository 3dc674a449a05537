import type { ReactNode } from 'react';
import { Button } from '../../components/button.tsx';
import { MaybeDisabled } from '../../components/maybe-disabled.tsx';
import { playgroundWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { usePoor } from './cost-before.tsx';

export interface RunBarProps {
  readonly running: boolean;
  /** The cost before. */
  readonly cost: ReactNode;
  /** The same in nano-yuan where it is known. */
  readonly certain?: bigint | undefined;
  readonly onRun: () => void;
  readonly onStop: () => void;
  readonly children?: ReactNode;
}

/** What it will cost, and the button that runs or stops it. */
export function RunBar({
  running,
  cost,
  certain,
  onRun,
  onStop,
  children,
}: RunBarProps): ReactNode {
  const words = useWords(playgroundWords);
  const poor = usePoor(certain);
  return (
    <div className="flex flex-wrap items-center justify-end gap-2">
      {children}
      <span className="ml-auto text-caption text-muted">{cost}</span>
      {running ? (
        <Button icon="stop" onClick={onStop}>
          {words.stop}
        </Button>
      ) : (
        <MaybeDisabled look="primary" icon="play" disabledFor={poor} onClick={onRun}>
          {words.run}
        </MaybeDisabled>
      )}
    </div>
  );
}
