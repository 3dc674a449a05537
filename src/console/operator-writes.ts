import type { Facts } from '../accounts/audit.ts';
import type { Done, Edited } from '../catalog/editing.ts';
import { fail } from './problem.ts';
import type { ConsoleVisit } from './row.ts';

/** Who acts, as the audit trail tells it. */
export const byOperator = ({ user, ip }: Pick<ConsoleVisit, 'user' | 'ip'>) =>
  ({ actorKind: 'operator', actor: user.id, ip }) as const;

/** What became of a change of the catalogue, when something did; everything else is a no. */
export function doneOr<Thing>(edited: Edited<Thing>, view: (thing: Thing) => unknown): Done<Thing> {
  switch (edited.kind) {
    case 'done':
      return edited;
    case 'absent':
      return fail('not_found');
    case 'exists':
      return fail('conflict', { message: 'There is one of that name.', fields: { name: 'taken' } });
    case 'conflict':
      return fail('version_conflict', { current: view(edited.current) });
    case 'read_only':
      return fail('read_only', { current: view(edited.current) });
    case 'wrong': {
      const fields: Record<string, string> = {};
      for (const { path, message } of edited.problems) fields[path] ??= message;
      return fail('invalid', { fields, message: edited.problems[0]?.message ?? '' });
    }
  }
}

/** Facts of an object for the audit trail: money and the like as text. */
export function plainFacts(thing: object | undefined): Facts | undefined {
  if (thing === undefined) return undefined;
  const text = JSON.stringify(thing, (_name, value: unknown) => {
    if (typeof value === 'bigint') return value.toString();
    return value instanceof Map ? Object.fromEntries(value) : value;
  });
  const { version: _, changedAt: __, ...facts } = JSON.parse(text) as Record<string, unknown>;
  return facts;
}
