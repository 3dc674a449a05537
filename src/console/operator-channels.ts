import * as z from 'zod';
import { writeAudit } from '../accounts/audit.ts';
import { addChannel, changeChannel, type ChannelDesk, removeChannel, switchChannel } from '../catalog/edit-channels.ts';
import type { Done, Edited, Written } from '../catalog/editing.ts';
import { type ChannelSwitch, readRecorded, recordedCatalogue, type RecordedChannel } from '../catalog/recorded.ts';
import { channelCounts, channelTurns, nodeReports, tallied } from '../gateway/reports/report.ts';
import { openTasksByChannel } from '../gateway/tasks/questions.ts';
import type { Script } from '../storage/database.ts';
import type { ChannelEffect, ChannelHealth, ChannelView, List, VendorView } from './contract.ts';
import { versionIn } from './headers.ts';
import { type ChannelSight, channelView, type ChannelThen, unservedBy, whyCode } from './operator-channel-view.ts';
import type { OperatorRooms } from './operator-rooms.ts';
import { vendorCosts } from './operator-vendor-costs.ts';
import { byOperator, doneOr, plainFacts } from './operator-writes.ts';
import { fail } from './problem.ts';
import { type ConsoleRow, type ConsoleVisit, row } from './row.ts';
import { instant, instantOrNull } from './written.ts';

const hourMs = 3_600_000;
const storyMax = 50;

/** What is written of a channel is checked where the configuration file is: here it has to be of these members. */
const changed = z.strictObject({
  vendor: z.string().optional(),
  base_url: z.string().nullable().optional(),
  secret: z.string().min(1, 'empty').max(20_000, 'too_long').optional(),
  groups: z.array(z.string()).optional(),
  models: z.array(z.unknown()).max(2_000, 'too_many').optional(),
  priority: z.number().optional(),
  weight: z.number().optional(),
  disabled: z.boolean().optional(),
  costs: z.record(z.string(), z.unknown()).optional(),
  dry_run: z.boolean().optional(),
  accept_unserved: z.boolean().optional(),
});
const made = changed.extend({ name: z.string().trim().min(1, 'empty').max(100, 'too_long'), vendor: z.string() });
type Change = z.output<typeof changed>;

/** Whom we buy from, how they do, and what may be changed of it. */
export function channelRows(rooms: OperatorRooms): readonly ConsoleRow[] {
  const { database, clock } = rooms;
  const role = 'operator';
  const sightOf = () => sight(rooms);
  return [
    row({
      method: 'GET',
      path: 'operator/channels',
      role,
      async handle(): Promise<List<ChannelView>> {
        const seen = await sightOf();
        return { items: seen.catalogue.channels.map((channel) => channelView(channel, seen)) };
      },
    }),
    row({ method: 'GET', path: 'operator/channels/:name', role, handle: ({ params }) => one(rooms, params['name'] ?? '') }),
    row({ method: 'POST', path: 'operator/channels', role, input: made, handle: (visit) => create(rooms, visit) }),
    row({ method: 'PATCH', path: 'operator/channels/:name', role, input: changed, handle: (visit) => change(rooms, visit) }),
    row({
      method: 'DELETE',
      path: 'operator/channels/:name',
      role,
      input: z.object({ accept_unserved: z.literal('1').optional() }),
      async handle(visit) {
        const of = { name: visit.params['name'] ?? '', version: versionIn(visit.headers) };
        await act(rooms, visit, 'channel.remove', undefined, visit.input.accept_unserved === '1', () => removeChannel(of));
      },
    }),
    row({
      method: 'POST',
      path: 'operator/channels/:name/drain',
      role,
      input: accepted,
      handle: (visit) => turn(rooms, visit, 'draining'),
    }),
    row({
      method: 'POST',
      path: 'operator/channels/:name/disable',
      role,
      input: accepted,
      handle: (visit) => turn(rooms, visit, 'disabled'),
    }),
    row({ method: 'POST', path: 'operator/channels/:name/resume', role, input: accepted, handle: (visit) => turn(rooms, visit, 'active') }),
    row({
      method: 'GET',
      path: 'operator/channels/:name/health',
      role,
      async handle({ params, at }): Promise<ChannelHealth> {
        const name = params['name'] ?? '';
        const first = at - (at % hourMs) - 23 * hourMs;
        const counts = await channelCounts(database, { from: first, channel: name });
        const hours = Array.from({ length: 24 }, (_, index) => first + index * hourMs).map((hour) => {
          const { requests, faults, medianMs, p95Ms } = tallied(counts.filter(({ slot }) => slot >= hour && slot < hour + hourMs));
          return {
            hour: instant(hour),
            requests,
            errors: faults,
            first_byte_median_ms: medianMs ?? null,
            first_byte_p95_ms: p95Ms ?? null,
          };
        });
        const turns = await channelTurns(database, name, storyMax);
        return {
          hours,
          story: turns.map(({ at: since, state, why, until, node }) => ({
            at: instant(since),
            code: state,
            values: { node, ...(why && { why: whyCode(why) }), ...(until && { until: instantOrNull(until) ?? '' }) },
          })),
        };
      },
    }),
    row({ method: 'GET', path: 'operator/vendors', role, handle: () => ({ items: vendorViews(rooms) }) satisfies List<VendorView> }),
  ];

  function vendorViews({ vendors }: OperatorRooms): readonly VendorView[] {
    return [...vendors.values()].map(({ id, baseUrl, speaks, env }) => ({
      name: id,
      default_base_url: baseUrl ?? null,
      capabilities: Object.keys(speaks),
      needs_secret: env !== undefined,
      console_url: null,
    }));
  }

  async function sight({ vendors }: OperatorRooms): Promise<ChannelSight> {
    const now = clock.now();
    const catalogue = await recordedCatalogue(database);
    const reports = await nodeReports(database, clock);
    const counts = await channelCounts(database, { from: now - hourMs });
    const tasks = await openTasksByChannel(database);
    return { catalogue, vendors, reports, counts, tasks, costs: await vendorCosts(database, catalogue, now - 24 * hourMs, now) };
  }

  async function one({ database: _ }: OperatorRooms, name: string): Promise<ChannelView> {
    const seen = await sightOf();
    const channel = seen.catalogue.channels.find((some) => some.name === name);
    return channel === undefined ? fail('not_found') : channelView(channel, seen);
  }

  async function create(all: OperatorRooms, visit: ConsoleVisit<z.output<typeof made>>): Promise<ChannelView> {
    const { input, reply } = visit;
    const desk = await deskFor(all, visit);
    await act(all, visit, 'channel.create', undefined, true, () => addChannel({ name: input.name, ...writtenOf(input) }, desk));
    reply.status(201);
    return one(all, input.name);
  }

  async function change(all: OperatorRooms, visit: ConsoleVisit<Change>): Promise<ChannelView | ChannelEffect> {
    const { input, params, headers } = visit;
    const name = params['name'] ?? '';
    const of = { name, version: versionIn(headers) };
    const desk = await deskFor(all, visit);
    const written = writtenOf(input);
    const editing = function* (): Script<Edited<RecordedChannel>> {
      const switched =
        input.disabled === undefined ? undefined : yield* switchChannel(of, input.disabled ? 'disabled' : 'active', visit.at);
      if (Object.keys(written).length === 0) return switched ?? { kind: 'absent' };
      const then = switched?.kind === 'done' ? { name, version: switched.after?.version } : of;
      const done = switched === undefined || switched.kind === 'done' ? yield* changeChannel(then, written, desk) : switched;
      return done.kind === 'done' && switched?.kind === 'done' ? { ...done, before: switched.before } : done;
    };
    const effect = await act(all, visit, 'channel.update', input.dry_run, input.accept_unserved === true, editing);
    return input.dry_run === true ? effect : one(all, name);
  }

  async function turn(all: OperatorRooms, visit: ConsoleVisit<z.output<typeof accepted>>, state: ChannelSwitch): Promise<ChannelView> {
    const name = visit.params['name'] ?? '';
    const action = state === 'active' ? 'channel.resume' : state === 'draining' ? 'channel.drain' : 'channel.disable';
    await act(all, visit, action, undefined, visit.input.accept_unserved === true, () =>
      switchChannel({ name, version: undefined }, state, visit.at),
    );
    return one(all, name);
  }

  /** One change, with what it leaves without a channel said before, and told in the trail. A dry run is taken back. */
  async function act(
    { database: db }: OperatorRooms,
    visit: ConsoleVisit<unknown>,
    action: string,
    dry: boolean | undefined,
    accept: boolean,
    edit: () => Script<Edited<RecordedChannel>>,
  ): Promise<ChannelEffect> {
    const run = function* (): Script<ChannelEffect> {
      const catalogue = yield* readRecorded();
      const { before, after } = doneOr(yield* edit(), ({ name, version, origin }) => ({ name, version, origin }));
      const effect = { unserved_models: before === undefined ? [] : unservedBy(catalogue, before.name, thenOf(after)) };
      if (dry === true) throw new DryRun(effect);
      if (effect.unserved_models.length > 0 && !accept) return fail('would_unserve', { current: effect });
      const target = after?.name ?? before?.name ?? '';
      yield* writeAudit(visit.at, { ...byOperator(visit), action, target: `channel:${target}`, ...toldChange({ before, after }) });
      return effect;
    };
    return db.transact(run).catch((error: unknown) => {
      if (error instanceof DryRun) return error.effect;
      throw error;
    });
  }
}

const accepted = z.object({ accept_unserved: z.boolean().optional() });

const thenOf = (after: RecordedChannel | undefined): ChannelThen => after;

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
  return { before: told(before, 'set'), after: told(after, same || before?.secret === undefined ? 'set' : 'changed') };
}

function writtenOf({ secret, disabled: _, dry_run: __, accept_unserved: ___, ...rest }: Change): Written {
  const said = Object.entries({ ...rest, ...(secret !== undefined && { api_key: secret }) }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(said);
}

async function deskFor({ sealer, vendors, bundled }: OperatorRooms, { user, at }: ConsoleVisit<unknown>): Promise<ChannelDesk> {
  return { sealer, vendors: [...vendors.values()], bundled: await bundled(), by: { source: 'console', actor: user.id, at } };
}
