import { useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { KeyDetail, LimitWindowView } from '../../src/console/contract.ts';
import { useData, useSession } from '../api/data.ts';
import { Button, ButtonLink, IconButton } from '../components/button.tsx';
import { CopyText } from '../components/copy.tsx';
import { DetailPage } from '../components/detail-page.tsx';
import { Fact, Facts } from '../components/facts.tsx';
import { Menu, MenuItem } from '../components/menu.tsx';
import { Money } from '../components/money.tsx';
import { Panel } from '../components/page.tsx';
import { PathLink } from '../components/path-link.tsx';
import { RankList } from '../components/rank-list.tsx';
import { SpendChart } from '../components/spend-chart.tsx';
import { StatusBadge } from '../components/status-badge.tsx';
import { Time } from '../components/time.tsx';
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
    <DetailPage
      query={key}
      title={key.data?.name ?? words.title}
      list={{ label: words.title, to: '/keys' }}
      actions={(detail) => <Actions detail={detail} />}
    >
      {(detail) => <Detail detail={detail} />}
    </DetailPage>
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
      <Menu trigger={<IconButton icon="more" label={words.menu(detail.name)} look="secondary" />}>
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
        <DeleteKey keyView={detail} onClose={close} onDeleted={() => navigate({ to: '/keys' })} />
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
        <KeyFacts detail={detail} />
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

function KeyFacts({ detail }: { readonly detail: KeyDetail }): ReactNode {
  const words = useWords(keysWords);
  const { columns, form } = words;
  const { addresses, daily, monthly } = detail;
  const { limit_zone: limitZone } = useSession();
  return (
    <Panel title={words.detail.facts}>
      <Facts>
        <Fact name={columns.status}>
          <StatusBadge status={keyStatuses[detail.state]} />
        </Fact>
        <Fact name={words.detail.secret}>
          <span className="font-mono text-caption">{shownKey(detail)}</span>
        </Fact>
        <Fact name={columns.group}>{detail.group}</Fact>
        <Fact name={columns.spent}>
          <SpentOfLimit {...detail} />
          {detail.limit === null && <span className="text-faint">/ {words.noLimit}</span>}
        </Fact>
        <Fact name={columns.month}>
          <Money amount={detail.spent_this_month} as="spend" />
        </Fact>
        <Fact name={words.detail.daily(limitZone)}>
          <Window limit={detail.daily_limit} window={daily} />
        </Fact>
        <Fact name={words.detail.monthly(limitZone)}>
          <Window limit={detail.monthly_limit} window={monthly} />
        </Fact>
        {addresses && <Fact name={form.addresses}>{addresses.join(', ')}</Fact>}
        {(['rpm', 'tpm', 'concurrency'] as const).map((limit) => {
          const value = detail[limit];
          return (
            value !== null && (
              <Fact key={limit} name={form[limit]}>
                {formatCount(value)}
              </Fact>
            )
          );
        })}
        <Fact name={columns.used}>
          <Time at={detail.last_used_at} as="relative" absent={words.unused} />
        </Fact>
        <Fact name={columns.expires}>
          <Time at={detail.expires_at} absent={words.never} />
        </Fact>
        <Fact name={words.detail.created}>
          <Time at={detail.created_at} />
        </Fact>
        <Fact name={words.detail.id}>
          <CopyText text={detail.id} label={words.detail.id} />
        </Fact>
      </Facts>
      <p className="mt-3 text-caption text-muted">{words.limitsNote(limitZone)}</p>
    </Panel>
  );
}
