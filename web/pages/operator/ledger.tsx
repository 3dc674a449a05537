import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type {
  LedgerCheckEvents,
  LedgerCheckView,
  LedgerRule,
  List,
} from '../../../src/console/contract.ts';
import { sendForEvents } from '../../api/server-events.ts';
import { data, prefetch, queryClient } from '../../api/data.ts';
import { Button } from '../../components/button.tsx';
import { DocsLink } from '../../components/docs-link.tsx';
import { FormProblem } from '../../components/form.tsx';
import { EmptyState } from '../../components/error-panel.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Page, Panel } from '../../components/page.tsx';
import { Badge } from '../../components/status-badge.tsx';
import { named } from '../../components/named-columns.ts';
import { type Column, Table } from '../../components/table.tsx';
import { Time, ZoneNote } from '../../components/time.tsx';
import { formatCount } from '../../format/count.ts';
import { formatDuration } from '../../format/time.ts';
import { bookWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { useSentenceGap } from '../../words/language.ts';
import { LedgerMoney } from './ledger-money.tsx';
import { LedgerRules } from './ledger-rules.tsx';

const path = 'operator/ledger/checks';
const watchMs = 700;

export const ahead = () => prefetch(path);

/**
 * Whether the ledger balances. A check runs on the server: it goes on when the operator leaves the
 * page.
 */
export function LedgerPage(): ReactNode {
  const { ledger: words } = useWords(bookWords);
  const checks = useQuery({
    ...data<List<LedgerCheckView>>(path),
    refetchInterval: ({ state }) => (state.data?.items[0]?.running ? watchMs : false),
  });
  const { going, received, error, run } = useCheck();
  const last = checks.data?.items[0];
  const running = going || last?.running === true;
  return (
    <Page
      title={words.title}
      note={<ZoneNote />}
      actions={
        <Button look="primary" icon="ledger" busy={running} onClick={() => void run()}>
          {words.run}
        </Button>
      }
    >
      <FormProblem error={error} />
      <Loaded query={checks}>
        {({ items }) =>
          items.length === 0 && !going ? (
            <Panel>
              <EmptyState text={words.none} />
            </Panel>
          ) : (
            <div className="flex flex-col gap-4">
              <Last check={items[0]} rules={going ? received : []} running={running} />
              {items.length > 1 && <Earlier checks={items.slice(1)} />}
            </div>
          )
        }
      </Loaded>
    </Page>
  );
}

/** Starts a check and receives its rules one by one; leaving the page ends only the receiving. */
function useCheck() {
  const [going, setGoing] = useState(false);
  const [received, setReceived] = useState<readonly LedgerRule[]>([]);
  const [error, setError] = useState<Error | null>(null);
  const left = useRef<AbortController>(undefined);
  useEffect(() => () => left.current?.abort(), []);
  const run = async (): Promise<void> => {
    const { signal } = (left.current = new AbortController());
    setGoing(true);
    setReceived([]);
    setError(null);
    try {
      await sendForEvents<LedgerCheckEvents>(
        'operator/ledger/check',
        { signal },
        {
          rule: (rule) =>
            setReceived((old) => [...old.filter((each) => each.rule !== rule.rule), rule]),
          done: () => undefined,
        },
      );
    } catch (thrown) {
      if (!signal.aborted) setError(thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
    await queryClient.invalidateQueries({ queryKey: [path] });
    setGoing(false);
  };
  return { going, received, error, run };
}

interface LastProps {
  readonly check: LedgerCheckView | undefined;
  readonly rules: readonly LedgerRule[];
  readonly running: boolean;
}

function Last({ check, rules: received, running }: LastProps): ReactNode {
  const { ledger: words } = useWords(bookWords);
  const gap = useSentenceGap();
  const rules = received.length > 0 ? received : (check?.rules ?? []);
  return (
    <>
      <Panel
        title={words.last}
        actions={check !== undefined && !running && <Result check={check} />}
      >
        {running ? (
          <p role="status" className="mb-3 text-table text-muted">
            {words.leave}
          </p>
        ) : (
          check && <CheckSummary check={check} />
        )}
        <LedgerRules rules={rules} check={running ? undefined : check} />
        <p className="mt-3 border-t border-line pt-3 text-caption text-muted">
          {words.countedHelp}
          {gap}
          <DocsLink to="ledger">{words.about}</DocsLink>
        </p>
      </Panel>
      {!running && check?.customers && <LedgerMoney customers={check.customers} />}
    </>
  );
}

function CheckSummary({ check }: { readonly check: LedgerCheckView }): ReactNode {
  const { ledger: words } = useWords(bookWords);
  return (
    <p className="mb-3 text-table text-muted">
      <Time at={check.started_at} /> · {check.nightly ? words.nightly : words.byHand} ·{' '}
      {check.took_ms !== null && `${words.took(formatDuration(check.took_ms))} · `}
      {counted(check, words.counted)}
    </p>
  );
}

function counted(
  { accounts, transfers, holds }: LedgerCheckView,
  format: (accounts: string, transfers: string, holds: string) => string,
): string {
  return format(formatCount(accounts), formatCount(transfers), formatCount(holds));
}

function Result({ check: { ok, running, rules } }: { readonly check: LedgerCheckView }): ReactNode {
  const { ledger: words } = useWords(bookWords);
  if (running)
    return (
      <Badge tone="accent" icon="dot">
        {words.running}
      </Badge>
    );
  if (ok === null)
    return (
      <Badge tone="warn" icon="warning">
        {words.lost}
      </Badge>
    );
  return (
    <Badge tone={ok ? 'good' : 'bad'} icon={ok ? 'check' : 'failed'}>
      {ok ? words.ok : words.failed(rules.filter(({ state }) => state === 'failed').length)}
    </Badge>
  );
}

function Earlier({ checks }: { readonly checks: readonly LedgerCheckView[] }): ReactNode {
  const { ledger: words } = useWords(bookWords);
  const { columns } = words;
  const took = ({ took_ms: ms }: LedgerCheckView) => (ms === null ? '—' : formatDuration(ms));
  const rows: readonly Column<LedgerCheckView>[] = named(columns, [
    { id: 'started', cell: ({ started_at: at }) => <Time at={at} /> },
    { id: 'begun', cell: ({ nightly }) => (nightly ? words.nightly : words.byHand) },
    { id: 'result', cell: (check) => <Result check={check} /> },
    { id: 'took', align: 'right', cell: took },
    {
      id: 'size',
      cell: (check) => <span className="text-muted">{counted(check, words.counted)}</span>,
    },
  ]);
  return (
    <Panel flush title={words.earlier}>
      <Table
        label={words.earlier}
        rows={checks}
        rowKey={({ id }) => id}
        columns={rows}
        card={(check) => ({
          title: <Time at={check.started_at} />,
          value: <Result check={check} />,
          detail: (
            <>
              <span>{check.nightly ? words.nightly : words.byHand}</span>
              <span>{words.took(took(check))}</span>
              <span>{counted(check, words.counted)}</span>
            </>
          ),
        })}
      />
    </Panel>
  );
}
