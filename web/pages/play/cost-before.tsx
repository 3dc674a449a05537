import type { ReactNode } from 'react';
import { useSession } from '../../api/data.ts';
import { ApartLink } from '../apart-link.tsx';
import { formatYuan, parseYuan } from '../../format/money.ts';
import { playgroundWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';

interface CostBeforeProps {
  /** What the request can cost, in nano-yuan. */
  readonly most: bigint;
  /** The same in words. */
  readonly text: string;
  readonly tip?: string;
  /** What a smaller balance (nano-yuan) pays for, in words; undefined: nothing. */
  readonly covered?: (available: bigint) => string | undefined;
}

/** The cost before a request; where the balance is smaller, also that, and what it pays for. */
export function CostBefore({ most, text, tip, covered }: CostBeforeProps): ReactNode {
  const words = useWords(playgroundWords);
  const available = useTooLittle(most);
  const cost = <span data-tip={tip}>{text}</span>;
  // The page itself warns of an empty balance.
  if (available === undefined || available === 'empty') return cost;
  const amount = formatYuan(available, 'balance');
  const some = covered?.(available);
  return (
    <>
      {cost}{' '}
      <span className="text-warn">
        · {some === undefined ? words.tooDear(amount) : words.covers(amount, some)}
      </span>{' '}
      · <ApartLink path="/top-up">{words.topUp}</ApartLink>
    </>
  );
}

/**
 * Why the request would be refused for the balance; undefined: it would not, or nobody knows.
 * `certain`: the cost in nano-yuan where it is known before.
 */
export function usePoor(certain?: bigint): string | undefined {
  const words = useWords(playgroundWords);
  const available = useTooLittle(certain);
  if (available === undefined) return undefined;
  return available === 'empty' ? words.cannotPay : words.poor;
}

/**
 * The balance (nano-yuan) where it is smaller than the cost; undefined: it pays, or is not known.
 */
function useTooLittle(cost = 0n): bigint | 'empty' | undefined {
  const { balance } = useSession();
  if (balance === null) return undefined;
  if (balance.empty) return 'empty';
  const available = parseYuan(balance.available);
  return cost > available ? available : undefined;
}
