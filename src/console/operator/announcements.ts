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
} from '../../accounts/announcements.ts';
import { writeAudit } from '../../accounts/audit.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import type { AnnouncementView, OperatorAnnouncement } from '../contract.ts';
import { idempotencyKeyIn, textInput, timeInput, versionIn } from '../input.ts';
import { type OperatorContext, byOperator, auditFacts } from './context.ts';
import { throwProblem } from '../problem.ts';
import { type ConsoleRoute, type SignedInRequest, defineRoute } from '../route.ts';
import { instant, instantOrNull } from '../format.ts';

const bilingualInput = (charactersMax: number) =>
  z.strictObject({ zh: textInput(charactersMax), en: textInput(charactersMax) });
const level = z.enum(['info', 'warn', 'bad']);
const changeInput = z.strictObject({
  title: bilingualInput(200).optional(),
  text: bilingualInput(5_000).optional(),
  level: level.optional(),
  from: timeInput.optional(),
  to: timeInput.nullable().optional(),
  group: z.string().nullable().optional(),
});
const newAnnouncementInput = changeInput.required({ title: true, text: true, level: true });
type Change = z.output<typeof changeInput>;

/** The operator's announcements to users, in both languages. */
export function announcementRoutes({
  database,
  clock,
  catalog,
}: OperatorContext): readonly ConsoleRoute[] {
  const role = 'operator';
  const view = (announcement: Announcement) => operatorView(announcement, clock.now());
  const checked = (wanted: NewAnnouncement) => checkedAnnouncement(wanted, catalog().groups);
  return [
    defineRoute({
      method: 'GET',
      path: 'operator/announcements',
      role,
      handle: async () => ({ items: (await listAnnouncements(database)).map(view) }),
    }),
    defineRoute({
      method: 'POST',
      path: 'operator/announcements',
      role,
      input: newAnnouncementInput,
      async handle(request) {
        const { input, at, headers, user, reply } = request;
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
            if (isNew) yield* audit(request, 'announcement.create', undefined, announcement);
            return announcement;
          }),
        );
      },
    }),
    defineRoute({
      method: 'PATCH',
      path: 'operator/announcements/:id',
      role,
      input: changeInput,
      handle: (request) =>
        database.transact(function* () {
          const before = yield* announcementIn(request);
          const wanted = checked(merged(before, request.input));
          const after = yield* changeAnnouncement(before.id, versionIn(request.headers), wanted);
          if (after === undefined)
            return throwProblem('version_conflict', { current: view(before) });
          yield* audit(request, 'announcement.update', before, after);
          return view(after);
        }),
    }),
    defineRoute({
      method: 'DELETE',
      path: 'operator/announcements/:id',
      role,
      handle: (request) =>
        database.transact(function* (): Transaction<undefined> {
          const before = yield* announcementIn(request);
          yield* removeAnnouncement(before.id);
          yield* audit(request, 'announcement.remove', before, undefined);
        }),
    }),
  ];
}

function* announcementIn({ params }: SignedInRequest<unknown>): Transaction<Announcement> {
  return (yield* findAnnouncement(params['id'] ?? '')) ?? throwProblem('not_found');
}

/** Checks that it ends after it begins, and that its group exists. */
function checkedAnnouncement(
  wanted: NewAnnouncement,
  groups: ReadonlyMap<string, unknown>,
): NewAnnouncement {
  if (wanted.to !== undefined && wanted.to <= wanted.from)
    throwProblem('invalid', { fields: { to: 'before_from' } });
  if (wanted.group !== undefined && !groups.has(wanted.group))
    throwProblem('invalid', { fields: { group: 'unknown' } });
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

function* audit(
  request: SignedInRequest<unknown>,
  action: string,
  before: Announcement | undefined,
  after: Announcement | undefined,
): Transaction<void> {
  yield* writeAudit(request.at, {
    ...byOperator(request),
    action,
    target: `announcement:${after?.id ?? before?.id ?? ''}`,
    before: auditFacts(before),
    after: auditFacts(after),
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

/** The current announcements for a user, for the user's own pages. */
export async function announcementsFor(
  database: Database,
  userId: string,
  now: number,
): Promise<readonly AnnouncementView[]> {
  return (await announcedTo(database, userId, now)).map(viewOf);
}
