import * as z from 'zod';
import { writeAudit } from '../accounts/audit.ts';
import {
  addChannel,
  changeChannel,
  type ChannelDesk,
  removeChannel,
  switchChannel,
} from '../catalog/edit-channels.ts';
import type { Done, Edited, Read, Written } from '../catalog/editing.ts';
import { type ChannelSwitch, readRecorded, type RecordedChannel } from '../catalog/recorded.ts';
import type { Script } from '../storage/database.ts';
import type { ChannelEffect } from './contract.ts';
import { versionIn } from './headers.ts';
import { unservedBy } from './operator-channel-view.ts';
import type { OperatorRooms } from './operator-rooms.ts';
import { byOperator, doneOr, plainFacts } from './operator-writes.ts';
import { fail } from './problem.ts';
import type { ConsoleVisit } from './row.ts';

/** Keys of one channel. */
const keysMax = 100;

/**
 * What is written of a channel is checked where the configuration file is: here it has to be of
 * these members.
 */
export const changedChannel = z.strictObject({
  vendor: z.string().optional(),
  base_url: z.string().nullable().optional(),
  secret: z.string().min(1, 'empty').max(20_000, 'too_long').optional(),
  secrets: z
    .array(z.union([z.string().min(1, 'empty').max(20_000, 'too_long'), z.int().min(1)]))
    .min(1, 'empty')
    .max(keysMax, 'too_many')
    .optional(),
  groups: z.array(z.string()).optional(),
  models: z.array(z.unknown()).max(2_000, 'too_many').optional(),
  priority: z.number().optional(),
  weight: z.number().optional(),
  bills_cancelled_input: z.boolean().optional(),
  disabled: z.boolean().optional(),
  costs: z.record(z.string(), z.unknown()).optional(),
  dry_run: z.boolean().optional(),
  accept_unserved: z.boolean().optional(),
});
export const madeChannel = changedChannel.extend({
  name: z.string().trim().min(1, 'empty').max(100, 'too_long'),
  vendor: z.string(),
});
export const accepted = z.object({ accept_unserved: z.boolean().optional() });
type Change = z.output<typeof changedChannel>;

/** One change of a channel; `accept`: that it leaves models without any has been said before. */
interface Act {
  readonly action: string;
  readonly accept: boolean;
  /** Nothing is done, and what it would do is told. */
  readonly dry?: boolean | undefined;
}

export async function createChannel(
  rooms: OperatorRooms,
  visit: ConsoleVisit<z.output<typeof madeChannel>>,
): Promise<void> {
  const { input } = visit;
  const desk = await deskFor(rooms, visit);
  await act(rooms, visit, { action: 'channel.create', accept: true }, () =>
    addChannel({ name: input.name, ...writtenOf(input) }, desk),
  );
}

export async function editChannel(
  rooms: OperatorRooms,
  visit: ConsoleVisit<Change>,
): Promise<ChannelEffect> {
  const { input, params, headers, at } = visit;
  const of = { name: params['name'] ?? '', version: versionIn(headers) };
  const desk = await deskFor(rooms, visit);
  const written = writtenOf(input);
  return act(
    rooms,
    visit,
    { action: 'channel.update', accept: input.accept_unserved === true, dry: input.dry_run },
    function* () {
      if (input.disabled === undefined) return yield* changeChannel(of, written, desk);
      const switched = yield* switchChannel(of, input.disabled ? 'disabled' : 'active', at);
      if (switched.kind !== 'done' || Object.keys(written).length === 0) return switched;
      const done = yield* changeChannel(
        { name: of.name, version: switched.after?.version },
        written,
        desk,
      );
      return done.kind === 'done' ? { ...done, before: switched.before } : done;
    },
  );
}

const actions: Readonly<Record<ChannelSwitch, string>> = {
  active: 'channel.resume',
  draining: 'channel.drain',
  disabled: 'channel.disable',
};

export async function turnChannel(
  rooms: OperatorRooms,
  visit: ConsoleVisit<z.output<typeof accepted>>,
  state: ChannelSwitch,
): Promise<void> {
  const of: Read = { name: visit.params['name'] ?? '', version: undefined };
  const accept = visit.input.accept_unserved === true;
  await act(rooms, visit, { action: actions[state], accept }, () =>
    switchChannel(of, state, visit.at),
  );
}

export async function dropChannel(
  rooms: OperatorRooms,
  visit: ConsoleVisit<unknown>,
  accept: boolean,
): Promise<void> {
  const of = { name: visit.params['name'] ?? '', version: versionIn(visit.headers) };
  await act(rooms, visit, { action: 'channel.remove', accept }, () => removeChannel(of));
}

/**
 * A change with what it leaves without a channel said before, and told in the trail. A dry run is
 * taken back.
 */
async function act(
  { database }: OperatorRooms,
  visit: ConsoleVisit<unknown>,
  { action, accept, dry }: Act,
  edit: () => Script<Edited<RecordedChannel>>,
): Promise<ChannelEffect> {
  const run = function* (): Script<ChannelEffect> {
    const catalogue = yield* readRecorded();
    const { before, after } = doneOr(yield* edit(), asWritten);
    const effect = {
      unserved_models: before === undefined ? [] : unservedBy(catalogue, before.name, after),
    };
    if (dry === true) throw new DryRun(effect);
    if (effect.unserved_models.length > 0 && !accept)
      return fail('would_unserve', { current: effect });
    const target = after?.name ?? before?.name ?? '';
    yield* writeAudit(visit.at, {
      ...byOperator(visit),
      action,
      target: `channel:${target}`,
      ...toldChange({ before, after }),
    });
    return effect;
  };
  return database.transact(run).catch((error: unknown) => {
    if (error instanceof DryRun) return error.effect;
    throw error;
  });
}

/** In the words of a change, to be held against one. */
const asWritten = ({
  name,
  vendor,
  baseUrl,
  groups,
  models,
  priority,
  weight,
  billsCancelledInput,
  version,
  origin,
}: RecordedChannel) => ({
  ...{ name, vendor, base_url: baseUrl ?? null, groups, priority, weight, version, origin },
  bills_cancelled_input: billsCancelledInput ?? false,
  models: [...models].map(([id, upstream]) => (id === upstream ? { id } : { id, upstream })),
});

class DryRun extends Error {
  readonly effect: ChannelEffect;

  constructor(effect: ChannelEffect) {
    super('a dry run');
    this.effect = effect;
  }
}

/** Of a secret it is told that there is one, and that it was changed. */
function toldChange({ before, after }: Pick<Done<RecordedChannel>, 'before' | 'after'>) {
  const told = (channel: RecordedChannel | undefined, word: string) =>
    plainFacts(channel && { ...channel, secret: channel.secret === undefined ? undefined : word });
  const same = before?.secret?.since === after?.secret?.since;
  return {
    before: told(before, 'set'),
    after: told(after, same || before?.secret === undefined ? 'set' : 'changed'),
  };
}

function writtenOf({
  secret,
  secrets,
  disabled: _,
  dry_run: __,
  accept_unserved: ___,
  ...rest
}: Change): Written {
  const said = Object.entries({
    ...rest,
    ...(secret !== undefined && { api_key: secret }),
    api_keys: secrets,
  }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(said);
}

async function deskFor(
  { sealer, vendors, bundled }: OperatorRooms,
  { user, at }: ConsoleVisit<unknown>,
): Promise<ChannelDesk> {
  return {
    sealer,
    vendors: [...vendors.values()],
    bundled: await bundled(),
    by: { source: 'console', actor: user.id, at },
  };
}
