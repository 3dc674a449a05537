import assert from 'node:assert/strict';
import type { Nano } from '../base/money.ts';
import { isMeasure } from '../base/quantities.ts';
import type { ImageTerms } from './image-terms.ts';
import { mapped, type StoredTimes, timesIn } from './price-json.ts';
import { convertedNanoPerMillion, priceLacks } from './price-members.ts';
import { calendars, minuteOf, type PriceWindow } from './price-windows.ts';
import type { Price, Rates } from './price.ts';
import type { ModelFacts, ModelKind } from './snapshot.ts';

/** A model of the list that comes with the program: its facts, and the vendor that sells it. */
export interface BundledModel {
  readonly facts: ModelFacts;
  readonly vendor: string;
  /** The vendor's id for it. */
  readonly upstream: string;
  /** The vendor does not sell it any more under this name. */
  readonly retired: boolean;
  /** The price comes from no page of the vendor: check it before selling. */
  readonly doubtful: boolean;
  /** For ids that no vendor sells any more: bundled models that can replace it, best first. */
  readonly standIns: readonly { readonly vendor: string; readonly id: string }[];
  /** Where the price was read, and when. */
  readonly source: string;
  readonly asOf: string;
}

export type Bundled = ReadonlyMap<string, BundledModel>;

export interface BundledOptions {
  /** Millionths of a yuan for a US dollar. */
  readonly usdRatePpm: bigint;
  /** YYYY-MM-DD: decides between an offer price and the one after it, and what is retired. */
  readonly today: string;
}

/**
 * 7.2 yuan: on the safe side of the rates that the list's own sources used (7.25, 7.3) and of the
 * market.
 */
export const defaultUsdRatePpm = 7_200_000n;

/**
 * Tokens per second: no model of the list was seen to think faster than this without streaming its
 * reasoning. Reserving too much for a moment does no harm.
 */
const thinkingTopSpeed = 250;

type WrittenRates = Readonly<Record<string, string>>;

interface WrittenWindow {
  readonly name: string;
  readonly zone: string;
  readonly days?: readonly number[];
  readonly from: string;
  readonly to: string;
  readonly except?: string;
  readonly times: StoredTimes;
}

interface WrittenPrice {
  readonly currency: string;
  readonly rates: WrittenRates;
  readonly tiers?: readonly { readonly above_input_tokens: number; readonly rates: WrittenRates }[];
  readonly by?: { readonly measure: string; readonly rates: WrittenRates };
  readonly modes?: Readonly<
    Record<string, { readonly times: StoredTimes; readonly only?: readonly string[] }>
  >;
  readonly places?: Readonly<Record<string, { readonly times: StoredTimes }>>;
  readonly windows?: readonly WrittenWindow[];
  readonly until?: string;
  readonly after?: WrittenRates;
}

interface WrittenModel {
  readonly id: string;
  readonly vendor: string;
  readonly owned_by: string;
  readonly kind: ModelKind;
  readonly upstream?: string;
  readonly context?: number;
  readonly max_output?: number;
  readonly modalities: { readonly in: readonly string[]; readonly out: readonly string[] };
  readonly durations?: readonly number[];
  readonly image?: ImageTerms;
  readonly reasoning?: boolean;
  readonly retired_on?: string;
  readonly shutdown_date?: string;
  readonly maps_to?: readonly { readonly vendor: string; readonly id: string }[];
  readonly price: WrittenPrice;
  readonly source: string;
  readonly as_of: string;
  readonly doubtful?: boolean;
}

/**
 * Reads the list, some 350 models by id, in a few milliseconds and only on demand. Prices in
 * dollars are converted, rounded up to the nano.
 */
export async function loadBundled(options: BundledOptions): Promise<Bundled> {
  const { default: written } = await import('./data/models.json', { with: { type: 'json' } });
  // scripts/catalogue.mjs makes the file; the tests of this directory check it.
  const rows = written as unknown as readonly WrittenModel[];
  return new Map(rows.map((row) => [row.id, model(row, options)]));
}

/** The vendor's models that can be bought today, and its old names for them. */
export function modelsOfVendor(vendor: string, bundled: Bundled): readonly BundledModel[] {
  return [...bundled.values()].filter((model) => {
    if (model.vendor !== vendor) return false;
    return (
      !model.retired ||
      (model.upstream !== model.facts.id && bundled.get(model.upstream)?.retired === false)
    );
  });
}

function model(row: WrittenModel, options: BundledOptions): BundledModel {
  const gone = (date: string | undefined): boolean => date !== undefined && date <= options.today;
  const facts: ModelFacts = {
    id: row.id,
    ownedBy: row.owned_by,
    kind: row.kind,
    context: row.context,
    outputTokensMax: row.max_output,
    modalities: row.modalities,
    topSpeed: row.reasoning === true ? thinkingTopSpeed : undefined,
    durations: row.durations,
    image: row.image,
    shutdownDate: row.shutdown_date,
    price: price(row, options),
  };
  return {
    facts,
    vendor: row.vendor,
    upstream: row.upstream ?? row.id,
    retired: gone(row.retired_on) || gone(row.shutdown_date),
    doubtful: row.doubtful === true,
    standIns: row.maps_to ?? [],
    source: row.source,
    asOf: row.as_of,
  };
}

function price(row: WrittenModel, { usdRatePpm, today }: BundledOptions): Price {
  const { currency, tiers = [], by, modes, places, windows, until, after } = row.price;
  const ratePpm = currency === 'USD' ? usdRatePpm : 1_000_000n;
  const over = until !== undefined && today > until ? after : undefined;
  const made: Price = {
    rates: rates(row.id, { ...row.price.rates, ...over }, ratePpm),
    tiers: tiers.map((tier) => ({
      aboveInputTokens: tier.above_input_tokens,
      rates: rates(row.id, tier.rates, ratePpm),
    })),
    by: by && variants(row.id, by, ratePpm),
    modes: modes && mapped(modes, ({ times, only }) => ({ times: timesIn(times), only })),
    places: places && mapped(places, ({ times }) => timesIn(times)),
    windows: windows && { moment: 'sent', list: windows.map(window) },
  };
  const lacks = priceLacks(row.kind, made);
  assert(lacks === undefined, `bundled model ${row.id}: ${lacks?.message}`);
  return made;
}

function window({ name, zone, days, from, to, except, times }: WrittenWindow): PriceWindow {
  const [begin, end] = [minuteOf(from), minuteOf(to)];
  const calendar = except === undefined ? undefined : calendars.get(except);
  assert(
    begin !== undefined && end !== undefined && (except === undefined || calendar !== undefined),
    `window ${name} is written wrongly`,
  );
  return { name, zone, days, from: begin, to: end, except: calendar, times: timesIn(times) };
}

function rates(id: string, written: WrittenRates, ratePpm: bigint): Rates {
  return Object.fromEntries(
    Object.entries(written).map(([measure, amount]) => [
      measure,
      rate(id, measure, amount, ratePpm),
    ]),
  );
}

function variants(
  id: string,
  { measure, rates: by }: { readonly measure: string; readonly rates: WrittenRates },
  ratePpm: bigint,
): Price['by'] {
  assert(isMeasure(measure), `bundled model ${id}: ${measure} is no measure`);
  return {
    measure,
    rates: mapped(by, (amount) => rate(id, measure, amount, ratePpm)),
  };
}

function rate(id: string, measure: string, amount: string, ratePpm: bigint): Nano {
  assert(isMeasure(measure), `bundled model ${id}: ${measure} is no measure`);
  const nano = convertedNanoPerMillion(measure, amount, ratePpm);
  assert(typeof nano === 'bigint', `bundled model ${id}: ${measure} ${amount}`);
  return nano;
}
