import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import type { BalanceView, Settings } from '../../src/console/contract.ts';
import { useMe, useSession } from '../api/data.ts';
import { PathLink } from '../components/path-link.tsx';
import { formatYuan, parseYuan } from '../format/money.ts';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { usePaths } from './navigation.ts';

const lowRunwayDays = 3;

type BalanceState = 'fine' | 'unfunded' | 'low' | 'empty';

/**
 * `unfunded`: the account never had a payment. `empty`: the balance pays for no model, not even the
 * cheapest. `low`: under three days of runway, or under the user's own threshold.
 */
export function balanceState(
  { empty, unfunded, runway, available }: BalanceView,
  { low_balance: lowBalance }: Settings,
): BalanceState {
  if (unfunded) return 'unfunded';
  if (empty) return 'empty';
  if (runway.state === 'days' && runway.days < lowRunwayDays) return 'low';
  return lowBalance !== null && parseYuan(available) < parseYuan(lowBalance) ? 'low' : 'fine';
}

/**
 * The available balance on every page of a user, as a link to the top-up. Beside the money of
 * others, on an operator's pages, nobody could tell whose it is.
 */
export function BalanceChip(): ReactNode {
  const words = useWords(sharedWords);
  const { balance } = useSession();
  const { settings } = useMe();
  const ofOperator = usePaths().shown.startsWith('/operator');
  if (balance === null || ofOperator) return null;
  const state = balanceState(balance, settings);
  const amount = formatYuan(balance.available, 'balance');
  const shown = {
    fine: amount,
    unfunded: `${amount} · ${words.balance.unfunded}`,
    low: `${words.balance.low} ${amount}`,
    empty: `${words.balance.empty} ${amount}`,
  }[state];
  const held =
    parseYuan(balance.held) > 0n
      ? ` · ${words.balance.held(formatYuan(balance.held, 'balance'))}`
      : '';
  return (
    <PathLink
      path="/top-up"
      aria-label={`${words.balance.label} ${shown}`}
      data-tip={`${words.balance.label} ${formatYuan(balance.available, 'exact')}${held}`}
      className={clsx(
        'inline-flex h-7 shrink-0 items-center gap-1.5 rounded-full border px-2.5 text-table font-medium figures touch:h-10',
        (state === 'fine' || state === 'unfunded') &&
          'border-line bg-surface text-text hover:bg-sunken',
        state === 'low' && 'border-warn bg-warn-soft text-warn',
        state === 'empty' && 'border-bad bg-bad-soft text-bad',
      )}
    >
      {shown}
    </PathLink>
  );
}
