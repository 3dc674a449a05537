import { type Language, useLanguage } from './language.ts';
import table from './vendor-names.json' with { type: 'json' };

type Names = Readonly<Record<Language, string>>;

const names: ReadonlyMap<string, Names> = new Map(Object.entries(table));

/** A vendor's name in a language; an id that the table lacks stays as the operator wrote it. */
export const vendorName = (id: string, language: Language): string =>
  names.get(id)?.[language] ?? id;

/** Ids of one name (`kwai`, `kuaishou`) are one vendor to a reader. */
export const isSameVendor = (one: string, other: string): boolean =>
  vendorName(one, 'en') === vendorName(other, 'en');

/** One id of each vendor, in the order of their names. */
export const vendorsByName = (ids: readonly string[], language: Language): readonly string[] =>
  ids
    .filter((id, at) => ids.findIndex((other) => isSameVendor(id, other)) === at)
    .toSorted((one, other) =>
      vendorName(one, language).localeCompare(vendorName(other, language), language),
    );

/** Names vendors in the language of the page. */
export function useVendorName(): (id: string) => string {
  const language = useLanguage();
  return (id) => vendorName(id, language);
}

/** The server's word for a model whose vendor nobody named. */
const unnamed = 'unknown';

/**
 * For operators, who type the id elsewhere: the name, and the id beside it; a dash for a model
 * whose vendor nobody named.
 */
export function vendorLabel(id: string, language: Language): string {
  if (id === unnamed) return '—';
  const name = vendorName(id, language);
  return name === id ? id : `${name} · ${id}`;
}

export function useVendorLabel(): (id: string) => string {
  const language = useLanguage();
  return (id) => vendorLabel(id, language);
}

/** What a search for a vendor finds: its id, and its name in each language. */
export function vendorText(id: string): string {
  return [id, ...Object.values(names.get(id) ?? {})].join(' ').toLowerCase();
}
