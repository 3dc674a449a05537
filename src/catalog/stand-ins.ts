import type { Bundled } from './bundled.ts';
import type { ConfigurationContext } from './configuration.ts';
import type { ChannelFacts } from './snapshot.ts';

interface StandInContext extends Pick<ConfigurationContext, 'serves'> {
  readonly bundled: Bundled;
  /** The channels that sell every bundled model of their vendor. Absent: all. */
  readonly takes?: (channel: ChannelFacts) => boolean;
  /** Ids that the operator described: they stay as written. */
  readonly written?: ReadonlySet<string>;
}

/**
 * Ids that no vendor sells any more, added to the channels of the first vendor that has a bundled
 * model to replace them.
 */
export function withStandIns(
  channels: readonly ChannelFacts[],
  { bundled, serves, takes = () => true, written = new Set() }: StandInContext,
): readonly ChannelFacts[] {
  const added = new Map<string, Map<string, string>>();
  for (const { facts, standIns } of bundled.values()) {
    if (written.has(facts.id)) continue;
    const [standing] = standIns.flatMap(({ vendor, id }) => {
      const upstream = bundled.get(id)?.upstream;
      const there = channels.some((channel) => channel.vendor === vendor && takes(channel));
      return there && upstream !== undefined && serves(vendor, facts.kind)
        ? [{ vendor, upstream }]
        : [];
    });
    if (standing === undefined) continue;
    const models = added.get(standing.vendor) ?? new Map<string, string>();
    added.set(standing.vendor, models.set(facts.id, standing.upstream));
  }
  return channels.map((channel) => {
    const more = takes(channel) ? added.get(channel.vendor) : undefined;
    return more === undefined
      ? channel
      : { ...channel, models: new Map([...channel.models, ...more]) };
  });
}
