import type { ReactNode } from 'react';
import { formatShare } from '../format/count.ts';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';

interface ChangeProps {
  readonly now: number | null;
  readonly before: number | null;
}

/** `▲ 12.0 %`; or that the period before has nothing to compare with. */
export function Change({ now, before }: ChangeProps): ReactNode {
  if (now === null || before === null || before === 0) return <NoEarlier />;
  const share = (now - before) / Math.abs(before);
  return <Arrow sign={share} size={formatShare(Math.abs(share))} />;
}

/** The period before has no figure. */
export function NoEarlier(): ReactNode {
  const { change } = useWords(sharedWords);
  return change.none;
}

interface ArrowProps {
  readonly sign: number;
  readonly size: string;
}

/** Up or down, and by how much. */
export function Arrow({ sign, size }: ArrowProps): ReactNode {
  const { change } = useWords(sharedWords);
  return (
    <span className="whitespace-nowrap figures">
      {sign !== 0 && (
        <>
          <span aria-hidden="true">{sign > 0 ? '▲' : '▼'}</span>
          <span className="sr-only">{sign > 0 ? change.up : change.down}</span>{' '}
        </>
      )}
      {size}
    </span>
  );
}
