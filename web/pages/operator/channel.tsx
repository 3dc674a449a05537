import { useNavigate, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ChannelView } from '../../../src/console/contract.ts';
import { prefetch, type Visit } from '../../api/data.ts';
import { useSearchState } from '../../browser/search-state.ts';
import { Banner } from '../../components/banner.tsx';
import { Button } from '../../components/button.tsx';
import { Fact, Facts } from '../../components/facts.tsx';
import { DetailPage } from '../../components/detail-page.tsx';
import { Panel } from '../../components/page.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { useZone, ZoneNote } from '../../components/time.tsx';
import { formatDay } from '../../format/time.ts';
import { channelWords, operatorWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { useVendorLabel } from '../../words/vendor-names.ts';
import { AuditTrail } from './audit-trail.tsx';
import { EditChannel } from './channel-form.tsx';
import { ChannelHealthTab } from './channel-health.tsx';
import { canResume, ChannelMenu } from './channel-menu.tsx';
import { ChannelModels } from './channel-models.tsx';
import {
  ChannelBadge,
  ChannelWhy,
  channelAddress,
  useChannel,
  useChannelTurn,
} from './channel-parts.tsx';
import { ChannelTest } from './channel-test.tsx';
import { Chips, Origin } from './parts.tsx';

/** `form`: `test` or `edit`. */
const searchDefaults = { tab: 'health', form: '' };
type Tab = 'health' | 'models' | 'settings' | 'history';

export const ahead = ({ params: { id = '' } }: Visit) => {
  prefetch(channelAddress(id));
  prefetch(`${channelAddress(id)}/health`);
};

/** One channel: health, models, settings and changes. */
export function ChannelPage(): ReactNode {
  const words = useWords(channelWords);
  const { id: name = '' } = useParams({ strict: false });
  const channel = useChannel(name);
  const [{ form }, setState] = useSearchState(searchDefaults);
  const { turn, dialog } = useChannelTurn();
  const navigate = useNavigate();
  const close = () => setState({ form: '' });
  return (
    <DetailPage
      query={channel}
      title={name}
      list={{ label: words.title, to: '/operator/channels' }}
      note={(view) => <Note channel={view} />}
      actions={(view) => (
        <>
          {canResume(view) ? (
            <Button icon="play" onClick={() => void turn(name, 'resume')}>
              {words.menu.resume}
            </Button>
          ) : (
            <Button
              icon="stop"
              data-tip={words.menu.drainTip}
              onClick={() => void turn(name, 'drain')}
            >
              {words.menu.drain}
            </Button>
          )}
          <Button look="primary" icon="pulse" onClick={() => setState({ form: 'test' })}>
            {words.menu.test}
          </Button>
          <ChannelMenu
            channel={view}
            onTurn={turn}
            onCopy={() =>
              void navigate({
                to: '/operator/channels',
                search: { form: `copy:${name}` } as never,
              })
            }
          />
        </>
      )}
    >
      {(view) => (
        <>
          <Detail channel={view} />
          {form === 'test' && <ChannelTest channel={view} onClose={close} />}
          {form === 'edit' && view.origin === 'console' && (
            <EditChannel channel={view} onClose={close} />
          )}
          {dialog}
        </>
      )}
    </DetailPage>
  );
}

function Note({ channel }: { readonly channel: ChannelView }): ReactNode {
  const { meaning } = useWords(channelWords);
  return (
    <div className="mt-1 flex flex-wrap items-center gap-x-2 gap-y-1">
      <ChannelBadge channel={channel} />
      <ChannelWhy channel={channel} />
      <span className="text-caption text-muted">{meaning[channel.state]}</span>
      <ZoneNote />
    </div>
  );
}

function Detail({ channel }: { readonly channel: ChannelView }): ReactNode {
  const { tabs } = useWords(channelWords);
  const [{ tab }, setState] = useSearchState(searchDefaults);
  const shown: Tab = tab === 'models' || tab === 'settings' || tab === 'history' ? tab : 'health';
  return (
    <Tabs
      label={tabs.label}
      value={shown}
      onChange={(next) => setState({ tab: next })}
      tabs={(['health', 'models', 'settings', 'history'] as const).map(
        (each) => [each, tabs[each]] as const,
      )}
    >
      {shown === 'health' && <ChannelHealthTab channel={channel} />}
      {shown === 'models' && <ChannelModels channel={channel} />}
      {shown === 'settings' && <Settings channel={channel} />}
      {shown === 'history' && <AuditTrail filter={{ target: `channel:${channel.name}` }} />}
    </Tabs>
  );
}

function Settings({ channel }: { readonly channel: ChannelView }): ReactNode {
  const words = useWords(channelWords);
  const { origin: origins } = useWords(operatorWords);
  const zone = useZone();
  const labelOf = useVendorLabel();
  const [, setState] = useSearchState(searchDefaults);
  const { secret, keys, origin } = channel;
  const edit = () => setState({ form: 'edit' });
  const known = keys.some(({ last4 }) => last4 !== null);
  const { keyEnds, keySet, keySince, keyNotSet } = words.settings;
  const endings = keys.map(({ last4 }) => last4 ?? '····').join(' · ');
  const set = [
    known ? keyEnds(endings) : keySet,
    ...(secret.set_at === null ? [] : [keySince(formatDay(secret.set_at, zone))]),
  ];
  const key = secret.set ? set.join(' · ') : keyNotSet;
  return (
    <div className="flex flex-col gap-4">
      {origin === 'configuration' && <Banner tone="accent">{words.settings.readOnly}</Banner>}
      <Panel
        title={words.tabs.settings}
        actions={
          origin === 'console' && (
            <Button size="small" icon="edit" onClick={edit}>
              {words.menu.edit}
            </Button>
          )
        }
      >
        <Facts>
          <Fact name={words.settings.vendor}>{labelOf(channel.vendor)}</Fact>
          <Fact name={words.settings.baseUrl}>{channel.base_url ?? words.vendorDefault}</Fact>
          <Fact name={words.settings.key}>
            {key}
            {origin === 'console' && (
              <Button size="small" look="ghost" onClick={edit}>
                {words.settings.replace}
              </Button>
            )}
          </Fact>
          <Fact name={words.settings.groups}>
            <Chips items={channel.groups} className="justify-end" />
          </Fact>
          <Fact name={words.settings.priority}>{channel.priority}</Fact>
          <Fact name={words.settings.weight}>{channel.weight}</Fact>
          <Fact name={words.settings.cancelled}>
            {channel.bills_cancelled_input
              ? words.settings.cancelledBilled
              : words.settings.cancelledFree}
          </Fact>
          <Fact name={origins.label}>
            <Origin of={origin} />
          </Fact>
        </Facts>
      </Panel>
    </div>
  );
}
