import { type ReactNode, useState } from 'react';
import type { DeviceView, IdentityView, List } from '../../src/console/contract.ts';
import { send } from '../api/client.ts';
import { queryClient, useData, useSession } from '../api/data.ts';
import { useSearchState } from '../browser/search-state.ts';
import { Banner } from '../components/banner.tsx';
import { Button } from '../components/button.tsx';
import { MaybeDisabled } from '../components/maybe-disabled.tsx';
import { Confirm } from '../components/dialog.tsx';
import { useErrorToast } from '../components/error-panel.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Badge } from '../components/status-badge.tsx';
import { Time, useZone } from '../components/time.tsx';
import { useToast } from '../components/toast.tsx';
import { Unbroken } from '../components/unbroken.tsx';
import { formatTime } from '../format/time.ts';
import { settingsWords, signInWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';

type Provider = IdentityView['provider'];
const searchDefaults = { error: '' };

/** The ways to sign in; the last one cannot be removed. */
export function Identities(): ReactNode {
  const { identities: words } = useWords(settingsWords);
  const { errors } = useWords(signInWords);
  const { methods } = useSession();
  const [{ error }] = useSearchState(searchDefaults);
  const identities = useData<List<IdentityView>>('identities');
  const [leaving, setLeaving] = useState<Provider>();
  const unlink = async (provider: Provider) => {
    await send('DELETE', `identities/${provider}`);
    await queryClient.invalidateQueries({ queryKey: ['identities'] });
  };
  return (
    <Loaded query={identities}>
      {({ items }) => (
        <div className="flex flex-col gap-3">
          {error !== '' && (
            <div role="alert">
              <Banner tone="bad">{errors[error] ?? words.failed}</Banner>
            </div>
          )}
          {items.length === 0 && <p className="text-table text-muted">{words.none}</p>}
          {items.map((identity) => (
            <Identity
              key={identity.provider}
              identity={identity}
              onUnlink={() => setLeaving(identity.provider)}
            />
          ))}
          <div className="flex flex-wrap gap-2">
            {methods.map(
              (method) =>
                method !== 'link' &&
                !items.some(({ provider }) => provider === method) && (
                  <LinkButton key={method} provider={method} />
                ),
            )}
          </div>
          {leaving !== undefined && (
            <Confirm
              onClose={() => setLeaving(undefined)}
              title={words.unlinkTitle(words.names[leaving])}
              action={words.unlink}
              onConfirm={() => unlink(leaving)}
            >
              {words.unlinkEffect}
            </Confirm>
          )}
        </div>
      )}
    </Loaded>
  );
}

function Identity({
  identity,
  onUnlink,
}: {
  readonly identity: IdentityView;
  readonly onUnlink: () => void;
}): ReactNode {
  const { identities: words } = useWords(settingsWords);
  const zone = useZone();
  const name = words.names[identity.provider];
  return (
    <div className="flex items-center gap-3 text-table">
      <div className="min-w-0 flex-1">
        <p className="truncate font-medium">
          {name} <span className="font-normal text-muted">{identity.name}</span>
        </p>
        <p className="text-caption text-muted">
          <Unbroken text={words.linked(formatTime(identity.linked_at, zone))} />
        </p>
      </div>
      <MaybeDisabled
        size="small"
        disabledFor={identity.removable ? undefined : words.last}
        onClick={onUnlink}
        aria-label={`${words.unlink}: ${name}`}
      >
        {words.unlink}
      </MaybeDisabled>
    </div>
  );
}

function LinkButton({ provider }: { readonly provider: Provider }): ReactNode {
  const { identities: words } = useWords(settingsWords);
  const showError = useErrorToast();
  const [busy, setBusy] = useState(false);
  const begin = async () => {
    setBusy(true);
    try {
      const { location: away } = await send<{ readonly location: string }>(
        'POST',
        `identities/${provider}`,
        {
          body: { next: '/settings' },
        },
      );
      location.assign(away);
    } catch (error) {
      showError(error);
      setBusy(false);
    }
  };
  return (
    <Button size="small" icon="plus" busy={busy} onClick={() => void begin()}>
      {words.link(words.names[provider])}
    </Button>
  );
}

/** The devices that are signed in to this account. */
export function Devices(): ReactNode {
  const { devices: words } = useWords(settingsWords);
  const toast = useToast();
  const devices = useData<List<DeviceView>>('sessions');
  const [ending, setEnding] = useState<DeviceView>();
  const end = async ({ id }: DeviceView) => {
    await send('DELETE', `sessions/${id}`);
    await queryClient.invalidateQueries({ queryKey: ['sessions'] });
    toast({ tone: 'done', text: words.revoked });
  };
  return (
    <Loaded query={devices}>
      {({ items }) => (
        <>
          <ul className="divide-y divide-line">
            {items.map((device) => (
              <Device key={device.id} device={device} onEnd={() => setEnding(device)} />
            ))}
          </ul>
          {ending !== undefined && (
            <Confirm
              onClose={() => setEnding(undefined)}
              title={words.revokeTitle(browserOf(ending.browser) ?? words.unknown)}
              action={words.revoke}
              onConfirm={() => end(ending)}
            >
              {words.revokeEffect}
            </Confirm>
          )}
        </>
      )}
    </Loaded>
  );
}

function Device({
  device,
  onEnd,
}: {
  readonly device: DeviceView;
  readonly onEnd: () => void;
}): ReactNode {
  const { devices: words } = useWords(settingsWords);
  const name = browserOf(device.browser) ?? words.unknown;
  return (
    <li className="flex items-center gap-3 px-4 py-2.5 text-table">
      <div className="min-w-0 flex-1">
        <p className="flex items-center gap-2">
          <span className="truncate" data-tip={device.browser}>
            {name}
          </span>
          {device.current && <Badge tone="accent">{words.current}</Badge>}
        </p>
        <p className="flex flex-wrap gap-x-2 text-caption text-muted">
          <span className="font-mono">{device.ip}</span>
          <span>
            {words.seen} <Time at={device.seen_at} as="relative" />
          </span>
        </p>
      </div>
      {!device.current && (
        <Button size="small" onClick={onEnd} aria-label={`${words.revoke}: ${name}`}>
          {words.revoke}
        </Button>
      )}
    </li>
  );
}

/** `Chrome · Windows` of a user agent; undefined when it names no known browser. */
function browserOf(agent: string): string | undefined {
  const browser = /(?:Edg|OPR|Firefox|FxiOS|CriOS|Chrome|Safari|MicroMessenger)(?=\/)/g;
  const names: Readonly<Record<string, string>> = {
    Edg: 'Edge',
    OPR: 'Opera',
    FxiOS: 'Firefox',
    CriOS: 'Chrome',
    MicroMessenger: 'WeChat',
  };
  const order = ['MicroMessenger', 'Edg', 'OPR', 'FxiOS', 'CriOS', 'Firefox', 'Chrome', 'Safari'];
  const found = agent.match(browser)?.sort((a, b) => order.indexOf(a) - order.indexOf(b))[0];
  const system = /(Windows|Android|iPhone|iPad|Mac OS X|CrOS|Linux)/
    .exec(agent)?.[1]
    ?.replace(' OS X', '');
  if (found === undefined) return agent === '' ? undefined : agent.slice(0, 40);
  return [names[found] ?? found, system].filter(Boolean).join(' · ');
}
