import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import { Icon } from '../components/icon.tsx';
import { Money } from '../components/money.tsx';

export const cell = 'px-3 py-2 align-top';
/** A phone shows this value in another column. */
export const onlyWide = 'max-md:hidden';
export const onlyPhone = 'md:hidden';

interface UnfoldProps {
  readonly isOpen: boolean;
  /** Its name for screen readers. */
  readonly label: string;
  readonly onToggle: () => void;
  readonly children: ReactNode;
}

/** A button that unfolds the parts of a row below it. */
export function Unfold({ isOpen, label, onToggle, children }: UnfoldProps): ReactNode {
  return (
    <button
      type="button"
      data-row-link
      aria-expanded={isOpen}
      onClick={onToggle}
      className="-my-0.5 flex min-h-6 max-w-full items-center gap-1 rounded-badge text-left touch:min-h-11"
    >
      <Icon name={isOpen ? 'down' : 'right'} className="text-muted" />
      <span className="min-w-0">{children}</span>
      <span className="sr-only">{label}</span>
    </button>
  );
}

interface AmountsProps {
  readonly amount: string;
  readonly balance: string;
  readonly signed?: boolean;
}

/** The amount and the balance after it; on a phone one below the other. */
export function Amounts({ amount, balance, signed = false }: AmountsProps): ReactNode {
  return (
    <>
      <td className={clsx(cell, 'text-right')}>
        <Money amount={amount} as="exact" signed={signed} />
        <span className={clsx(onlyPhone, 'block text-caption text-muted')}>
          <Money amount={balance} as="exact" />
        </span>
      </td>
      <td className={clsx(cell, onlyWide, 'text-right')}>
        <Money amount={balance} as="exact" />
      </td>
    </>
  );
}
