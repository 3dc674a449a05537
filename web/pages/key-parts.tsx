import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import type { KeyState, KeyView } from '../../src/console/contract.ts';
import { send } from '../api/client.ts';
import { refresh } from '../api/data.ts';
import { useErrorToast } from '../components/error-panel.tsx';
import { Money } from '../components/money.tsx';
import { type SharedStatus, StatusBadge } from '../components/status-badge.tsx';
import { named } from '../components/named-columns.ts';
import type { Column } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import { useToast } from '../components/toast.tsx';
import { formatYuan, longestFraction, parseYuan } from '../format/money.ts';
import { keysWords, sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';

export const keyStatuses: Readonly<Record<KeyState, SharedStatus>> = {
  active: 'active',
  disabled: 'disabled',
  expired: 'expired',
  limit_reached: 'limitReached',
};

/** The variable in which clients look for their key. */
export const keyVariable = 'TOLLGATE_API_KEY';

/** `sk-ab…wxyz`: enough to tell keys apart, useless to anybody else. */
export function shownKey({ prefix, last4 }: Pick<KeyView, 'prefix' | 'last4'>): string {
  return `${prefix}…${last4}`;
}

interface SpentProps extends Pick<KeyView, 'spent' | 'limit'> {
  /** Decimals of the longest amount in its column: see `placesOf`. */
  readonly places?: number;
}

/** The decimals of a column of what keys spent. */
const placesOf = (keys: readonly Pick<KeyView, 'spent'>[]): number =>
  longestFraction(keys.map(({ spent }) => formatYuan(spent, 'spend')));

/** The amount spent; below it a bar and the limit. */
export function SpentOfLimit({ spent, limit, places = 0 }: SpentProps): ReactNode {
  const words = useWords(keysWords);
  if (limit === null) return <Money amount={spent} as="spend" places={places} />;
  const share = shareOf(spent, limit);
  return (
    <span className="inline-flex flex-col items-end py-1">
      <Money amount={spent} as="spend" places={places} />
      <span className="flex flex-wrap items-center justify-end gap-x-2 text-caption text-muted">
        <span
          aria-hidden="true"
          className="h-1.5 w-16 overflow-hidden rounded-full bg-idle-soft max-lg:hidden"
        >
          <span
            className={clsx('block h-full rounded-full', share >= 0.9 ? 'bg-warn' : 'bg-accent')}
            style={{ width: `${share * 100}%` }}
          />
        </span>
        <span className="whitespace-nowrap figures">
          {words.ofLimit(formatYuan(limit, 'balance'))}
        </span>
      </span>
    </span>
  );
}

/** The amount spent and the limit; below them what is spent of the day's and the month's limit. */
export function SpentOfLimits({
  keyView,
  places = 0,
}: {
  readonly keyView: KeyView;
  readonly places?: number;
}) {
  const { noLimit, spentOf } = useWords(keysWords);
  const { daily, daily_limit: dailyLimit, monthly, monthly_limit: monthlyLimit } = keyView;
  const windows = [
    { name: 'day', window: daily, limit: dailyLimit },
    { name: 'month', window: monthly, limit: monthlyLimit },
  ] as const;
  return (
    <span className={clsx('inline-flex flex-col items-end', (daily || monthly) && 'py-1')}>
      <SpentOfLimit {...keyView} places={places} />
      {keyView.limit === null && dailyLimit === null && monthlyLimit === null && (
        <span className="text-caption text-muted">{noLimit}</span>
      )}
      {windows.map(
        ({ name, window, limit }) =>
          window !== null &&
          limit !== null && (
            <span key={name} className="text-caption whitespace-nowrap text-muted figures">
              {spentOf[name](formatYuan(window.spent, 'spend'), formatYuan(limit, 'balance'))}
            </span>
          ),
      )}
    </span>
  );
}

const partsOfAll = 1000n;

/** 0 to 1. */
function shareOf(spent: string, limit: string): number {
  const all = parseYuan(limit);
  if (all === 0n) return 1;
  return Math.min(Number((parseYuan(spent) * partsOfAll) / all) / Number(partsOfAll), 1);
}

/** What a list of keys shows of each. */
export function useKeyColumns(keys: readonly KeyView[]): readonly Column<KeyView>[] {
  const words = useWords(keysWords);
  const { columns } = words;
  return named(columns, [
    {
      id: 'name',
      cell: ({ name }) => (
        <span className="block max-w-44 truncate font-medium xl:max-w-64">{name}</span>
      ),
    },
    {
      id: 'key',
      cell: (key) => <span className="font-mono text-caption text-muted">{shownKey(key)}</span>,
    },
    {
      id: 'group',
      spare: 1,
      cell: ({ group }) => <span className="block max-w-48 truncate">{group}</span>,
    },
    {
      id: 'spent',
      align: 'right',
      cell: (key) => <SpentOfLimits keyView={key} places={placesOf(keys)} />,
    },
    { id: 'month', spare: 2, amount: (key) => key.spent_this_month, as: 'spend' },
    {
      id: 'used',
      cell: (key) => <Time at={key.last_used_at} as="relative" absent={words.unused} />,
    },
    {
      id: 'expires',
      spare: 3,
      cell: (key) => <Time at={key.expires_at} as="day" absent={words.never} />,
    },
    { id: 'status', cell: ({ state }) => <StatusBadge status={keyStatuses[state]} /> },
  ]);
}

/**
 * Disables or enables a key at once, with Undo. `path`: the API path of the list that has it, which
 * `refreshLists` fetches again.
 */
export function useKeySwitch(
  path = 'keys',
  refreshLists: () => Promise<unknown> = refreshKeys,
): (key: Pick<KeyView, 'id' | 'name'>, to: 'enable' | 'disable') => Promise<void> {
  const words = useWords(keysWords);
  const { actions } = useWords(sharedWords);
  const showError = useErrorToast();
  const toast = useToast();
  const turn = async (
    key: Pick<KeyView, 'id' | 'name'>,
    to: 'enable' | 'disable',
  ): Promise<void> => {
    try {
      await send('POST', `${path}/${key.id}/${to}`);
      await refreshLists();
    } catch (error) {
      return showError(error);
    }
    const back = to === 'disable' ? 'enable' : 'disable';
    const name = key.name || key.id;
    const text = to === 'disable' ? words.disabled(name) : words.enabled(name);
    toast({
      tone: 'done',
      text,
      action: { label: actions.undo, run: () => turn(key, back) },
    });
  };
  return turn;
}

/** Fetches the list of keys and every detail again where a page shows them. */
export const refreshKeys = (): Promise<void> => refresh('keys');
