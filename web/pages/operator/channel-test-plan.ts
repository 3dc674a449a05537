import type { ChannelView } from '../../../src/console/contract.ts';

/** What can be tested with a few tokens. */
export const testable = ['chat', 'embeddings', 'moderations', 'rerank'] as const;

export interface Planned {
  readonly name: string;
  readonly capability: string;
  readonly model: string;
}

interface Plan {
  readonly tests: readonly Planned[];
  /** The names of channels that are not in use. */
  readonly off: readonly string[];
  /** The names of channels that a few tokens cannot test. */
  readonly untestable: readonly string[];
}

type Channel = Pick<ChannelView, 'name' | 'state' | 'models'>;

/** The first thing that each channel in use can be asked for a few tokens, and who is skipped. */
export function planFor(channels: readonly Channel[]): Plan {
  const isOff = ({ state }: Channel) => ['draining', 'drained', 'disabled'].includes(state);
  const used = channels.filter((channel) => !isOff(channel));
  const tests = used.flatMap((channel) => testOf(channel) ?? []);
  const tested = new Set(tests.map(({ name }) => name));
  return {
    tests,
    off: channels.filter(isOff).map(({ name }) => name),
    untestable: used.flatMap(({ name }) => (tested.has(name) ? [] : name)),
  };
}

function testOf({ name, models }: Channel): Planned | undefined {
  for (const capability of testable)
    for (const { id, priced, capabilities } of models)
      if (priced && capabilities.includes(capability)) return { name, capability, model: id };
  return undefined;
}
