import * as z from 'zod';
import { writeAudit } from '../accounts/audit.ts';
import { policies } from '../base/policy.ts';
import { addGroup, changeGroup, removeGroup } from '../catalog/edit-groups.ts';
import type { Edited, Written } from '../catalog/editing.ts';
import { readRecorded, type RecordedCatalogue, type RecordedGroup } from '../catalog/recorded.ts';
import type { Database, Script } from '../storage/database.ts';
import type { List, OperatorGroup } from './contract.ts';
import { versionIn } from './headers.ts';
import { groupPreviewRow } from './operator-group-preview.ts';
import type { OperatorRooms } from './operator-rooms.ts';
import { byOperator, doneOr, plainFacts } from './operator-writes.ts';
import { multiplierText } from './prices.ts';
import { fail } from './problem.ts';
import { type ConsoleRow, type ConsoleVisit, row } from './row.ts';

const limit = z.number().nullable().optional();
const changed = z.strictObject({
  multiplier: z.string().optional(),
  rpm: limit,
  tpm: limit,
  concurrency: limit,
  policy: z.enum(policies).optional(),
});
const made = changed.extend({ name: z.string().trim().min(1, 'empty').max(100, 'too_long') });

/** Groups: what their keys may call, at which multiple of the prices, and how fast. */
export function groupRows(rooms: OperatorRooms): readonly ConsoleRow[] {
  const { database } = rooms;
  const role = 'operator';
  const one = (name: string): Promise<OperatorGroup> =>
    database.snapshot(function* () {
      const found = (yield* views()).find((group) => group.name === name);
      return found ?? fail('not_found');
    });
  const nameOf = ({ params }: ConsoleVisit<unknown>): string => params['name'] ?? '';
  return [
    row({
      method: 'GET',
      path: 'operator/groups',
      role,
      handle: async (): Promise<List<OperatorGroup>> => ({ items: await database.snapshot(views) }),
    }),
    row({
      method: 'GET',
      path: 'operator/groups/:name',
      role,
      handle: (visit) => one(nameOf(visit)),
    }),
    row({
      method: 'POST',
      path: 'operator/groups',
      role,
      input: made,
      async handle(visit) {
        const { name, ...rest } = visit.input;
        await act(database, visit, 'group.create', () =>
          addGroup({ name, ...writtenOf(rest) }, visit.at),
        );
        visit.reply.status(201);
        return one(name);
      },
    }),
    row({
      method: 'PATCH',
      path: 'operator/groups/:name',
      role,
      input: changed,
      async handle(visit) {
        const of = { name: nameOf(visit), version: versionIn(visit.headers) };
        await act(database, visit, 'group.update', () =>
          changeGroup(of, writtenOf(visit.input), visit.at),
        );
        return one(of.name);
      },
    }),
    groupPreviewRow(rooms),
    row({
      method: 'DELETE',
      path: 'operator/groups/:name',
      role,
      async handle(visit) {
        const of = { name: nameOf(visit), version: versionIn(visit.headers) };
        await act(database, visit, 'group.remove', () => removeGroup(of));
      },
    }),
  ];
}

/** A change of a group, and its line in the audit trail; returns the group's name. */
function act(
  database: Database,
  visit: ConsoleVisit<unknown>,
  action: string,
  edit: () => Script<Edited<RecordedGroup>>,
): Promise<string> {
  return database.transact(function* () {
    const { before, after } = doneOr(yield* edit(), asWritten);
    const target = after?.name ?? before?.name ?? '';
    if (after === undefined) yield* unneeded(target);
    const facts = { before: plainFacts(before), after: plainFacts(after) };
    yield* writeAudit(visit.at, {
      ...byOperator(visit),
      action,
      target: `group:${target}`,
      ...facts,
    });
    return target;
  });
}

function writtenOf({ multiplier, policy, ...limits }: z.output<typeof changed>): Written {
  return {
    ...(multiplier !== undefined && { price_multiplier: multiplier }),
    ...(policy !== undefined && { policy }),
    limits,
  };
}

/** In the words of a change, to be held against one. */
const asWritten = ({
  name,
  multiplierPpm,
  limits: { rpm, tpm, concurrency },
  policy = 'weighted',
  version,
  origin,
}: RecordedGroup) => ({
  ...{
    name,
    multiplier: multiplierText(multiplierPpm),
    rpm: rpm ?? null,
    tpm: tpm ?? null,
    concurrency: concurrency ?? null,
  },
  ...{ policy, version, origin },
});

const keysByGroup =
  "SELECT group_name, COUNT(*) AS keys FROM api_keys WHERE status='active' GROUP BY group_name";

function* views(): Script<readonly OperatorGroup[]> {
  const catalogue = yield* readRecorded();
  const keys = new Map(
    (yield { sql: keysByGroup, params: [] }).map((line) => [
      line['group_name'],
      Number(line['keys']),
    ]),
  );
  return catalogue.groups.map((group) => viewOf(group, catalogue, keys.get(group.name) ?? 0));
}

function viewOf(
  group: RecordedGroup,
  { channels, models }: RecordedCatalogue,
  keys: number,
): OperatorGroup {
  const { name, multiplierPpm, limits, policy = 'weighted', origin, version } = group;
  const selling = channels.filter(
    ({ groups, state }) => state === 'active' && groups.includes(name),
  );
  const reached = models
    .filter(({ active }) => active)
    .map(({ id }) => ({
      id,
      channels: selling.filter((channel) => channel.models.has(id)).map((channel) => channel.name),
    }));
  return {
    name,
    multiplier: multiplierText(multiplierPpm),
    rpm: limits.rpm ?? null,
    tpm: limits.tpm ?? null,
    concurrency: limits.concurrency ?? null,
    policy,
    models: reached.filter((model) => model.channels.length > 0),
    keys,
    origin,
    version,
  };
}

/** A group that keys or channels name stays. */
function* unneeded(name: string): Script<void> {
  const [found] = yield {
    sql: "SELECT COUNT(*) AS keys FROM api_keys WHERE group_name=$1 AND status='active'",
    params: [name],
  };
  const { channels } = yield* readRecorded();
  const naming = channels
    .filter(({ groups }) => groups.includes(name))
    .map((channel) => channel.name);
  if (Number(found?.['keys'] ?? 0) > 0 || naming.length > 0)
    fail('in_use', { current: { keys: Number(found?.['keys'] ?? 0), channels: naming } });
}
