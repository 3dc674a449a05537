import { useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { KeyDetail, LimitWindowView } from '../../src/console/contract.ts';
import { useData } from '../api/data.ts';
import { Button, ButtonLink, IconButton } from '../components/button.tsx';
import { CopyText } from '../components/copy.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Menu, MenuItem } from '../components/menu.tsx';
import { Money } from '../components/money.tsx';
import { Page, Panel } from '../components/page.tsx';
import { PathLink } from '../components/path-link.tsx';
import { RankList } from '../components/rank-list.tsx';
import { SpendChart } from '../components/spend-chart.tsx';
import { StatusBadge } from '../components/status-badge.tsx';
import { Time, ZoneNote } from '../components/time.tsx';
import { formatCount } from '../format/count.ts';
import { keysWords, sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { Rich } from '../words/rich.tsx';
import { DeleteKey, OldSecret, RotateKey } from './key-acts.tsx';
import { EditKey } from './key-edit.tsx';
import { keyStatuses, shownKey, SpentOfLimit, useKeySwitch } from './key-parts.tsx';
import { StopKey } from './keys.tsx';

/** One key: its cost and its limits. */
export function KeyPage(): ReactNode {
  const words = useWords(keysWords);
  const { id = '' } = useParams({ strict: false });
  const key = useData<KeyDetail>(`keys/${id}`);
  return (
    <Page
      title={key.data?.name ?? words.title}
      above={[{ label: words.title, to: '/keys' }]}
      note={key.data && <ZoneNote at={new Date(key.dataUpdatedAt).toISOString()} />}
      actions={key.data && <Actions detail={key.data} />}
    >
      <Loaded query={key}>{(detail) => <Detail detail={detail} />}</Loaded>
    </Page>
  );
}

function Actions({ detail }: { readonly detail: KeyDetail }): ReactNode {
  const words = useWords(keysWords);
  const turn = useKeySwitch();
  const navigate = useNavigate();
  const [open, setOpen] = useState<'edit' | 'stop' | 'rotate' | 'delete'>();
  const close = () => setOpen(undefined);
  const stop = () =>
    detail.requests_last_hour > 0 ? setOpen('stop') : void turn(detail, 'disable');
  return (
    <>
      {detail.state === 'disabled' ? (
        <Button icon="check" onClick={() => void turn(detail, 'enable')}>
          {words.enable}
        </Button>
      ) : (
        <Button icon="pause" onClick={stop}>
          {words.disable}
        </Button>
      )}
      <Button icon="refresh" onClick={() => setOpen('rotate')}>
        {words.rotate.open}
      </Button>
      <Menu trigger={<IconButton icon="more" label={words.menu(detail.name)} />}>
        <MenuItem icon="trash" danger onSelect={() => setOpen('delete')}>
          {words.remove.open}
        </MenuItem>
      </Menu>
      <Button look="primary" icon="edit" onClick={() => setOpen('edit')}>
        {words.detail.edit}
      </Button>
      {open === 'edit' && <EditKey detail={detail} onClose={close} />}
      {open === 'stop' && <StopKey detail={detail} onClose={close} />}
      {open === 'rotate' && <RotateKey keyView={detail} onClose={close} />}
      {open === 'delete' && (
        <DeleteKey
          keyView={detail}
          onClose={close}
          onDeleted={() => void navigate({ to: '/keys' })}
        />
      )}
    </>
  );
}

function Detail({ detail }: { readonly detail: KeyDetail }): ReactNode {
  const { detail: words } = useWords(keysWords);
  const modelsTitle = (detail.only_models === null ? words.models : words.onlyModels)(
    detail.models.length,
  );
  return (
    <div className="grid gap-4 lg:grid-cols-[2fr_1fr]">
      <div className="flex min-w-0 flex-col gap-4">
        <OldSecret keyView={detail} />
        <Panel
          title={words.spend}
          actions={
            <ButtonLink look="ghost" size="small" to="/usage" search={{ key: detail.id } as never}>
              {words.usage}
            </ButtonLink>
          }
        >
          <SpendChart
            series={detail.series}
            empty={words.nothing}
            summary={(total) => words.summary(total)}
          />
        </Panel>
        <Panel title={words.top}>
          <TopOfKey detail={detail} />
        </Panel>
      </div>
      <div className="flex min-w-0 flex-col gap-4">
        <Facts detail={detail} />
        <Panel title={modelsTitle}>
          <ul
            className="flex max-h-72 flex-col gap-1 overflow-y-auto text-table"
            tabIndex={0}
            aria-label={modelsTitle}
          >
            {detail.models.map((model) => (
              <li key={model} className="min-w-0 shrink-0 truncate">
                <PathLink path={`/models/${model}`}>{model}</PathLink>
              </li>
            ))}
          </ul>
        </Panel>
      </div>
    </div>
  );
}

function TopOfKey({ detail: { top } }: { readonly detail: KeyDetail }): ReactNode {
  const { detail: words } = useWords(keysWords);
  const { units } = useWords(sharedWords);
  if (top.length === 0) return <p className="text-table text-muted">{words.nothing}</p>;
  const ranks = top.map(({ model, cost, share, requests }) => ({
    id: model,
    name: model,
    value: { cost },
    share,
    note: units.requests(formatCount(requests)),
  }));
  return <RankList label={words.top} ranks={ranks} />;
}

/** The limits of a key, if it has any. */
function termFacts(
  { addresses, rpm, tpm, concurrency }: KeyDetail,
  words: TermWords,
): readonly (readonly [string, ReactNode])[] {
  const count = (value: number | null): string | null =>
    value === null ? null : formatCount(value);
  const facts: readonly (readonly [string, string | null])[] = [
    [words.addresses, addresses?.join(', ') ?? null],
    [words.rpm, count(rpm)],
    [words.tpm, count(tpm)],
    [words.concurrency, count(concurrency)],
  ];
  return facts.filter(([, value]) => value !== null);
}

type TermWords = Readonly<Record<'addresses' | 'rpm' | 'tpm' | 'concurrency', string>>;

/** What is spent of a daily or monthly limit, and when it begins anew. */
function Window({
  limit,
  window,
}: {
  readonly limit: string | null;
  readonly window: LimitWindowView | null;
}): ReactNode {
  const words = useWords(keysWords);
  if (window === null) return <span className="text-faint">{words.noLimit}</span>;
  return (
    <span className="flex flex-col items-end">
      <SpentOfLimit spent={window.spent} limit={limit} />
      <span className="text-caption text-muted">
        <Rich text={words.detail.resets} time={<Time at={window.resets_at} />} />
      </span>
    </span>
  );
}

function Facts({ detail }: { readonly detail: KeyDetail }): ReactNode {
  const words = useWords(keysWords);
  const { columns } = words;
  const facts: readonly (readonly [string, ReactNode])[] = [
    [columns.status, <StatusBadge key="" status={keyStatuses[detail.state]} />],
    [
      columns.key,
      <span key="" className="font-mono text-caption">
        {shownKey(detail)}
      </span>,
    ],
    [columns.group, detail.group],
    [columns.spent, <SpentOfLimit key="" {...detail} />],
    [columns.month, <Money key="" amount={detail.spent_this_month} as="spend" />],
    [words.detail.daily, <Window key="" limit={detail.daily_limit} window={detail.daily} />],
    [words.detail.monthly, <Window key="" limit={detail.monthly_limit} window={detail.monthly} />],
    ...termFacts(detail, words.form),
    [columns.used, <Time key="" at={detail.last_used_at} as="relative" absent={words.unused} />],
    [columns.expires, <Time key="" at={detail.expires_at} absent={words.never} />],
    [words.detail.created, <Time key="" at={detail.created_at} />],
    [words.detail.id, <CopyText key="" text={detail.id} label={words.detail.id} />],
  ];
  return (
    <Panel title={words.detail.facts}>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-2 text-table">
        {facts.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-muted">{name}</dt>
            <dd className="flex min-w-0 justify-end text-right break-words">{value}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
