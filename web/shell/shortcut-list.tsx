import type { ReactNode } from 'react';
import { Dialog } from '../components/dialog.tsx';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { userDestinations } from './navigation.ts';

export function ShortcutList({ onClose }: { readonly onClose: () => void }): ReactNode {
  const words = useWords(sharedWords);
  const { shortcuts, nav } = words;
  const rows: readonly (readonly [keys: readonly string[], what: string])[] = [
    [['Ctrl K', '⌘K'], shortcuts.palette],
    ...userDestinations.flatMap(({ letter, name }) =>
      letter === undefined ? [] : [[[`g ${letter}`], shortcuts.go(nav[name])] as const],
    ),
    [['/'], shortcuts.filter],
    [['c'], shortcuts.create],
    [['j', 'k'], shortcuts.rows],
    [['↵'], shortcuts.open],
    [['[', ']'], shortcuts.pages],
    [['Esc'], shortcuts.close],
    [['?'], shortcuts.list],
  ];
  return (
    <Dialog onClose={onClose} title={shortcuts.title} description={shortcuts.off}>
      <dl className="grid grid-cols-[auto_1fr] items-center gap-x-4 gap-y-1.5 text-table">
        {rows.map(([keys, what]) => (
          <div key={what} className="contents">
            <dt className="flex gap-1">
              {keys.map((key) => (
                <kbd
                  key={key}
                  className="rounded-badge border border-line bg-sunken px-1.5 font-mono text-caption"
                >
                  {key}
                </kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
