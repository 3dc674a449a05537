import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type {
  ChannelEffect,
  ChannelStateName,
  ChannelView,
  List,
} from '../../../src/console/contract.ts';
import { ApiError, send } from '../../api/client.ts';
import { data, refresh, useData } from '../../api/data.ts';
import { useEvent } from '../../api/events.ts';
import { useNow } from '../../browser/now.ts';
import { linkLook } from '../../components/button.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { useErrorToast } from '../../components/error-panel.tsx';
import { PathLink } from '../../components/path-link.tsx';
import { type Status, StatusBadge } from '../../components/status-badge.tsx';
import { Time } from '../../components/time.tsx';
import { useToast } from '../../components/toast.tsx';
import { formatDuration } from '../../format/time.ts';
import { channelWords, operatorWords, sharedWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { Rich } from '../../words/rich.tsx';
import { pathName } from './parts.tsx';

const path = 'operator/channels';
const drainingMs = 1_000;
const calmMs = 15_000;

/** `operator/channels/ark`. */
export const channelAddress = (name: string): string => `${path}/${pathName(name)}`;
export const channelPath = (name: string): string => `/${path}/${pathName(name)}`;
export const refreshChannels = (): Promise<void> => refresh(path);

/** The name of a channel of the past, which leads to its page unless the channel was removed. */
export function ChannelLink({ name }: { readonly name: string }): ReactNode {
  const channels = useData<List<ChannelView>>(path).data?.items;
  if (channels?.every((each) => each.name !== name))
    return <span className="min-w-0 wrap-anywhere">{name}</span>;
  return (
    <PathLink path={channelPath(name)} className={`min-w-0 wrap-anywhere ${linkLook}`}>
      {name}
    </PathLink>
  );
}

/**
 * Fetches the channels by itself: each second while one drains, so that its running requests count
 * down.
 */
export function useChannels() {
  useEvent('channel', refreshChannels);
  return useQuery({
    ...data<List<ChannelView>>(path),
    refetchInterval: ({ state }) =>
      state.data?.items.some(({ state: each }) => each === 'draining') ? drainingMs : calmMs,
  });
}

export function useChannel(name: string) {
  useEvent('channel', refreshChannels);
  return useQuery({
    ...data<ChannelView>(channelAddress(name)),
    refetchInterval: ({ state }) => (state.data?.state === 'draining' ? drainingMs : calmMs),
  });
}

const statuses: Readonly<Record<ChannelStateName, Status>> = {
  untried: 'pending',
  healthy: 'healthy',
  failing: 'failed',
  degraded: 'degraded',
  cooling: 'cooling',
  parked: 'parked',
  draining: 'draining',
  drained: 'disabled',
  disabled: 'disabled',
};

export function ChannelBadge({
  channel: { state, why },
}: {
  readonly channel: Pick<ChannelView, 'state' | 'why'>;
}): ReactNode {
  const words = useWords(channelWords);
  const nowMs = useNow();
  const until = state === 'cooling' ? why?.until : undefined;
  // As exact as the page's clock: the list is fetched again long before the error could matter.
  const left = until ? Math.max(0, Math.round((Date.parse(until) - nowMs) / 1000)) : 0;
  return (
    <span className="inline-flex max-w-full" data-tip={words.meaning[state]}>
      <StatusBadge status={statuses[state]}>
        {left > 0 ? words.coolingFor(String(left)) : words.states[state]}
      </StatusBadge>
    </span>
  );
}

/** Why a channel is not well, or how many requests it still runs; nothing for one that is well. */
export function ChannelWhy({
  channel,
}: {
  readonly channel: Pick<ChannelView, 'state' | 'why' | 'running'>;
}): ReactNode {
  const words = useWords(channelWords);
  const { faults } = useWords(operatorWords);
  const { state, why, running } = channel;
  if (state === 'draining')
    return <span className="text-caption text-muted">{words.willFinish(running)}</span>;
  if (why === null || !['degraded', 'cooling', 'parked'].includes(state)) return null;
  return (
    <span className="text-caption text-muted">
      <Rich
        text={words.why(faults[why.code] ?? why.code, '{at}')}
        at={<Time at={why.since} as="relative" />}
      />
    </span>
  );
}

/** `380 ms / 1.1 s`. */
export function firstByteText({
  first_byte_median_ms: median,
  first_byte_p95_ms: p95,
}: ChannelView['last_hour']): string {
  return median === null || p95 === null
    ? '—'
    : `${formatDuration(median)} / ${formatDuration(p95)}`;
}

export type Turn = 'drain' | 'disable' | 'resume';

interface Unserving {
  readonly name: string;
  readonly models: readonly string[];
  readonly turn: Turn;
}

/**
 * The models that a refused change would leave without a channel; undefined: the refusal has
 * another reason.
 */
export function unservedIn(error: unknown): readonly string[] | undefined {
  if (!(error instanceof ApiError) || error.code !== 'would_unserve') return undefined;
  // parsing: the contract's `would_unserve`
  return (error.current as ChannelEffect).unserved_models;
}

/**
 * Turns a channel off or on at once, with Undo; asks first if models would lose their last channel.
 */
export function useChannelTurn(): {
  readonly turn: (name: string, to: Turn) => Promise<void>;
  readonly dialog: ReactNode;
} {
  const words = useWords(channelWords);
  const { actions } = useWords(sharedWords);
  const toast = useToast();
  const showError = useErrorToast();
  const [unserving, setUnserving] = useState<Unserving>();
  const change = async (name: string, to: Turn, accept: boolean): Promise<void> => {
    await send('POST', `${channelAddress(name)}/${to}`, { body: { accept_unserved: accept } });
    await refreshChannels();
    const undo = { label: actions.undo, run: () => turn(name, 'resume') };
    toast({ tone: 'done', text: words.turned[to](name), ...(to !== 'resume' && { action: undo }) });
  };
  const turn = async (name: string, to: Turn): Promise<void> => {
    try {
      await change(name, to, false);
    } catch (error) {
      const models = unservedIn(error);
      if (models === undefined) showError(error);
      else setUnserving({ name, models, turn: to });
    }
  };
  const dialog = unserving && (
    <Unserve
      channel={unserving.name}
      models={unserving.models}
      action={unserving.turn === 'drain' ? words.unserve.drain : words.unserve.disable}
      onConfirm={() => change(unserving.name, unserving.turn, true)}
      onClose={() => setUnserving(undefined)}
    />
  );
  return { turn, dialog };
}

interface UnserveProps {
  readonly channel: string;
  readonly models: readonly string[];
  readonly action: string;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
}

/** Names the models that nobody could call any more. */
export function Unserve({ channel, models, action, onConfirm, onClose }: UnserveProps): ReactNode {
  const { unserve } = useWords(channelWords);
  const { comma } = useWords(operatorWords);
  return (
    <Confirm
      onClose={onClose}
      title={unserve.title(models.length)}
      action={action}
      onConfirm={onConfirm}
    >
      <p className="max-h-60 overflow-y-auto wrap-anywhere">
        {unserve.text(channel, models.join(comma))}
      </p>
    </Confirm>
  );
}
