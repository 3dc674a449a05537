import type { ReactNode } from 'react';
import type { ChargeRow, ChargeStatus, OverviewView } from '../../src/console/contract.ts';
import { Money } from '../components/money.tsx';
import { moneyColumn } from '../components/money-column.tsx';
import { Panel } from '../components/page.tsx';
import { PathLink } from '../components/path-link.tsx';
import { type Status, StatusBadge } from '../components/status-badge.tsx';
import { type Column, Table } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import { formatCount } from '../format/count.ts';
import { overviewWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';

/** The last few, live: each can be opened until it is arithmetic. */
export function LatestCharges({ view }: { readonly view: OverviewView }): ReactNode {
  const { charges: words } = useWords(overviewWords);
  const columns: readonly Column<ChargeRow>[] = [
    { id: 'model', header: words.model, cell: ({ model }) => model, className: 'max-w-72 truncate' },
    { id: 'key', header: words.key, cell: ({ key_name: name }) => name, className: 'max-w-48 truncate text-muted' },
    { id: 'tokens', header: words.tokens, align: 'right', cell: quantityOf },
    { id: 'status', header: words.status, cell: (row) => <StatusBadge status={statusOf(row)} /> },
    { id: 'time', header: words.time, align: 'right', cell: ({ at }) => <Time at={at} as="relative" />, className: 'text-muted' },
    moneyColumn(view.last_charges, {
      id: 'cost',
      header: words.cost,
      amount: ({ cost }) => cost,
      as: 'row',
      estimated: (row) => row.estimated,
    }),
  ];
  return (
    <Panel
      title={words.title}
      flush
      actions={
        <PathLink path="/usage" className="text-table text-accent hover:underline">
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
              <StatusBadge status={statusOf(row)} />
            </>
          ),
        })}
      />
    </Panel>
  );
}

/** Cut, estimated and not charged look different and say so. */
export function statusOf({ status, estimated, cost }: Pick<ChargeRow, 'status' | 'estimated' | 'cost'>): Status {
  const statuses: Readonly<Record<ChargeStatus, Status>> = { ok: 'ok', cut: 'cut', left: 'cut', length: 'limitReached', error: 'failed' };
  if (status === 'error' && !/[1-9]/.test(cost)) return 'notCharged';
  return status === 'ok' && estimated ? 'estimated' : statuses[status];
}

function quantityOf({ tokens, quantity }: ChargeRow): string {
  if (tokens !== null) return `${formatCount(tokens.input)} / ${formatCount(tokens.output)}`;
  return quantity === null ? '—' : `${quantity.amount} × ${quantity.unit}`;
}
