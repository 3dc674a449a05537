import type { Fraction } from '../base/fraction.ts';
import { readDecimal } from './fraction.ts';
import type { Foreign } from './foreign.ts';
import { objectIn } from './new-api.ts';
import type { Note } from './report.ts';

export type Table = ReadonlyMap<string, Fraction>;

/** What this room reads of the tables below. */
const taken = new Set([
  ...[
    'ModelRatio',
    'ModelPrice',
    'CompletionRatio',
    'CacheRatio',
    'CreateCacheRatio',
    'ImageRatio',
    'AudioRatio',
    'AudioCompletionRatio',
  ],
  ...['GroupRatio', 'billing_setting.billing_mode'],
]);

/** Names that say what something costs, or whom; new ones come with every release there. */
const aboutPrices = /ratio|pric(?:e|ing)|billing|tier|discount|usable_group|ratelimit/i;

/**
 * Numbers by name, as an administrator saved them; undefined: not saved, or not to be read, which
 * is told.
 */
export function savedTable({ options }: Foreign, name: string, notes: Note[]): Table | undefined {
  const json = options.get(name);
  if (json === undefined || json.trim() === '') return undefined;
  const what = `option ${name}`;
  const saved = objectIn(json);
  if (saved === undefined) {
    notes.push({ what, note: 'it cannot be read, and counts as not saved' });
    return undefined;
  }
  const table = new Map<string, Fraction>();
  for (const [key, written] of Object.entries(saved)) {
    const value = readDecimal(written);
    if (value !== undefined) table.set(key, value);
    else
      notes.push({
        what,
        note: `what it says of ${key} is no ratio ('${String(written)}'), and counts as not saved`,
      });
  }
  return table;
}

/** Groups that users could choose there by themselves; undefined: not saved. */
export function usableGroups({ options }: Foreign): ReadonlySet<string> | undefined {
  const saved = objectIn(options.get('UserUsableGroups') ?? '');
  return saved && new Set(Object.keys(saved));
}

/**
 * Tables about prices that nobody here reads: discounts of one group in another, tiers, tools, and
 * whatever comes next.
 */
export function untakenOptions({ options }: Foreign): readonly Note[] {
  const names = [...options].flatMap(([name, value]) =>
    aboutPrices.test(name) && !taken.has(name) && Object.keys(objectIn(value) ?? {}).length > 0
      ? [name]
      : [],
  );
  if (names.length === 0) return [];
  const note = `these say there what something costs or who may have it, and are not taken; whoever paid less by them pays the plain price here: ${names.sort().join(', ')}`;
  return [{ what: 'options', note }];
}
