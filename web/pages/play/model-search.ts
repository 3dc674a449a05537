import type { ModelRow } from '../../../src/console/contract.ts';
import { rateOf } from '../../format/price.ts';
import type { Language } from '../../words/language.ts';
import { isSameVendor, vendorsByName, vendorText } from '../../words/vendor-names.ts';
import { type Ability, hasAbility } from '../model-facts.tsx';

/** The models whose name or vendor has every typed word, and that have every wanted ability. */
export function matching(
  models: readonly ModelRow[],
  typed: string,
  can: readonly Ability[],
): readonly ModelRow[] {
  const wanted = typed.toLowerCase().split(/\s+/);
  return models.filter(({ id, vendor, ...rest }) => {
    const text = `${id.toLowerCase()} ${vendorText(vendor)}`;
    return (
      wanted.every((word) => text.includes(word)) &&
      can.every((ability) => hasAbility({ id, vendor, ...rest }, ability))
    );
  });
}

interface Section {
  /** Undefined: the models tried last. */
  readonly vendor: string | undefined;
  readonly models: readonly ModelRow[];
}

/** The models tried last, then the others by vendor, in the order of the vendors' names. */
export function sectionsOf(
  models: readonly ModelRow[],
  recent: readonly string[],
  language: Language,
): readonly Section[] {
  const last = recent.flatMap((id) => models.find((model) => model.id === id) ?? []);
  const others = models.filter((model) => !last.includes(model));
  const vendors = vendorsByName(
    others.map(({ vendor }) => vendor),
    language,
  );
  return [
    ...(last.length > 0 ? [{ vendor: undefined, models: last }] : []),
    ...vendors.map((vendor) => ({
      vendor,
      models: others.filter((model) => isSameVendor(model.vendor, vendor)),
    })),
  ];
}

/**
 * The model to begin with: the one tried last, else the one that most requests of the last day went
 * to, else the one of the samples, else the cheapest, of those that stay.
 */
export function usualModel(
  models: readonly ModelRow[],
  recent: readonly string[],
  sample: string | null,
): ModelRow | undefined {
  const last = recent.flatMap((id) => models.find((model) => model.id === id) ?? [])[0];
  if (last !== undefined) return last;
  const staying = models.filter(({ shutdown_date: date }) => date === null);
  return (staying.length > 0 ? staying : models).toSorted(
    (one, other) =>
      asked(other) - asked(one) ||
      Number(other.id === sample) - Number(one.id === sample) ||
      byPrice(one, other),
  )[0];
}

const asked = ({ speed }: ModelRow): number => speed?.requests ?? 0;

/** A model without a price comes last. */
function byPrice(one: ModelRow, other: ModelRow): number {
  const [a, b] = [outputRate(one), outputRate(other)];
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return a < b ? -1 : Number(a > b);
}

/** What output costs, at its lowest. */
const outputRate = ({ prices }: ModelRow): bigint | undefined =>
  prices
    .filter(({ class: of }) => !/input|cache/.test(of))
    .map(rateOf)
    .reduce<bigint | undefined>(
      (least, rate) => (least === undefined || rate < least ? rate : least),
      undefined,
    );
