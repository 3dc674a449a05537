import { useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { OperatorGroup } from '../../../src/console/contract.ts';
import { send } from '../../api/client.ts';
import { prefetch, useData, type Visit } from '../../api/data.ts';
import { Button } from '../../components/button.tsx';
import { MaybeDisabled } from '../../components/maybe-disabled.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { Fact, Facts } from '../../components/facts.tsx';
import { DetailPage } from '../../components/detail-page.tsx';
import { Panel } from '../../components/page.tsx';
import { PathLink } from '../../components/path-link.tsx';
import { named } from '../../components/named-columns.ts';
import { type Column, Table } from '../../components/table.tsx';
import { useToast } from '../../components/toast.tsx';
import { formatCount } from '../../format/count.ts';
import { operatorWords, priceWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { channelPath } from './channel-parts.tsx';
import { EditGroup, groupAddress, refreshGroups } from './group-form.tsx';
import { operatorModelPath, useChannelName } from './model-parts.ts';
import { FromFile, Origin } from './parts.tsx';

export const ahead = ({ params: { name = '' } }: Visit) => prefetch(groupAddress(name));

export function GroupPage(): ReactNode {
  const { groups: words } = useWords(priceWords);
  const { name = '' } = useParams({ strict: false });
  const group = useData<OperatorGroup>(groupAddress(name));
  return (
    <DetailPage
      query={group}
      title={name}
      list={{ label: words.title, to: '/operator/groups' }}
      note={() => null}
      actions={(view) => <Actions group={view} />}
    >
      {(view) => (
        <div className="grid gap-4 lg:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]">
          <Models group={view} />
          <About group={view} />
        </div>
      )}
    </DetailPage>
  );
}

function Actions({ group }: { readonly group: OperatorGroup }): ReactNode {
  const { groups: words } = useWords(priceWords);
  const { origin } = useWords(operatorWords);
  const toast = useToast();
  const navigate = useNavigate();
  const [open, setOpen] = useState<'edit' | 'remove'>();
  const close = () => setOpen(undefined);
  const channels = channelsOf(group);
  const needed = group.keys > 0 || channels > 0 ? words.inUse(group.keys, channels) : undefined;
  const remove = async () => {
    await send('DELETE', groupAddress(group.name), { ifMatch: group.version });
    toast({ tone: 'done', text: words.removed(group.name) });
    await navigate({ to: '/operator/groups' });
    await refreshGroups();
  };
  if (group.origin === 'configuration') return <FromFile>{origin.readOnly}</FromFile>;
  return (
    <>
      <MaybeDisabled icon="trash" disabledFor={needed} onClick={() => setOpen('remove')}>
        {words.remove}
      </MaybeDisabled>
      <Button look="primary" icon="edit" className="self-start" onClick={() => setOpen('edit')}>
        {words.edit}
      </Button>
      {open === 'edit' && <EditGroup group={group} onClose={close} />}
      {open === 'remove' && (
        <Confirm
          onClose={close}
          title={words.removeTitle(group.name)}
          action={words.remove}
          onConfirm={remove}
        >
          {words.removeText}
        </Confirm>
      )}
    </>
  );
}

/** How many of its channels list models. */
const channelsOf = ({ models }: OperatorGroup): number =>
  new Set(models.flatMap((model) => model.channels)).size;

function About({ group }: { readonly group: OperatorGroup }): ReactNode {
  const { groups: words } = useWords(priceWords);
  const { origin, unlimited } = useWords(operatorWords);
  const { columns } = words;
  const limit = (value: number | null) => (value === null ? unlimited : formatCount(value));
  return (
    <Panel title={words.facts} className="self-start max-lg:order-first">
      <Facts>
        <Fact name={columns.multiplier}>
          <span className="figures">×{group.multiplier}</span>
        </Fact>
        <Fact name={columns.rpm}>{limit(group.rpm)}</Fact>
        <Fact name={columns.tpm}>{limit(group.tpm)}</Fact>
        <Fact name={columns.concurrency}>{limit(group.concurrency)}</Fact>
        <Fact name={words.policy}>{words.policies[group.policy].name}</Fact>
        {group.fallback_models.length > 0 && (
          <Fact name={words.fallbacks}>{group.fallback_models.join(' · ')}</Fact>
        )}
        <Fact name={words.users}>{formatCount(group.keys)}</Fact>
        <Fact name={words.channels}>
          <PathLink path={`/operator/channels?group=${encodeURIComponent(group.name)}`}>
            {formatCount(channelsOf(group))}
          </PathLink>
        </Fact>
        <Fact name={origin.label}>
          <Origin of={group.origin} />
        </Fact>
      </Facts>
      <p className="mt-3 text-caption text-muted">{words.limitsNote}</p>
    </Panel>
  );
}

type Model = OperatorGroup['models'][number];

/** The models that the group's channels list, with these channels. */
function Models({ group }: { readonly group: OperatorGroup }): ReactNode {
  const { groups: words, models: listWords } = useWords(priceWords);
  const nameOf = useChannelName();
  const { models } = group;
  const channels = (model: Model) =>
    model.channels.map((name, index) => (
      <span key={name}>
        {index > 0 && ' · '}
        <PathLink path={channelPath(name)}>{nameOf(group, name)}</PathLink>
      </span>
    ));
  const columns: readonly Column<Model>[] = named(listWords.columns, [
    { id: 'model', cell: ({ id }) => id },
    {
      id: 'channels',
      cell: (model) => (
        <span className="block whitespace-normal wrap-anywhere">{channels(model)}</span>
      ),
    },
  ]);
  return (
    <Panel flush title={words.models(models.length)} className="self-start">
      {models.length === 0 ? (
        <p className="p-4 text-table text-muted">{words.noModels}</p>
      ) : (
        <Table
          label={words.models(models.length)}
          rows={models}
          rowKey={({ id }) => id}
          columns={columns}
          path={({ id }) => operatorModelPath(id)}
          card={(model) => ({
            title: model.id,
            value: '',
            detail: (
              <span className="wrap-anywhere">
                {model.channels.map((name) => nameOf(group, name)).join(' · ')}
              </span>
            ),
          })}
        />
      )}
    </Panel>
  );
}
