import type { ReactNode } from 'react';
import type { LedgerCheckView } from '../../../src/console/contract.ts';
import { Money } from '../../components/money.tsx';
import { Panel } from '../../components/page.tsx';
import { bookWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';

/** Customers' money as a sum that the reader can check. */
export function LedgerMoney({
  customers,
}: {
  readonly customers: NonNullable<LedgerCheckView['customers']>;
}): ReactNode {
  const { ledger: words } = useWords(bookWords);
  const parts = [
    ['', 'balance'],
    ['=', 'top_ups'],
    ['+', 'credits'],
    ['\u2212', 'refunds'],
    ['\u2212', 'charges'],
  ] as const;
  return (
    <Panel title={words.money}>
      <dl className="grid grid-cols-[1rem_minmax(0,1fr)_auto] gap-x-2 gap-y-1 text-table">
        {parts.map(([sign, name]) => (
          <div key={name} className="contents">
            <span aria-hidden="true" className="text-right text-muted">
              {sign}
            </span>
            <dt>{words.equation[name]}</dt>
            <dd className="text-right">
              <Money amount={customers[name]} as="exact" />
            </dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
