import type { ReactNode } from 'react';
import { formatShare } from '../format/count.ts';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';

interface ChangeProps {
  readonly now: number;
  readonly before: number;
}

/** `▲ 12.0 %`; nothing where there was 0, which has no share. */
export function Change({ now, before }: ChangeProps): ReactNode {
  if (before === 0) return null;
  const share = (now - before) / Math.abs(before);
  return <Arrow sign={share} size={formatShare(Math.abs(share))} />;
}

interface ArrowProps {
  readonly sign: number;
  readonly size: string;
}

/** Up or down, and by how much; a bare `0 %` would read as the figure itself. */
export function Arrow({ sign, size }: ArrowProps): ReactNode {
  const { change } = useWords(sharedWords);
  if (sign === 0) return change.same;
  return (
    <span className="whitespace-nowrap figures">
      <span aria-hidden="true">{sign > 0 ? '▲' : '▼'}</span>
      <span className="sr-only">{sign > 0 ? change.up : change.down}</span> {size}
    </span>
  );
}
