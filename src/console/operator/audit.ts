import * as z from 'zod';
import { type AuditRecord as Entry, auditPage, type AuditQuery } from '../../accounts/audit.ts';
import { type Announcement, announcementTitles } from '../../accounts/announcements.ts';
import { keyNames, userNames } from '../../accounts/names.ts';
import type { Database } from '../../storage/database.ts';
import type { AuditEntry, Page } from '../contract.ts';
import { csvLine, csvStart, sendCsv } from '../csv.ts';
import { instant } from '../format.ts';
import { relativeTimeInput, pageInput } from '../input.ts';
import type { OperatorContext } from './context.ts';
import { type ConsoleRoute, defineRoute } from '../route.ts';

const filterInput = z.object({
  actor: z.string().optional(),
  action: z.string().optional(),
  target: z.string().optional(),
  account: z.string().optional(),
  from: relativeTimeInput.optional(),
  to: relativeTimeInput.optional(),
});
const listInput = filterInput.extend(pageInput);
type Filter = z.output<typeof filterInput>;

/** The audit trail: reads it, never writes it. */
export function auditRoutes({ database, cursors }: OperatorContext): readonly ConsoleRoute[] {
  const role = 'operator';
  return [
    defineRoute({
      method: 'GET',
      path: 'operator/audit',
      role,
      input: listInput,
      async handle({ input, at }): Promise<Page<AuditEntry>> {
        const { limit, after, from, to, ...filter } = input;
        const of = ['audit', from?.(0), to?.(0), filter];
        const before = cursors.read(of, after)?.id;
        const entries = await auditPage(database, {
          ...questionOf(input, at),
          before,
          limit: limit + 1,
        });
        const items = await views(database, entries.slice(0, limit));
        const last = items.at(-1);
        const next =
          entries.length > limit && last !== undefined
            ? cursors.write(of, { towards: 'next', at: 0, id: last.id })
            : null;
        return { items, next, prev: null, as_of: instant(at) };
      },
    }),
    defineRoute({
      method: 'GET',
      path: 'operator/audit.csv',
      role,
      input: filterInput,
      perMinute: 10,
      async handle({ input, at, user, reply }) {
        const { zone } = user;
        await sendCsv(reply, 'audit', { zone, at }, csv(database, questionOf(input, at)));
      },
    }),
  ];
}

function questionOf(
  { actor, action, target, account, from, to }: Filter,
  now: number,
): Omit<AuditQuery, 'limit'> {
  return { actor, action, target, account, from: from?.(now), to: to?.(now) };
}

const csvPage = 500;

async function* csv(
  database: Database,
  question: Omit<AuditQuery, 'limit'>,
): AsyncGenerator<string> {
  yield csvStart +
    csvLine([
      'time',
      'actor_kind',
      'actor',
      'actor_name',
      'action',
      'target',
      'account',
      'reason',
      'ip',
      'before',
      'after',
    ]);
  for (let before: string | undefined; ; ) {
    const entries: readonly Entry[] = await auditPage(database, {
      ...question,
      before,
      limit: csvPage,
    });
    const names = await userNames(
      database,
      entries.flatMap(({ actor }) => actor ?? []),
    );
    yield entries
      .map(
        ({ at, actorKind, actor, action, target, account, reason, ip, before: was, after: is }) =>
          csvLine([
            instant(at),
            actorKind,
            actor ?? null,
            names.get(actor ?? '') ?? null,
            action,
            target,
            account ?? null,
            reason ?? null,
            ip ?? null,
            was === undefined ? null : JSON.stringify(was),
            is === undefined ? null : JSON.stringify(is),
          ]),
      )
      .join('');
    before = entries.at(-1)?.id;
    if (entries.length < csvPage) return;
  }
}

async function views(
  database: Database,
  entries: readonly Entry[],
): Promise<readonly AuditEntry[]> {
  const people = entries.flatMap(({ actor, account, target }) => [
    actor,
    account,
    targetOf({ target, action: '' }).id,
  ]);
  const users = await userNames(
    database,
    people.filter((id) => id !== undefined),
  );
  const targets = entries.map(targetOf);
  const keys = await keyNames(
    database,
    targets.flatMap(({ kind, id }) => (kind === 'key' ? [id] : [])),
  );
  const announced = entries.filter((_, index) => targets[index]?.kind === 'announcement');
  const titles = new Map([
    // A removed one is named by the entries that have its title.
    ...announced.flatMap((entry) => titleIn(entry)),
    ...(await announcementTitles(
      database,
      announced.map((entry) => targetOf(entry).id),
    )),
  ]);
  return entries.map((entry, index) => {
    const { id, at, actorKind: kind, actor, action, account, reason, ip } = entry;
    const target = targets[index] ?? targetOf(entry);
    return {
      id,
      at: instant(at),
      actor: { kind, id: actor ?? null, name: users.get(actor ?? '') ?? actor ?? kind },
      action,
      target: {
        ...target,
        name: users.get(target.id) ?? (keys.get(target.id) || null),
        title: titles.get(target.id) ?? null,
      },
      account: account === undefined ? null : { id: account, name: users.get(account) ?? null },
      reason: reason ?? null,
      ip: ip ?? null,
      changes: auditChanges(entry),
    };
  });
}

const titled = z.object({ title: z.object({ zh: z.string(), en: z.string() }) });

/** The id and the title of an announcement, where the entry has the title. */
function titleIn(entry: Entry): readonly (readonly [string, Announcement['title']])[] {
  const { data } = titled.safeParse(entry.after ?? entry.before);
  return data === undefined ? [] : [[targetOf(entry).id, data.title]];
}

/** The target of an import of prices, which has no other id. */
const priceListTarget = 'prices';

/** Splits `channel:ark`; for a target that is only an id, the action names the kind. */
function targetOf({ target, action }: Pick<Entry, 'target' | 'action'>): {
  readonly kind: string;
  readonly id: string;
} {
  if (target === priceListTarget) return { kind: target, id: target };
  const at = target.indexOf(':');
  return at < 0
    ? { kind: action.split('.', 1)[0] ?? '', id: target }
    : { kind: target.slice(0, at), id: target.slice(at + 1) };
}

export function auditChanges({ before = {}, after = {} }: Entry): AuditEntry['changes'] {
  const text = (value: unknown): string | null =>
    value === undefined || value === null
      ? null
      : typeof value === 'string'
        ? value
        : JSON.stringify(value);
  const members = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return members.map((member) => ({
    member,
    before: text(before[member]),
    after: text(after[member]),
  }));
}
