import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useRef, useState } from 'react';
import type { ChannelView, List, VendorView } from '../../../src/console/contract.ts';
import { send } from '../../api/client.ts';
import { useData } from '../../api/data.ts';
import { IconButton } from '../../components/button.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { Icon } from '../../components/icon.tsx';
import { Menu, MenuItem, MenuRule } from '../../components/menu.tsx';
import { useToast } from '../../components/toast.tsx';
import { channelWords, operatorWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import {
  channelAddress,
  refreshChannels,
  type Turn,
  Unserve,
  unservedIn,
} from './channel-parts.tsx';

interface ChannelMenuProps {
  readonly channel: ChannelView;
  readonly onTurn: (name: string, to: Turn) => Promise<void>;
  readonly onCopy: () => void;
  /** In a row of the list. */
  readonly small?: boolean;
}

const inUse: ReadonlySet<ChannelView['state']> = new Set([
  'untried',
  'healthy',
  'failing',
  'degraded',
  'cooling',
  'parked',
]);

export const canResume = ({ state }: Pick<ChannelView, 'state'>): boolean => !inUse.has(state);

export function ChannelMenu({ channel, onTurn, onCopy, small }: ChannelMenuProps): ReactNode {
  const { menu: words } = useWords(channelWords);
  const { actions } = useWords(operatorWords);
  const { name, origin } = channel;
  const navigate = useNavigate();
  const [removing, setRemoving] = useState(false);
  const open = (form: string) =>
    void navigate({
      to: '/operator/channels/$id',
      params: { id: name },
      search: { form } as never,
    });
  return (
    <>
      <Menu
        trigger={
          <IconButton
            icon="more"
            label={actions(name)}
            look="secondary"
            size={small ? 'small' : 'normal'}
          />
        }
      >
        <MenuItem icon="pulse" onSelect={() => open('test')}>
          {words.test}
        </MenuItem>
        {origin === 'console' && (
          <MenuItem icon="edit" onSelect={() => open('edit')}>
            {words.edit}
          </MenuItem>
        )}
        <MenuItem icon="copy" onSelect={onCopy}>
          {words.copy}
        </MenuItem>
        <VendorLink vendor={channel.vendor} />
        <MenuRule />
        {canResume(channel) ? (
          <MenuItem icon="play" onSelect={() => void onTurn(name, 'resume')}>
            {words.resume}
          </MenuItem>
        ) : (
          <>
            <MenuItem icon="stop" tip={words.drainTip} onSelect={() => void onTurn(name, 'drain')}>
              {words.drain}
            </MenuItem>
            <MenuItem icon="pause" danger onSelect={() => void onTurn(name, 'disable')}>
              {words.disable}
            </MenuItem>
          </>
        )}
        {origin === 'console' && (
          <MenuItem icon="trash" danger onSelect={() => setRemoving(true)}>
            {words.remove}
          </MenuItem>
        )}
      </Menu>
      {removing && <RemoveChannel channel={channel} onClose={() => setRemoving(false)} />}
    </>
  );
}

function VendorLink({ vendor }: { readonly vendor: string }): ReactNode {
  const { menu: words } = useWords(channelWords);
  const vendors = useData<List<VendorView>>('operator/vendors');
  const address = vendors.data?.items.find(({ name }) => name === vendor)?.console_url ?? null;
  if (address === null) return null;
  return (
    <MenuItem asChild>
      <a href={address} target="_blank" rel="noreferrer">
        <Icon name="external" className="text-muted" />
        {words.vendor}
      </a>
    </MenuItem>
  );
}

/** Removing a channel deletes its key for good, so the operator types the channel's name. */
function RemoveChannel({
  channel: { name, version },
  onClose,
}: {
  readonly channel: ChannelView;
  readonly onClose: () => void;
}): ReactNode {
  const words = useWords(channelWords);
  const toast = useToast();
  const navigate = useNavigate();
  const [unserved, setUnserved] = useState<readonly string[]>();
  const confirming = useRef(false);
  const remove = async (accept: boolean) => {
    await send('DELETE', channelAddress(name), {
      ifMatch: version,
      ...(accept && { query: { accept_unserved: 1 } }),
    });
    toast({ tone: 'done', text: words.remove.done(name) });
    await navigate({ to: '/operator/channels' });
    await refreshChannels();
  };
  const first = async () => {
    try {
      await remove(false);
    } catch (error) {
      const models = unservedIn(error);
      if (models === undefined) throw error;
      confirming.current = true;
      setUnserved(models);
    }
  };
  if (unserved !== undefined)
    return (
      <Unserve
        channel={name}
        models={unserved}
        action={words.unserve.remove}
        onConfirm={() => remove(true)}
        onClose={onClose}
      />
    );
  const dialog = { title: words.remove.title(name), action: words.menu.remove, typed: name };
  return (
    <Confirm onClose={() => confirming.current || onClose()} {...dialog} onConfirm={first}>
      {words.remove.text}
    </Confirm>
  );
}
