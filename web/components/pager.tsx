import type { ReactNode } from 'react';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { Button } from './button.tsx';

interface PagerProps {
  readonly page: { readonly next: string | null; readonly prev: string | null };
  /** `undefined`: the first page. Write it into the address as `after`. */
  readonly onTurn: (after: string | undefined) => void;
  /** Left of the buttons: export, rows per page. */
  readonly children?: ReactNode;
}

/** Newer and older, without page numbers: the API gives no total. `[` and `]` press them. */
export function Pager({ page, onTurn, children }: PagerProps): ReactNode {
  const words = useWords(sharedWords);
  if (page.next === null && page.prev === null && children === undefined) return null;
  return (
    <nav
      aria-label={words.table.rows}
      className="flex flex-wrap items-center gap-2 border-t border-line px-3 py-2"
    >
      <div className="mr-auto flex items-center gap-2">{children}</div>
      <Turn name="newer" cursor={page.prev} onTurn={onTurn} />
      <Turn name="older" cursor={page.next} onTurn={onTurn} />
    </nav>
  );
}

interface TurnProps extends Pick<PagerProps, 'onTurn'> {
  readonly name: 'newer' | 'older';
  /**
   * Null: there is no such page. The place of the button is kept; a button that was just pressed
   * stays in view, with the focus.
   */
  readonly cursor: string | null;
}

function Turn({ name, cursor, onTurn }: TurnProps): ReactNode {
  const { table: words } = useWords(sharedWords);
  return (
    <Button
      size="small"
      icon={name === 'newer' ? 'left' : 'right'}
      data-page={name}
      aria-disabled={cursor === null}
      className="not-focus:aria-disabled:invisible"
      onClick={() => onTurn(cursor ?? undefined)}
    >
      {words[name]}
    </Button>
  );
}

type Turned = PagerProps['page'];

/** For lists that page in one direction only: "newer" leads to the first page. */
export function fromFirst({ next, prev }: Turned, after: string): Turned {
  return { next, prev: prev ?? (after === '' ? null : '') };
}
