import { type ReactNode, useEffect } from 'react';
import type { StatementView } from '../../src/console/contract.ts';
import { addressOf, type Query } from '../api/client.ts';
import {
  prefetch,
  queryClient,
  sessionData,
  useData,
  useSession,
  type Visit,
} from '../api/data.ts';
import { useNow } from '../browser/now.ts';
import { useSearchState } from '../browser/search-state.ts';
import { Button, ButtonLink } from '../components/button.tsx';
import { EmptyState } from '../components/error-panel.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Menu, MenuItem } from '../components/menu.tsx';
import { Page, Panel } from '../components/page.tsx';
import { Skeleton, SkeletonRows } from '../components/skeleton.tsx';
import { useZone } from '../components/time.tsx';
import { Unbroken } from '../components/unbroken.tsx';
import { dayFrom, daysOfMonth, isDay, monthBefore } from '../format/day.ts';
import { formatZone } from '../format/time.ts';
import { statementWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { RangeField } from './range-field.tsx';
import { StatementProofPanel, useVerify } from './statement-proof.tsx';
import { StatementMoves } from './statement-moves.tsx';
import { BalanceChart, StatementSummary } from './statement-summary.tsx';

const presets = ['this-month', 'last-month', '-7d'] as const;
/** `open`: the `from` of unfolded days, separated by commas. */
const searchDefaults = { from: 'this-month', to: '', open: '' };
const startDays = 14;

/** The days of a preset, both included, as of today. */
function daysOf(
  from: string,
  to: string,
  nowMs: number,
  zone: string,
): { readonly from: string; readonly to: string } {
  const today = dayFrom(nowMs, 0, zone);
  const month = `${today.slice(0, 7)}-01`;
  if (isDay(from)) return { from, to: isDay(to) ? to : today };
  if (from === '-7d') return { from: dayFrom(nowMs, -6, zone), to: today };
  if (from !== 'last-month') return { from: month, to: today };
  return daysOfMonth(monthBefore(today));
}

export function ahead({ search }: Visit): void {
  const zone = queryClient.getQueryData(sessionData.queryKey)?.me?.settings.zone;
  const { from, to }: typeof searchDefaults = { ...searchDefaults, ...search };
  if (zone !== undefined) prefetch('statement', daysOf(from, to, Date.now(), zone));
}

/** All income and spending by day, request and line, with a proof of the sum. */
export function StatementPage(): ReactNode {
  const words = useWords(statementWords);
  const [{ from, to, open }, change] = useSearchState(searchDefaults);
  const zone = useZone();
  const nowMs = useNow();
  const days = daysOf(from, to, nowMs, zone);
  const statement = useData<StatementView>('statement', days);
  useSameBalance(statement.data);
  const verify = useVerify(days);
  const note = words.days(
    days.from,
    days.to,
    formatZone(zone, statement.data?.as_of ?? new Date(nowMs).toISOString()),
  );
  return (
    <Page
      title={words.title}
      note={
        <p className="text-caption text-muted">
          <Unbroken text={note} />
        </p>
      }
      actions={
        <>
          <RangeField
            words={words.range}
            presets={presets.map((preset) => [preset, words.range[preset]])}
            from={from}
            to={to || days.to}
            own={{ from: dayFrom(nowMs, 1 - startDays, zone), to: days.to }}
            onChange={(range) => change({ ...range, open: '' })}
          />
          <Button icon="shield" busy={verify.isPending} onClick={() => verify.mutate()}>
            {words.verify}
          </Button>
          <CsvMenu days={days} />
        </>
      }
    >
      <StatementProofPanel verify={verify} />
      <Loaded query={statement} skeleton={<StatementSkeleton />}>
        {(view) => (
          <div className="flex flex-col gap-4">
            <div className="grid gap-4 lg:grid-cols-2">
              <StatementSummary view={view} />
              <BalanceChart view={view} />
            </div>
            <Panel flush title={words.moves}>
              {view.rows.length === 0 ? (
                <EmptyState text={words.empty}>
                  <ButtonLink look="primary" icon="topUp" to="/top-up">
                    {words.topUp}
                  </ButtonLink>
                </EmptyState>
              ) : (
                <StatementMoves
                  rows={view.rows}
                  open={open === '' ? [] : open.split(',')}
                  onOpen={(next) => change({ open: next.join(',') }, { replace: true })}
                />
              )}
            </Panel>
          </div>
        )}
      </Loaded>
    </Page>
  );
}

/**
 * Where a statement tells another balance than the one above the page, that one is fetched again: a
 * charge may have come in between, and its event comes later than the statement.
 */
function useSameBalance(statement: StatementView | undefined): void {
  const { balance } = useSession();
  const told = statement?.available;
  const shown = balance?.available;
  useEffect(() => {
    if (told !== undefined && told !== shown)
      void queryClient.invalidateQueries({ queryKey: sessionData.queryKey });
    // oxlint-disable-next-line react/exhaustive-deps -- an older statement follows a newer balance
  }, [statement]);
}

const levels = ['day', 'request', 'line'] as const;

function CsvMenu({ days }: { readonly days: Query }): ReactNode {
  const words = useWords(statementWords);
  return (
    <Menu trigger={<Button icon="download">{words.csv}</Button>}>
      {levels.map((level) => (
        <MenuItem key={level} asChild>
          <a href={addressOf('statement.csv', { ...days, level })} download className="text-text">
            {words.csvLevels[level]}
          </a>
        </MenuItem>
      ))}
    </Menu>
  );
}

function StatementSkeleton(): ReactNode {
  return (
    <div className="flex flex-col gap-4">
      <div className="grid gap-4 lg:grid-cols-2">
        <Skeleton className="h-72" />
        <Skeleton className="h-72" />
      </div>
      <Panel flush title={<Skeleton className="h-4 w-32" />}>
        <SkeletonRows />
      </Panel>
    </div>
  );
}
