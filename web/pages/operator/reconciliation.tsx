import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type {
  OperatorOrder,
  Reconciliation,
  ReconciliationDifference,
  ReconciliationSum,
} from '../../../src/console/contract.ts';
import { send } from '../../api/client.ts';
import { queryClient, useData, useSession } from '../../api/data.ts';
import { useNow } from '../../browser/now.ts';
import { useSearchState } from '../../browser/search-state.ts';
import { Banner } from '../../components/banner.tsx';
import { FormProblem } from '../../components/form.tsx';
import { Button } from '../../components/button.tsx';
import { CopyText } from '../../components/copy.tsx';
import { DayInput } from '../../components/day-input.tsx';
import { EmptyState } from '../../components/error-panel.tsx';
import { ChoiceField } from '../../components/choice.tsx';
import { Field } from '../../components/field.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Money } from '../../components/money.tsx';
import { Page, Panel } from '../../components/page.tsx';
import { PathLink } from '../../components/path-link.tsx';
import { named } from '../../components/named-columns.ts';
import { type Column, Table } from '../../components/table.tsx';
import { Time, ZoneNote } from '../../components/time.tsx';
import { useToast } from '../../components/toast.tsx';
import { isDay } from '../../format/day.ts';
import { formatCount } from '../../format/count.ts';
import { peopleWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { Rich } from '../../words/rich.tsx';
import { lastBilledDay, lastDayOver } from './bill-day.ts';
import { orderAddress, refreshOrders } from './order-parts.tsx';
import { useAct } from './parts.tsx';
import { useWalletName } from './wallet-name.ts';

const searchDefaults = { date: '', wallet: '' };
const path = 'operator/reconciliation';

interface BillDayProps {
  readonly day: string;
  readonly last: string;
  readonly onDay: (day: string) => void;
}

/** The day of the bill, taken when typing ends; a later one than the last becomes the last. */
function BillDay({ day, last, onDay }: BillDayProps): ReactNode {
  const { reconciliation: words } = useWords(peopleWords);
  const [text, setText] = useState(day);
  const [wrong, setWrong] = useState(false);
  const take = (value: string) => {
    setWrong(!isDay(value));
    if (!isDay(value)) return;
    const taken = value > last ? last : value;
    setText(taken);
    if (taken !== day) onDay(taken);
  };
  return (
    <Field label={words.day} className="w-44" error={wrong ? 'not_a_day' : undefined}>
      {(tied) => <DayInput {...tied} max={last} value={text} onChange={setText} onDone={take} />}
    </Field>
  );
}

/** A wallet's bill of one day beside the ledger. */
export function ReconciliationPage(): ReactNode {
  const { reconciliation: words } = useWords(peopleWords);
  const { wallets } = useSession();
  const [state, setState] = useSearchState(searchDefaults);
  const now = useNow();
  const billed = lastBilledDay(now);
  const date = isDay(state.date) ? state.date : billed;
  const wallet = wallets.find((each) => each === state.wallet) ?? wallets[0];
  const name = useWalletName();
  return (
    <Page title={words.title} note={<ZoneNote />}>
      {wallet === undefined ? (
        <Panel>
          <EmptyState text={words.noWallet} />
        </Panel>
      ) : (
        <>
          <div className="flex flex-wrap items-end gap-3">
            <BillDay
              key={date}
              day={date}
              last={lastDayOver(now)}
              onDay={(day) => setState({ date: day === billed ? '' : day })}
            />
            <ChoiceField
              label={words.wallet}
              className="w-44"
              value={wallet}
              options={wallets.map((each) => [each, name(each)] as const)}
              onChange={(chosen) => setState({ wallet: chosen })}
            />
          </div>
          <Report key={`${date} ${wallet}`} date={date} wallet={wallet} />
        </>
      )}
    </Page>
  );
}

function Report({ date, wallet }: { readonly date: string; readonly wallet: string }): ReactNode {
  const { reconciliation: words } = useWords(peopleWords);
  const report = useData<Reconciliation>(path, { date, wallet });
  const name = useWalletName();
  const run = useMutation({
    mutationFn: () => send<Reconciliation>('POST', `${path}/run`, { body: { date, wallet } }),
    onSuccess: (done) => queryClient.setQueryData([path, { date, wallet }], done),
  });
  const ran = report.data?.run_at ?? null;
  return (
    <div className="flex flex-col gap-4">
      <FormProblem error={run.error} />
      <Panel
        flush
        title={`${date} · ${name(wallet)}`}
        actions={
          <Button
            look={ran === null ? 'primary' : 'secondary'}
            size="small"
            icon="refresh"
            busy={run.isPending}
            onClick={() => run.mutate()}
          >
            {ran === null ? words.run : words.again}
          </Button>
        }
      >
        <Loaded query={report}>{(view) => <Sums report={view} />}</Loaded>
      </Panel>
      {report.data !== undefined && ran !== null && (
        <Differences differences={report.data.differences} />
      )}
    </div>
  );
}

function Sums({ report }: { readonly report: Reconciliation }): ReactNode {
  const { reconciliation: words } = useWords(peopleWords);
  const { columns } = words;
  const { run_at: at, sums, bill_lines: bill, our_lines: ours } = report;
  if (at === null) return <EmptyState text={words.notRun} />;
  const rows: readonly Column<ReconciliationSum>[] = named(columns, [
    { id: 'what', cell: ({ what }) => words.sums[what] },
    { id: 'count', align: 'right', cell: ({ count }) => formatCount(count) },
    { id: 'wallet', amount: (sum) => sum.wallet, as: 'balance' },
    { id: 'ours', amount: (sum) => sum.ours, as: 'balance' },
    { id: 'difference', amount: (sum) => sum.difference, as: 'balance' },
  ]);
  return (
    <>
      <p className="border-b border-line px-4 py-2 text-table text-muted">
        <Rich text={words.ran(formatCount(bill), formatCount(ours))} at={<Time at={at} />} />
      </p>
      <Table
        label={words.title}
        rows={sums}
        rowKey={({ what }) => what}
        columns={rows}
        card={(sum) => ({
          title: words.sums[sum.what],
          value: <Money amount={sum.difference} as="balance" />,
          detail: (
            <>
              <span>
                {columns.count} {formatCount(sum.count)}
              </span>
              <span>
                {columns.wallet} <Money amount={sum.wallet} as="balance" />
              </span>
              <span>
                {columns.ours} <Money amount={sum.ours} as="balance" />
              </span>
            </>
          ),
        })}
      />
    </>
  );
}

function Differences({
  differences,
}: {
  readonly differences: readonly ReconciliationDifference[];
}): ReactNode {
  const { reconciliation: words } = useWords(peopleWords);
  if (differences.length === 0) return <Banner tone="good">{words.clean}</Banner>;
  return (
    <Panel flush title={words.differences}>
      <p className="border-b border-line px-4 py-2 text-table text-muted">{words.advice}</p>
      <ul className="divide-y divide-line">
        {differences.map((difference) => (
          <Difference
            key={`${difference.what} ${difference.order ?? ''} ${difference.wallet_no ?? ''}`}
            difference={difference}
          />
        ))}
      </ul>
    </Panel>
  );
}

function Difference({ difference }: { readonly difference: ReconciliationDifference }): ReactNode {
  const { reconciliation: words, orders } = useWords(peopleWords);
  const act = useAct();
  const toast = useToast();
  const { what, order, wallet_no: number, wallet, ours, at, next_day: later } = difference;
  const query = (id: string) =>
    act(async () => {
      const { state } = await send<OperatorOrder>('POST', `${orderAddress(id)}/query`);
      toast({ tone: 'done', text: words.queried(orders.states[state]) });
      await refreshOrders();
    });
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5 text-table">
      <span className="min-w-0 flex-1 basis-64">
        <span className="font-medium">{words.sums[what]}</span> <Time at={at} />
        {later && <span className="block text-caption text-muted">{words.nextDay}</span>}
      </span>
      <span className="flex min-w-0 flex-col">
        {order === null ? (
          <span className="text-muted">{words.unknownOrder}</span>
        ) : (
          <PathLink path={`/operator/orders?order=${order}`}>
            <span className="font-mono text-caption">{order}</span>
          </PathLink>
        )}
        {number !== null && <CopyText text={number} label={words.walletNo} />}
      </span>
      <span className="figures">
        {words.columns.wallet} <Money amount={wallet} as="balance" /> · {words.columns.ours}{' '}
        <Money amount={ours} as="balance" />
      </span>
      {what === 'paid_not_credited' && order !== null && (
        <Button size="small" onClick={() => void query(order)}>
          {words.queryAndCredit}
        </Button>
      )}
    </li>
  );
}
