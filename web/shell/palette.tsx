import { useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { Dialog } from 'radix-ui';
import { type KeyboardEvent, type ReactNode, useDeferredValue, useId, useState } from 'react';
import type { Found, List } from '../../src/console/contract.ts';
import { data, useMe } from '../api/data.ts';
import { Icon, type IconName } from '../components/icon.tsx';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { operatorDestinations, userDestinations } from './navigation.ts';

interface Choice {
  readonly path: string;
  readonly label: string;
  readonly detail?: string;
  readonly icon: IconName;
  readonly section: string;
}

/** Pages, records and actions by name: type, choose with the arrows, go with Enter. */
export function Palette({ onClose }: { readonly onClose: () => void }): ReactNode {
  const words = useWords(sharedWords);
  const router = useRouter();
  const list = useId();
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const choices = useChoices(typed);
  const chosen = Math.min(at, choices.length - 1);
  const go = (choice: Choice | undefined) => {
    if (choice === undefined) return;
    onClose();
    router.history.push(choice.path);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Enter') go(choices[chosen]);
    else if (event.key === 'ArrowDown') setAt(Math.min(chosen + 1, choices.length - 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(chosen - 1, 0));
    else return;
    event.preventDefault();
  };
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-[rgb(0_0_0/0.4)] backdrop-in" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed inset-x-2 top-2 z-50 mx-auto flex max-h-[70dvh] max-w-[560px] flex-col overflow-hidden rounded-card border border-line bg-surface shadow-overlay outline-none overlay-in sm:top-[12dvh]"
        >
          <Dialog.Title className="sr-only">{words.palette.open}</Dialog.Title>
          <label className="flex h-12 items-center gap-2 border-b border-line px-4">
            <Icon name="search" className="text-muted" />
            <input
              role="combobox"
              aria-expanded="true"
              aria-controls={list}
              aria-activedescendant={choices[chosen] && `${list}-${chosen}`}
              aria-label={words.palette.open}
              placeholder={words.palette.placeholder}
              value={typed}
              onChange={(event) => {
                setTyped(event.target.value);
                setAt(0);
              }}
              onKeyDown={onKey}
              autoComplete="off"
              spellCheck={false}
              className="h-full min-w-0 flex-1 bg-transparent text-body outline-none"
            />
          </label>
          <Choices id={list} choices={choices} chosen={chosen} onGo={go} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

interface ChoicesProps {
  readonly id: string;
  readonly choices: readonly Choice[];
  readonly chosen: number;
  readonly onGo: (choice: Choice) => void;
}

function Choices({ id, choices, chosen, onGo }: ChoicesProps): ReactNode {
  const words = useWords(sharedWords);
  return (
    <div
      id={id}
      role="listbox"
      aria-label={words.palette.found}
      className="min-h-0 overflow-y-auto p-2"
    >
      {choices.length === 0 && (
        <p className="p-4 text-center text-table text-muted">{words.palette.nothing}</p>
      )}
      {choices.map((choice, index) => (
        <div key={choice.path}>
          {choice.section !== choices[index - 1]?.section && (
            <p className="px-2 py-1 text-caption text-muted">{choice.section}</p>
          )}
          <div
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            ref={(element) => {
              if (index === chosen) element?.scrollIntoView({ block: 'nearest' });
            }}
            onClick={() => onGo(choice)}
            className={clsx(
              'flex min-h-9 cursor-pointer items-center gap-2.5 rounded-control px-2 text-table touch:min-h-11',
              index === chosen ? 'bg-accent-soft' : 'hover:bg-sunken',
            )}
          >
            <Icon name={choice.icon} className="text-muted" />
            <span className="min-w-0 truncate">{choice.label}</span>
            {choice.detail && (
              <span className="ml-auto max-w-1/2 truncate text-caption text-muted">
                {choice.detail}
              </span>
            )}
          </div>
        </div>
      ))}
    </div>
  );
}

const icons: Readonly<Record<Found['kind'], IconName>> = {
  key: 'keys',
  model: 'models',
  request: 'usage',
  order: 'topUp',
  task: 'tasks',
  user: 'users',
  channel: 'channels',
};

/** As many hits of one kind as the server sends. */
const shownOfEachKind = 5;

function useChoices(typed: string): Choice[] {
  const words = useWords(sharedWords);
  const operator = useMe().role === 'operator';
  const wanted = useDeferredValue(typed.trim());
  const found = useQuery({
    ...data<List<Found>>('find', { q: wanted }),
    enabled: wanted.length > 1,
  });
  const { nav, palette } = words;
  const pages = [
    ...userDestinations.map(({ path, name, icon }) => ({
      path,
      label: nav[name],
      icon,
      section: palette.pages,
    })),
    ...(operator
      ? operatorDestinations.map(({ path, name, icon }) => ({
          path,
          label: nav[name],
          icon,
          section: nav.operator,
        }))
      : []),
    {
      path: '/keys/new',
      label: palette.createKey,
      icon: 'plus' as const,
      section: palette.actions,
    },
  ];
  const matching = pages.filter(({ label, path }) =>
    `${label} ${path}`.toLowerCase().includes(wanted.toLowerCase()),
  );
  const records = wanted.length > 1 ? (found.data?.items ?? []) : [];
  // The list shows the first few of each kind; the rest is a search away.
  const lists = [
    { kind: 'key', path: '/keys', label: palette.all.keys },
    { kind: 'model', path: '/models', label: palette.all.models },
    { kind: 'user', path: '/operator/users', label: palette.all.users },
    { kind: 'channel', path: '/operator/channels', label: palette.all.channels },
  ] as const;
  const whole = lists.filter(
    ({ kind }) => records.filter((record) => record.kind === kind).length >= shownOfEachKind,
  );
  return [
    ...matching,
    ...records.map(({ kind, title, detail, path }) => ({
      path,
      label: title,
      detail: detail ?? palette.kinds[kind],
      icon: icons[kind],
      section: palette.found,
    })),
    ...whole.map(({ kind, path, label }) => ({
      path: `${path}?q=${encodeURIComponent(wanted)}`,
      label: label(wanted),
      icon: icons[kind],
      section: palette.found,
    })),
  ];
}
