import type { ReactNode } from 'react';
import type { ChargeView, OverviewView } from '../../src/console/contract.ts';
import { linkLook } from '../components/button.tsx';
import { Money } from '../components/money.tsx';
import { Panel } from '../components/page.tsx';
import { PathLink } from '../components/path-link.tsx';
import { named } from '../components/named-columns.ts';
import { type Column, Table } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import { formatCount } from '../format/count.ts';
import { overviewWords, usageWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { ChargeStatus, isProduced } from './charge-parts.tsx';

/** The latest charges, live; each opens to its arithmetic. */
export function LatestCharges({ view }: { readonly view: OverviewView }): ReactNode {
  const { charges: words } = useWords(overviewWords);
  const columns: readonly Column<ChargeView>[] = named(words, [
    { id: 'model', cell: ({ model }) => model, className: 'max-w-72 truncate' },
    {
      id: 'key',
      cell: ({ key_name: name }) => name,
      spare: 1,
      className: 'max-w-48 truncate text-muted',
    },
    { id: 'tokens', align: 'right', cell: (row) => <Quantity charge={row} /> },
    { id: 'status', cell: (row) => <ChargeStatus charge={row} /> },
    {
      id: 'time',
      align: 'right',
      cell: ({ at }) => <Time at={at} as="relative" />,
      className: 'text-muted',
    },
    { id: 'cost', amount: ({ cost }) => cost, as: 'row', estimated: (row) => row.estimated },
  ]);
  return (
    <Panel
      title={words.title}
      flush
      actions={
        <PathLink path="/usage" className={`text-table ${linkLook}`}>
          {words.all}
        </PathLink>
      }
    >
      <Table
        label={words.title}
        rows={view.last_charges}
        rowKey={({ id }) => id}
        columns={columns}
        path={({ id }) => `/usage/${id}`}
        card={(row) => ({
          title: row.model,
          value: <Money amount={row.cost} as="row" estimated={row.estimated} />,
          detail: (
            <>
              <Time at={row.at} as="relative" />
              <span className="max-w-40 truncate">{row.key_name}</span>
              <ChargeStatus charge={row} />
            </>
          ),
        })}
      />
    </Panel>
  );
}

/** Tokens in and out; images, seconds and the like in their own units. */
function Quantity({ charge }: { readonly charge: ChargeView }): ReactNode {
  const { units } = useWords(usageWords);
  const { tokens, quantity } = charge;
  if (tokens !== null && !isProduced(charge))
    return `${formatCount(tokens.input)} / ${formatCount(tokens.output)}`;
  return quantity === null ? '—' : units[quantity.unit](formatCount(quantity.amount));
}
