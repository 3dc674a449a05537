import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type {
  List,
  ModelBody,
  OperatorModel,
  OperatorModelDetail,
  PriceVersionView,
  UnitPrice,
} from '../../../src/console/contract.ts';
import { newIdempotencyKey, send } from '../../api/client.ts';
import { prefetch, useData, type Visit } from '../../api/data.ts';
import { Banner } from '../../components/banner.tsx';
import { Button } from '../../components/button.tsx';
import { DetailPage } from '../../components/detail-page.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { Fact, Facts } from '../../components/facts.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Panel } from '../../components/page.tsx';
import { PathLink } from '../../components/path-link.tsx';
import { Badge } from '../../components/status-badge.tsx';
import { Time } from '../../components/time.tsx';
import { useToast } from '../../components/toast.tsx';
import { formatCount } from '../../format/count.ts';
import { lineKey, priceText } from '../../format/price.ts';
import { modelsWords, operatorWords, priceWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { Rich } from '../../words/rich.tsx';
import { useVendorLabel } from '../../words/vendor-names.ts';
import { useLineName } from '../model-parts.tsx';
import { channelPath } from './channel-parts.tsx';
import { EditModel } from './model-form.tsx';
import { operatorModelAddress, refreshModels, useChannelName } from './model-parts.ts';
import { FromFile, Origin, useAct } from './parts.tsx';
import { latestVersionOf, PriceEditor } from './price-editor.tsx';
import { UserInLine } from './user-name.tsx';

export const ahead = ({ params: { _splat: id = '' } }: Visit) => {
  const address = operatorModelAddress(id);
  prefetch(address);
  prefetch(`${address}/prices`);
};

/** One model: its prices now and before, and the effect of another price. */
export function OperatorModelPage(): ReactNode {
  const { models } = useWords(priceWords);
  const { _splat: id = '' } = useParams({ strict: false });
  const model = useData<OperatorModelDetail>(operatorModelAddress(id));
  const versions = useData<List<PriceVersionView>>(`${operatorModelAddress(id)}/prices`);
  return (
    <DetailPage
      query={model}
      title={id}
      list={{ label: models.title, to: '/operator/models' }}
      actions={(view) => <Actions model={view} />}
    >
      {(view) => (
        <div className="grid gap-4 xl:grid-cols-[minmax(0,2.4fr)_minmax(0,1fr)]">
          <div className="flex min-w-0 flex-col gap-4">
            {view.active ? (
              <PriceEditor key={`${view.price_version} ${latestVersionOf(view)}`} model={view} />
            ) : (
              <Retired />
            )}
            <Loaded query={versions}>
              {({ items }) => <History versions={items} current={view.price_version} />}
            </Loaded>
          </div>
          <About model={view} />
        </div>
      )}
    </DetailPage>
  );
}

function Retired(): ReactNode {
  const { model: words } = useWords(priceWords);
  return <Banner tone="warn">{words.retiredNote}</Banner>;
}

function Actions({ model }: { readonly model: OperatorModel }): ReactNode {
  const { model: words } = useWords(priceWords);
  const toast = useToast();
  const act = useAct();
  const [open, setOpen] = useState<'edit' | 'retire'>();
  const close = () => setOpen(undefined);
  const retire = async () => {
    await send('PATCH', operatorModelAddress(model.id), {
      body: { active: false },
      ifMatch: model.version,
    });
    toast({ tone: 'done', text: words.retiredDone(model.id) });
    await refreshModels();
  };
  const relist = () =>
    act(async () => {
      await send('POST', 'operator/models', {
        body: { id: model.id } satisfies ModelBody,
        idempotencyKey: newIdempotencyKey(),
      });
      await refreshModels();
    }, words.created(model.id));
  if (model.origin === 'configuration') return <FromFile>{words.fileNote}</FromFile>;
  return (
    <>
      {model.active ? (
        <Button icon="pause" data-tip={words.retireText} onClick={() => setOpen('retire')}>
          {words.retire}
        </Button>
      ) : (
        <Button icon="play" onClick={() => void relist()}>
          {words.relist}
        </Button>
      )}
      <Button icon="edit" onClick={() => setOpen('edit')}>
        {words.edit}
      </Button>
      {open === 'edit' && <EditModel model={model} onClose={close} />}
      {open === 'retire' && (
        <Confirm
          onClose={close}
          title={words.retireTitle(model.id)}
          action={words.retire}
          onConfirm={retire}
        >
          {words.retireText}
        </Confirm>
      )}
    </>
  );
}

function About({ model }: { readonly model: OperatorModel }): ReactNode {
  const { model: words } = useWords(priceWords);
  const { kinds } = useWords(modelsWords);
  const labelOf = useVendorLabel();
  const nameOf = useChannelName();
  const { origin, none, comma } = useWords(operatorWords);
  const tokens = (count: number | null) =>
    count === null ? '—' : words.tokens(formatCount(count));
  return (
    <Panel title={words.facts} className="self-start">
      <Facts>
        <Fact name={words.owner}>{labelOf(model.vendor)}</Fact>
        <Fact name={words.kind}>{kinds[model.kind]}</Fact>
        <Fact name={words.context}>{tokens(model.context)}</Fact>
        <Fact name={words.output}>{tokens(model.output_tokens_max)}</Fact>
        {model.hedge_after_ms !== null && (
          <Fact name={words.hedge}>{words.hedgeValue(formatCount(model.hedge_after_ms))}</Fact>
        )}
        {model.durations !== null && (
          <Fact name={words.durations}>{model.durations.map(words.seconds).join(comma)}</Fact>
        )}
        <Fact name={words.shutdown}>{model.shutdown_date ?? '—'}</Fact>
        <Fact name={words.channels}>
          {model.channels.length === 0
            ? none
            : model.channels.map((name, index) => (
                <span key={name}>
                  {index > 0 && '· '}
                  <PathLink path={channelPath(name)}>{nameOf(model, name)}</PathLink>
                </span>
              ))}
        </Fact>
        <Fact name={origin.label}>
          <Origin of={model.origin} />
        </Fact>
      </Facts>
      {model.origin === 'configuration' && model.active && (
        <p className="mt-3 text-caption text-muted">
          <Rich text={words.stopSelling} models={<code>models</code>} />
        </p>
      )}
    </Panel>
  );
}

function History({
  versions,
  current,
}: {
  readonly versions: readonly PriceVersionView[];
  readonly current: number;
}): ReactNode {
  const { model: words, models, editor } = useWords(priceWords);
  return (
    <Panel title={words.history}>
      <ol className="flex flex-col divide-y divide-line">
        {versions.map(({ version, since, published_at: published, prices, reason, ...by }) => (
          <li key={version} className="flex flex-col gap-1 py-3 first:pt-0 last:pb-0">
            <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-table">
              <span className="font-medium">{models.version(version)}</span>
              {version === current && (
                <Badge tone="good" icon="check">
                  {words.inForce}
                </Badge>
              )}
              {version > current && (
                <Badge tone="accent" icon="clock">
                  {words.waits}
                </Badge>
              )}
              <span className="text-muted">
                {words.historyColumns.since} <Time at={since} />
                {since !== published && (
                  <>
                    {' '}
                    (<Time at={published} />)
                  </>
                )}
              </span>
              <span className="ml-auto text-muted">
                {words.actors[by.actor] ?? (
                  <UserInLine user={{ id: by.actor, name: by.actor_name }} link />
                )}
              </span>
            </div>
            <Prices prices={prices} />
            {reason !== null && <p className="text-caption text-muted">{reason}</p>}
          </li>
        ))}
      </ol>
      <p className="mt-3 border-t border-line pt-3 text-caption text-muted">{editor.rule}</p>
    </Panel>
  );
}

function Prices({ prices }: { readonly prices: readonly UnitPrice[] }): ReactNode {
  const nameOf = useLineName();
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-0.5 text-table">
      {prices.map((price) => (
        <li key={lineKey(price)}>
          <span className="text-muted">{nameOf(price)}</span>{' '}
          <span className="figures">{priceText(price.amount)}</span>
        </li>
      ))}
    </ul>
  );
}
