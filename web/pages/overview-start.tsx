import { useQuery } from '@tanstack/react-query';
import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import type {
  BalanceView,
  ChargeView,
  FailedRequest,
  OverviewView,
  Page,
} from '../../src/console/contract.ts';
import { data, useSession } from '../api/data.ts';
import { ButtonLink } from '../components/button.tsx';
import { CodeBlock } from '../components/code-block.tsx';
import { Icon } from '../components/icon.tsx';
import { Panel } from '../components/page.tsx';
import { PathLink } from '../components/path-link.tsx';
import { formatYuan } from '../format/money.ts';
import { curlSample } from '../samples/curl.ts';
import { overviewWords, usageWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { useSentenceGap } from '../words/language.ts';
import { Rich } from '../words/rich.tsx';
import { ErrorCode } from './error-code.tsx';
import { usedText } from './overview-used.ts';

/**
 * The steps from a new account to a first charge. Steps that are done are ticked; the first open
 * one is unfolded.
 */
export function StartSteps({ view }: { readonly view: OverviewView }): ReactNode {
  const { start: words } = useWords(overviewWords);
  const { topped_up: toppedUp, has_key: hasKey, charged, first_charge: charge } = view.start;
  const gap = useSentenceGap();
  const facts = [toppedUp, hasKey, charged, false];
  const next = facts.indexOf(false);
  const balance = formatYuan(view.balance.available, 'balance');
  const { wallets, top_up: limits } = useSession();
  const howToPay =
    wallets.length === 0 ? words.noWallet : words.topUpNote(formatYuan(limits.least, 'balance'));
  return (
    <Panel title={words.title}>
      <ol className="flex flex-col gap-1">
        <Step
          number={1}
          done={toppedUp}
          open={next === 0}
          title={words.topUp}
          note={toppedUp ? words.topUpDone(balance) : howToPay}
        >
          <ButtonLink look="primary" to="/top-up" icon="topUp">
            {words.topUp}
          </ButtonLink>
        </Step>
        <Step number={2} done={hasKey} open={next === 1} title={words.key} note={words.keyNote}>
          <ButtonLink look="primary" to="/keys/new" icon="plus" data-shortcut="create">
            {words.key}
          </ButtonLink>
        </Step>
        <Step
          number={3}
          done={charged}
          open={next === 2}
          title={words.request}
          note={words.requestNote}
        >
          <FirstCall model={view.start.sample_model} />
        </Step>
        <Step number={4} done={false} open={next === 3} title={words.check} note={words.checkNote}>
          {charge && (
            <p className="text-body">
              <Works charge={charge} balance={view.balance} />
              {gap}
              <PathLink path={`/usage/${charge.id}`}>{words.see}</PathLink>
            </p>
          )}
        </Step>
      </ol>
    </Panel>
  );
}

/** The first charge in a sentence: the model, what it used, the cost, and what is left. */
export function Works({
  charge,
  balance,
}: {
  readonly charge: ChargeView;
  readonly balance: BalanceView;
}): ReactNode {
  const { start: words } = useWords(overviewWords);
  const { units } = useWords(usageWords);
  return words.works(
    charge.model,
    usedText(charge, words, units),
    formatYuan(charge.cost, 'row'),
    formatYuan(balance.available, 'balance'),
  );
}

interface StepProps {
  readonly number: number;
  readonly done: boolean;
  readonly open: boolean;
  readonly title: string;
  readonly note: string;
  readonly children: ReactNode;
}

function Step({ number, done, open, title, note, children }: StepProps): ReactNode {
  const { start: words } = useWords(overviewWords);
  return (
    <li
      className={clsx('flex gap-3 rounded-control p-3', open && 'bg-sunken')}
      aria-current={open ? 'step' : undefined}
    >
      <span
        className={clsx(
          'grid size-6 shrink-0 place-items-center rounded-full text-caption font-semibold',
          done
            ? 'bg-good-soft text-good'
            : open
              ? 'bg-accent text-on-accent'
              : 'bg-idle-soft text-muted',
        )}
      >
        {done ? (
          <Icon name="check" className="size-3.5" />
        ) : (
          <span aria-hidden="true">{number}</span>
        )}
        {done && <span className="sr-only">{words.done}</span>}
      </span>
      <div className="flex min-w-0 flex-1 flex-col gap-2">
        <p className="flex flex-wrap items-baseline gap-x-2">
          <span className={clsx('font-medium', !open && !done && 'text-muted')}>{title}</span>
          <span className="text-caption text-muted">{note}</span>
        </p>
        {open && <div>{children}</div>}
      </div>
    </li>
  );
}

function FirstCall({ model }: { readonly model: string | null }): ReactNode {
  const { start: words } = useWords(overviewWords);
  const { base_url: baseUrl } = useSession();
  return (
    <div className="flex flex-col gap-2">
      <p className="text-table text-muted">{words.run}</p>
      <CodeBlock
        code={curlSample(baseUrl, model ?? 'MODEL')}
        language="shell"
        label={words.sample}
      />
      <Arrived />
    </div>
  );
}

/** A failed request sends no event. */
const failedEveryMs = 5_000;
const countedMax = 50;

/**
 * That no request has come yet; or how many came and failed, and what the last one got. They are
 * fetched to be counted when there is a new one, and not with every look.
 */
function Arrived(): ReactNode {
  const { start: words } = useWords(overviewWords);
  const { tabs } = useWords(usageWords);
  const newest = useQuery({
    ...data<Page<FailedRequest>>('requests', { limit: 1 }),
    refetchInterval: failedEveryMs,
  });
  const newestId = newest.data?.items[0]?.id;
  const counted = data<Page<FailedRequest>>('requests', { limit: countedMax });
  const failed = useQuery({
    ...counted,
    queryKey: [...counted.queryKey, newestId ?? ''],
    enabled: newestId !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const last = failed.data?.items[0];
  return (
    <div
      role="status"
      className="flex flex-wrap items-center gap-x-2 gap-y-1 text-table text-muted"
    >
      <span
        aria-hidden="true"
        className={clsx('size-2 rounded-full skeleton-pulse', last ? 'bg-bad' : 'bg-accent')}
      />
      {failed.data === undefined || last === undefined ? (
        words.waiting
      ) : (
        <>
          <p className="text-text">
            <Rich
              text={words.failed(failed.data.items.length, failed.data.next !== null)}
              reason={
                <span className="inline-flex gap-x-1">
                  {last.status}
                  <ErrorCode request={last} />
                </span>
              }
            />
          </p>
          <PathLink path="/usage?tab=failed">{tabs.failed}</PathLink>
        </>
      )}
    </div>
  );
}
