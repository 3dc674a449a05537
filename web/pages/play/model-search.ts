import type { ModelRow } from '../../../src/console/contract.ts';
import { type Ability, hasAbility } from '../model-facts.tsx';

/** The models whose name or vendor has every typed word, and that have every wanted ability. */
export function matching(
  models: readonly ModelRow[],
  typed: string,
  can: readonly Ability[],
): readonly ModelRow[] {
  const wanted = typed.toLowerCase().split(/\s+/);
  return models.filter(({ id, vendor, ...rest }) => {
    const text = `${id} ${vendor}`.toLowerCase();
    return (
      wanted.every((word) => text.includes(word)) &&
      can.every((ability) => hasAbility({ id, vendor, ...rest }, ability))
    );
  });
}

export interface Section {
  /** Undefined: the models tried last. */
  readonly vendor: string | undefined;
  readonly models: readonly ModelRow[];
}

/** The models tried last, then the others by vendor. */
export function sectionsOf(
  models: readonly ModelRow[],
  recent: readonly string[],
): readonly Section[] {
  const last = recent.flatMap((id) => models.find((model) => model.id === id) ?? []);
  const others = models.filter((model) => !last.includes(model));
  const vendors = [...new Set(others.map(({ vendor }) => vendor))].toSorted();
  return [
    ...(last.length > 0 ? [{ vendor: undefined, models: last }] : []),
    ...vendors.map((vendor) => ({
      vendor,
      models: others.filter((model) => model.vendor === vendor),
    })),
  ];
}

/**
 * The model to begin with: the one tried last, else the one that most requests of the last day went
 * to, of those that stay.
 */
export function usualModel(
  models: readonly ModelRow[],
  recent: readonly string[],
): ModelRow | undefined {
  const last = recent.flatMap((id) => models.find((model) => model.id === id) ?? [])[0];
  if (last !== undefined) return last;
  const staying = models.filter(({ shutdown_date: date }) => date === null);
  return (staying.length > 0 ? staying : models).reduce<ModelRow | undefined>(
    (most, model) => (most === undefined || asked(model) > asked(most) ? model : most),
    undefined,
  );
}

const asked = ({ speed }: ModelRow): number => speed?.requests ?? 0;
