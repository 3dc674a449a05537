import type { ReactNode } from 'react';
import { useMe } from '../api/data.ts';
import { Drawer } from '../components/dialog.tsx';
import { DocsLink } from '../components/docs-link.tsx';
import { Icon } from '../components/icon.tsx';
import { PathLink } from '../components/path-link.tsx';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { type Destination, operatorDestinations, userDestinations } from './navigation.ts';

const others = userDestinations.filter(({ inBar }) => !inBar);

/** The pages that have no room in the bar of a phone. */
export function MoreDrawer({ onClose }: { readonly onClose: () => void }): ReactNode {
  const words = useWords(sharedWords);
  return (
    <Drawer onClose={onClose} title={words.nav.more}>
      <More onGo={onClose} />
    </Drawer>
  );
}

function More({ onGo }: { readonly onGo: () => void }): ReactNode {
  const words = useWords(sharedWords);
  const operator = useMe().role === 'operator';
  return (
    <>
      <Entries destinations={others} onGo={onGo} />
      {operator && (
        <>
          <h2 className="mt-4 mb-1 flex items-center gap-2 border-t border-line pt-4 text-caption text-muted">
            <Icon name="shield" className="size-3.5" />
            {words.nav.operator}
          </h2>
          <Entries destinations={operatorDestinations} onGo={onGo} />
        </>
      )}
      <DocsLink
        to="index"
        className="mt-4 flex h-11 items-center gap-2.5 border-t border-line px-2 text-body text-text"
      >
        <Icon name="help" className="text-muted" />
        {words.nav.help}
      </DocsLink>
    </>
  );
}

function Entries({
  destinations,
  onGo,
}: {
  readonly destinations: readonly Destination[];
  readonly onGo: () => void;
}): ReactNode {
  const words = useWords(sharedWords);
  return (
    <ul className="grid grid-cols-2 gap-1">
      {destinations.map(({ path, name, icon }) => (
        <li key={path}>
          <PathLink
            path={path}
            onClick={onGo}
            className="flex h-11 items-center gap-2.5 rounded-control px-2 text-body text-text hover:bg-sunken"
          >
            <Icon name={icon} className="text-muted" />
            {words.nav[name]}
          </PathLink>
        </li>
      ))}
    </ul>
  );
}
