import type { ReactNode } from 'react';
import type {
  ChargeView,
  FailedPage,
  FailedRequest,
  OrderView,
  Page as PageOf,
  StatementRow,
  StatementView,
} from '../../../src/console/contract.ts';
import { useData } from '../../api/data.ts';
import { useSearchState } from '../../browser/search-state.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/error-panel.tsx';
import { Fact, Facts } from '../../components/facts.tsx';
import { ListPanel } from '../../components/list-panel.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Money } from '../../components/money.tsx';
import { Panel } from '../../components/page.tsx';
import { Badge } from '../../components/status-badge.tsx';
import { named } from '../../components/named-columns.ts';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { formatCount } from '../../format/count.ts';
import { daysOfMonth, isDay, monthBefore } from '../../format/day.ts';
import { formatDuration } from '../../format/time.ts';
import { peopleWords, usageWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { ChargeStatus } from '../charge-parts.tsx';
import { FailedList } from '../request-parts.tsx';
import { ChargeDrawer } from '../usage-record.tsx';
import { OrderBadge } from './order-parts.tsx';
import { useWalletName } from './wallet-name.ts';

export interface TabProps {
  /** The API path of the user's own views, as the operator reads them. */
  readonly base: string;
}

const searchDefaults = { after: '' };
/** `2026-10`; empty: this month. */
const statementSearch = { month: '' };
/** `charge` is the id of the charge that is open beside the list. */
const chargeSearch = { after: '', charge: '' };

/** A month's statement, as the user sees it. */
export function UserStatement({ base }: TabProps): ReactNode {
  const { statement: words, user } = useWords(peopleWords);
  const [{ month }, change] = useSearchState(statementSearch);
  const days = isDay(`${month}-01`) ? daysOfMonth(month) : {};
  const statement = useData<StatementView>(`${base}/statement`, days);
  return (
    <Loaded query={statement}>
      {(view) => (
        <div className="grid gap-4 xl:grid-cols-[minmax(0,1fr)_minmax(0,2fr)]">
          <Panel title={user.tabs.statement} className="self-start">
            <p className="mb-3 text-caption text-muted">
              {words.period(view.from, view.to, view.zone)}
            </p>
            <div className="mb-3 flex flex-wrap gap-2">
              <Button
                size="small"
                icon="left"
                onClick={() => change({ month: monthBefore(view.from) })}
              >
                {words.earlier}
              </Button>
              {month !== '' && (
                <Button size="small" onClick={() => change(statementSearch)}>
                  {words.thisMonth}
                </Button>
              )}
            </div>
            <Facts>
              <Fact name={words.opening}>
                <Money amount={view.opening.balance} as="exact" />
              </Fact>
              {(['top_ups', 'charges', 'refunds', 'adjustments'] as const).map((each) => (
                <Fact key={each} name={words[each === 'top_ups' ? 'topUps' : each]}>
                  <Money amount={view[each].amount} as="exact" signed />
                </Fact>
              ))}
              <Fact name={<b className="font-semibold text-text">{words.closing}</b>}>
                <Money amount={view.closing.balance} as="exact" />
              </Fact>
            </Facts>
            <p className="mt-3">
              {view.adds_up ? (
                <Badge tone="good" icon="check">
                  {words.addsUp}
                </Badge>
              ) : (
                <Badge tone="bad" icon="failed">
                  {words.wrong}
                </Badge>
              )}
            </p>
          </Panel>
          <Panel flush>
            {view.rows.length === 0 ? (
              <EmptyState text={words.empty} />
            ) : (
              <Moves rows={view.rows} />
            )}
          </Panel>
        </div>
      )}
    </Loaded>
  );
}

function Moves({ rows }: { readonly rows: readonly StatementRow[] }): ReactNode {
  const { statement: words } = useWords(peopleWords);
  const { columns } = words;
  const what = (row: StatementRow) => words.kinds[row.kind];
  const reason = (row: StatementRow) => (row.kind === 'charges' ? null : row.reason);
  const listed: readonly Column<StatementRow>[] = named(columns, [
    { id: 'day', cell: ({ day }) => day },
    {
      id: 'what',
      cell: (row) => (
        <span className="block max-w-72 truncate">
          {what(row)} <span className="text-muted">{reason(row)}</span>
        </span>
      ),
    },
    {
      id: 'requests',
      align: 'right',
      cell: (row) => (row.kind === 'charges' ? formatCount(row.requests) : ''),
    },
    {
      id: 'amount',
      align: 'right',
      cell: ({ amount }) => <Money amount={amount} as="exact" signed />,
    },
    { id: 'balance', align: 'right', cell: ({ balance }) => <Money amount={balance} as="exact" /> },
  ]);
  return (
    <Table
      label={words.columns.what}
      rows={rows}
      rowKey={(row) => (row.kind === 'charges' ? row.from : row.id)}
      columns={listed}
      card={(row) => ({
        title: what(row),
        value: <Money amount={row.amount} as="exact" signed />,
        detail: (
          <>
            <span>{row.day}</span>
            <span>{reason(row)}</span>
          </>
        ),
      })}
    />
  );
}

export function UserUsage({ base }: TabProps): ReactNode {
  const { usage: words } = useWords(peopleWords);
  const search = useSearchState(chargeSearch);
  const [{ after, charge }, setState] = search;
  const usage = useData<PageOf<ChargeView>>(`${base}/usage`, { after });
  const open = (id: string) => setState({ after, charge: id });
  return (
    <>
      <ListPanel query={usage} search={search} empty={words.empty}>
        {(rows) => <Charges charges={rows} shown={charge} base={base} onOpen={open} />}
      </ListPanel>
      {charge !== '' && <ChargeDrawer id={charge} base={base} onClose={() => open('')} />}
    </>
  );
}

interface ChargesProps extends TabProps {
  readonly charges: readonly ChargeView[];
  readonly shown: string;
  readonly onOpen: (id: string) => void;
}

function Charges({ charges, shown, base, onOpen }: ChargesProps): ReactNode {
  const { usage: words } = useWords(peopleWords);
  const { units } = useWords(usageWords);
  const { columns } = words;
  const size = ({ tokens, quantity }: ChargeView) =>
    tokens === null
      ? quantity && units[quantity.unit](formatCount(quantity.amount))
      : `${formatCount(tokens.input)} / ${formatCount(tokens.output)}`;
  const rows: readonly Column<ChargeView>[] = named(columns, [
    { id: 'time', cell: ({ at }) => <Time at={at} /> },
    {
      id: 'model',
      cell: ({ model }) => <span className="block max-w-40 truncate xl:max-w-64">{model}</span>,
    },
    {
      id: 'key',
      spare: 1,
      cell: ({ key_name: name }) => <span className="block max-w-48 truncate">{name}</span>,
    },
    { id: 'tokens', align: 'right', cell: size },
    { id: 'total', spare: 2, align: 'right', cell: ({ total_ms: ms }) => formatDuration(ms) },
    { id: 'status', cell: (charge) => <ChargeStatus charge={charge} /> },
    { id: 'cost', amount: ({ cost }) => cost, as: 'row', estimated: ({ estimated }) => estimated },
  ]);
  return (
    <Table
      label={columns.cost}
      rows={charges}
      rowKey={({ id }) => id}
      columns={rows}
      selected={shown}
      path={({ id }) => `/${base}?tab=usage&charge=${id}`}
      onOpen={({ id }) => onOpen(id)}
      card={(charge) => ({
        title: charge.model,
        value: <Money amount={charge.cost} as="row" estimated={charge.estimated} />,
        detail: (
          <>
            <Time at={charge.at} />
            <span className="max-w-40 truncate">{charge.key_name}</span>
            <ChargeStatus charge={charge} />
          </>
        ),
      })}
    />
  );
}

/** The user's requests that got no whole answer; each opens with its channels. */
export function UserFailed({ base }: TabProps): ReactNode {
  const search = useSearchState(searchDefaults);
  return (
    <FailedList
      query={useData<FailedPage<FailedRequest>>(`${base}/requests`, search[0])}
      search={search}
      path={({ id }) => `/operator/requests/${id}`}
    />
  );
}

export function UserOrders({ base }: TabProps): ReactNode {
  const { orders: words } = useWords(peopleWords);
  const wallet = useWalletName();
  const search = useSearchState(searchDefaults);
  const orders = useData<PageOf<OrderView>>(`${base}/orders`, search[0]);
  const { columns } = words;
  const listed: readonly Column<OrderView>[] = named(columns, [
    { id: 'time', cell: (order) => <Time at={order.created_at} /> },
    { id: 'wallet', cell: (order) => wallet(order.wallet) },
    { id: 'state', cell: (order) => <OrderBadge order={order} /> },
    { id: 'amount', amount: (order) => order.amount, as: 'balance' },
    { id: 'refunded', amount: (order) => order.refunded, as: 'balance' },
  ]);
  return (
    <ListPanel query={orders} search={search} empty={words.empty}>
      {(rows) => (
        <Table
          label={words.title}
          rows={rows}
          rowKey={({ id }) => id}
          columns={listed}
          path={({ id }) => `/operator/orders?order=${id}`}
          card={(order) => ({
            title: <Time at={order.created_at} />,
            value: <Money amount={order.amount} as="balance" />,
            detail: (
              <>
                <OrderBadge order={order} />
                <span>{wallet(order.wallet)}</span>
              </>
            ),
          })}
        />
      )}
    </ListPanel>
  );
}
