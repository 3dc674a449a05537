import type { ReactNode } from 'react';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { Button } from './button.tsx';

interface LeftOutProps {
  /** 0: all columns are shown, also those without room. */
  readonly count: number;
  readonly onTurn: () => void;
}

/** Says below a table that columns are left out, and brings them back. */
export function LeftOut({ count, onTurn }: LeftOutProps): ReactNode {
  const { table } = useWords(sharedWords);
  return (
    <div className="border-t border-line px-3 py-1.5">
      <Button size="small" look="ghost" onClick={onTurn}>
        {count === 0 ? table.fit : table.more(count)}
      </Button>
    </div>
  );
}
