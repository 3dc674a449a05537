import * as z from 'zod';
import { keyEndings, recordedCatalogue } from '../catalog/recorded.ts';
import {
  channelCounts,
  channelTurns,
  nodeReports,
  overrunsOf,
  tallied,
} from '../gateway/reports/report.ts';
import { openTasksByChannel } from '../gateway/tasks/questions.ts';
import type { Vendor } from '../providers/adapter.ts';
import { hourMs } from '../usage/cover.ts';
import { lossesByChannel } from '../usage/losses.ts';
import { recentOf } from '../usage/tail.ts';
import type { ChannelHealth, ChannelView, List, VendorView } from './contract.ts';
import {
  accepted,
  changedChannel,
  createChannel,
  dropChannel,
  editChannel,
  madeChannel,
  turnChannel,
} from './operator-channel-edits.ts';
import { type ChannelSight, channelView, whyCode } from './operator-channel-view.ts';
import type { OperatorRooms } from './operator-rooms.ts';
import { vendorCosts } from './operator-vendor-costs.ts';
import { fail } from './problem.ts';
import { type ConsoleRow, type ConsoleVisit, row } from './row.ts';
import { instant } from './written.ts';

const hoursShown = 24;
const storyMax = 50;
const role = 'operator';
const base = 'operator/channels';

/** Whom we buy from, how they do, and what may be changed of it. */
export function channelRows(rooms: OperatorRooms): readonly ConsoleRow[] {
  return [...readingRows(rooms), ...writingRows(rooms)];
}

const nameOf = ({ params }: Pick<ConsoleVisit, 'params'>): string => params['name'] ?? '';

function readingRows(rooms: OperatorRooms): readonly ConsoleRow[] {
  return [
    row({
      method: 'GET',
      path: base,
      role,
      async handle(): Promise<List<ChannelView>> {
        const seen = await sight(rooms);
        return { items: seen.catalogue.channels.map((channel) => channelView(channel, seen)) };
      },
    }),
    row({
      method: 'GET',
      path: `${base}/:name`,
      role,
      handle: (visit) => one(rooms, nameOf(visit)),
    }),
    row({
      method: 'GET',
      path: `${base}/:name/health`,
      role,
      handle: (visit) => health(rooms, nameOf(visit), visit.at),
    }),
    row({
      method: 'GET',
      path: 'operator/vendors',
      role,
      handle: (): List<VendorView> => ({ items: [...rooms.vendors.values()].map(vendorView) }),
    }),
  ];
}

function writingRows(rooms: OperatorRooms): readonly ConsoleRow[] {
  return [
    row({
      method: 'POST',
      path: base,
      role,
      input: madeChannel,
      async handle(visit) {
        await createChannel(rooms, visit);
        visit.reply.status(201);
        return one(rooms, visit.input.name);
      },
    }),
    row({
      method: 'PATCH',
      path: `${base}/:name`,
      role,
      input: changedChannel,
      async handle(visit) {
        const effect = await editChannel(rooms, visit);
        return visit.input.dry_run === true ? effect : one(rooms, nameOf(visit));
      },
    }),
    row({
      method: 'DELETE',
      path: `${base}/:name`,
      role,
      input: z.object({ accept_unserved: z.literal('1').optional() }),
      handle: (visit) => dropChannel(rooms, visit, visit.input.accept_unserved === '1'),
    }),
    ...(['drain', 'disable', 'resume'] as const).map((turn) =>
      row({
        method: 'POST',
        path: `${base}/:name/${turn}`,
        role,
        input: accepted,
        async handle(visit) {
          await turnChannel(
            rooms,
            visit,
            turn === 'drain' ? 'draining' : turn === 'disable' ? 'disabled' : 'active',
          );
          return one(rooms, nameOf(visit));
        },
      }),
    ),
  ];
}

async function sight({ database, clock, vendors, sealer }: OperatorRooms): Promise<ChannelSight> {
  const now = clock.now();
  const catalogue = await recordedCatalogue(database);
  const reports = await nodeReports(database, clock);
  const counts = await channelCounts(database, { from: now - hourMs });
  const overruns = overrunsOf(await channelCounts(database, { from: now - hoursShown * hourMs }));
  const losses = await database.snapshot(() => lossesByChannel(now - hoursShown * hourMs));
  const tasks = await openTasksByChannel(database);
  const first = now - hoursShown * hourMs;
  const span = { from: first - (first % hourMs), to: now };
  const costs = await database.snapshot(function* () {
    return yield* vendorCosts(database, catalogue, {
      ...span,
      tail: (yield* recentOf(span, now)).tail,
    });
  });
  const endings = await keyEndings(database, sealer);
  return { catalogue, vendors, reports, endings, counts, tasks, costs, overruns, losses };
}

async function one(rooms: OperatorRooms, name: string): Promise<ChannelView> {
  const seen = await sight(rooms);
  const channel = seen.catalogue.channels.find((some) => some.name === name);
  return channel === undefined ? fail('not_found') : channelView(channel, seen);
}

async function health(
  { database }: OperatorRooms,
  name: string,
  at: number,
): Promise<ChannelHealth> {
  if (!(await recordedCatalogue(database)).channels.some((channel) => channel.name === name))
    fail('not_found');
  const first = at - (at % hourMs) - (hoursShown - 1) * hourMs;
  const counts = await channelCounts(database, { from: first, channel: name });
  const hours = Array.from({ length: hoursShown }, (_, index) => first + index * hourMs).map(
    (hour) => {
      const { requests, faults, medianMs, p95Ms } = tallied(
        counts.filter(({ slot }) => slot >= hour && slot < hour + hourMs),
      );
      return {
        hour: instant(hour),
        requests,
        errors: faults,
        first_byte_median_ms: medianMs ?? null,
        first_byte_p95_ms: p95Ms ?? null,
      };
    },
  );
  const turns = await channelTurns(database, name, storyMax);
  const story = turns.map(({ at: since, state, why, until, node }) => ({
    at: instant(since),
    code: state,
    values: {
      node,
      ...(why !== undefined && { why: whyCode(why) }),
      ...(until !== undefined && { until: instant(until) }),
    },
  }));
  return { hours, story };
}

function vendorView({ id, baseUrl, speaks, env, consoleUrl }: Vendor): VendorView {
  return {
    name: id,
    default_base_url: baseUrl ?? null,
    capabilities: Object.keys(speaks),
    needs_secret: env !== undefined,
    console_url: consoleUrl ?? null,
  };
}
