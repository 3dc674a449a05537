import * as z from 'zod';
import {
  addAnnouncement,
  type Announcement,
  announcedTo,
  changeAnnouncement,
  findAnnouncement,
  listAnnouncements,
  type NewAnnouncement,
  removeAnnouncement,
} from '../accounts/announcements.ts';
import { writeAudit } from '../accounts/audit.ts';
import type { Database, Script } from '../storage/database.ts';
import type { AnnouncementView, List, OperatorAnnouncement } from './contract.ts';
import { idempotencyKeyIn, versionIn } from './headers.ts';
import { time } from './input.ts';
import type { OperatorRooms } from './operator-rooms.ts';
import { byOperator, plainFacts } from './operator-writes.ts';
import { fail } from './problem.ts';
import { type ConsoleRow, type ConsoleVisit, row } from './row.ts';
import { instant, instantOrNull } from './written.ts';

const words = (max: number) => {
  const some = z.string().trim().min(1, 'empty').max(max, 'too_long');
  return z.strictObject({ zh: some, en: some });
};
const level = z.enum(['info', 'warn', 'bad']);
const changed = z.strictObject({
  title: words(200).optional(),
  text: words(5_000).optional(),
  level: level.optional(),
  from: time.optional(),
  to: time.nullable().optional(),
  group: z.string().nullable().optional(),
});
const made = changed.required({ title: true, text: true, level: true });
type Change = z.output<typeof changed>;

/** What users are told, in both languages. */
export function announcementRows({
  database,
  clock,
  catalog,
}: OperatorRooms): readonly ConsoleRow[] {
  const role = 'operator';
  const view = (announcement: Announcement) => operatorView(announcement, clock.now());
  const checked = (wanted: NewAnnouncement) => sound(wanted, catalog().groups);
  return [
    row({
      method: 'GET',
      path: 'operator/announcements',
      role,
      handle: async (): Promise<List<OperatorAnnouncement>> => ({
        items: (await listAnnouncements(database)).map(view),
      }),
    }),
    row({
      method: 'POST',
      path: 'operator/announcements',
      role,
      input: made,
      async handle(visit) {
        const { input, at, headers, user, reply } = visit;
        const wanted = checked(
          merged(
            { ...input, level: input.level, from: at, to: undefined, group: undefined },
            input,
          ),
        );
        const by = { author: user.id, madeWith: idempotencyKeyIn(headers), at };
        reply.status(201);
        return view(
          await database.transact(function* () {
            const { announcement, made: isNew } = yield* addAnnouncement(wanted, by);
            if (isNew) yield* told(visit, 'announcement.create', undefined, announcement);
            return announcement;
          }),
        );
      },
    }),
    row({
      method: 'PATCH',
      path: 'operator/announcements/:id',
      role,
      input: changed,
      handle: (visit) =>
        database.transact(function* () {
          const before = (yield* findAnnouncement(visit.params['id'] ?? '')) ?? fail('not_found');
          const wanted = checked(merged(before, visit.input));
          const after = yield* changeAnnouncement(before.id, versionIn(visit.headers), wanted);
          if (after === undefined) return fail('version_conflict', { current: view(before) });
          yield* told(visit, 'announcement.update', before, after);
          return view(after);
        }),
    }),
    row({
      method: 'DELETE',
      path: 'operator/announcements/:id',
      role,
      handle: (visit) =>
        database.transact(function* (): Script<undefined> {
          const before = (yield* findAnnouncement(visit.params['id'] ?? '')) ?? fail('not_found');
          yield* removeAnnouncement(before.id);
          yield* told(visit, 'announcement.remove', before, undefined);
        }),
    }),
  ];
}

/** It ends after it begins, and its group exists. */
function sound(wanted: NewAnnouncement, groups: ReadonlyMap<string, unknown>): NewAnnouncement {
  if (wanted.to !== undefined && wanted.to <= wanted.from)
    fail('invalid', { fields: { to: 'before_from' } });
  if (wanted.group !== undefined && !groups.has(wanted.group))
    fail('invalid', { fields: { group: 'unknown' } });
  return wanted;
}

function merged(
  before: NewAnnouncement,
  { title, text, level: wanted, from, to, group }: Change,
): NewAnnouncement {
  return {
    title: title ?? before.title,
    text: text ?? before.text,
    level: wanted ?? before.level,
    from: from ?? before.from,
    to: to === null ? undefined : (to ?? before.to),
    group: group === null ? undefined : (group ?? before.group),
  };
}

function* told(
  visit: ConsoleVisit<unknown>,
  action: string,
  before: Announcement | undefined,
  after: Announcement | undefined,
): Script<void> {
  const target = `announcement:${after?.id ?? before?.id ?? ''}`;
  yield* writeAudit(visit.at, {
    ...byOperator(visit),
    action,
    target,
    before: plainFacts(before),
    after: plainFacts(after),
  });
}

function viewOf({ id, title, text, level: of, from, to }: Announcement): AnnouncementView {
  return { id, title, text, level: of, from: instant(from), to: instantOrNull(to) };
}

function operatorView(announcement: Announcement, now: number): OperatorAnnouncement {
  const { from, to, group, version } = announcement;
  const state = from > now ? 'planned' : to !== undefined && to <= now ? 'over' : 'shown';
  return { ...viewOf(announcement), group: group ?? null, state, version };
}

/** What is announced to a user now, for the user's own pages. */
export async function announced(
  database: Database,
  userId: string,
  now: number,
): Promise<readonly AnnouncementView[]> {
  return (await announcedTo(database, userId, now)).map(viewOf);
}
