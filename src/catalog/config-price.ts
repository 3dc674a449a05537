import { fractionText } from '../base/fraction.ts';
import type { Nano } from '../base/money.ts';
import { isMeasure, measures } from '../base/quantities.ts';
import { reason } from '../base/reason.ts';
import {
  calendars as bundledCalendars,
  type Calendar,
  minuteText,
  type PriceWindow,
  type PriceWindows,
  type Times,
} from './price-windows.ts';
import type { WrittenPrice, WrittenWindow } from './config-schema.ts';
import { type ConfigReport, unknownName } from './config-report.ts';
import { pricedQualities } from './image-terms.ts';
import type { Price, PriceTier, Rates } from './price.ts';
import { mapped } from './price-json.ts';
import { nanoPerMillion, priceLacks, rateText, variantMeasure } from './price-members.ts';
import type { ConfigPath } from './problem.ts';
import type { ModelFacts, ModelKind } from './snapshot.ts';

type WrittenRates = Omit<
  WrittenPrice,
  'tiers' | 'by' | 'modes' | 'places' | 'windows' | 'moment' | 'list_fees'
>;
export type Calendars = ReadonlyMap<string, Calendar>;

/**
 * A price as written → as charged. Faults of the price for this kind of model are reported below
 * `path`.
 */
export function readPrice(
  kind: ModelKind,
  written: WrittenPrice,
  report: ConfigReport,
  path: ConfigPath,
  calendars: Calendars = bundledCalendars,
): Price {
  const rates = ratesOf(written);
  const { modes, places, list_fees: listFees } = written;
  const price: Price = {
    rates,
    tiers: readTiers(written, report, path),
    by: readVariants(kind, rates, written, report, path),
    modes: hasMembers(modes) ? modes : undefined,
    places: hasMembers(places) ? mapped(places, ({ times }) => times) : undefined,
    windows: readWindows(written, report, path, calendars),
    listFees,
  };
  const lacks = priceLacks(kind, price);
  if (lacks !== undefined) report.add(path, lacks);
  return price;
}

const hasMembers = <T extends object>(value: T | undefined): value is T =>
  value !== undefined && Object.keys(value).length > 0;

/** `cache_write` is the price of both cache retentions, unless one has its own. */
function ratesOf({ cache_write: both, ...written }: Partial<WrittenRates>): Rates {
  const rates: Partial<Record<string, Nano | undefined>> = {
    cache_write_5m: both,
    cache_write_1h: both,
  };
  for (const measure of measures) rates[measure] = written[measure] ?? rates[measure];
  return Object.fromEntries(Object.entries(rates).filter(([, rate]) => rate !== undefined));
}

function readTiers(
  written: WrittenPrice,
  report: ConfigReport,
  path: ConfigPath,
): readonly PriceTier[] {
  let last = 0;
  return (written.tiers ?? []).map((tier, index): PriceTier => {
    const { above_input_tokens: input, above_output_tokens: output, times, ...rest } = tier;
    if (input === undefined && output === undefined)
      report.add([...path, 'tiers', index], reason('tier_without_bound'));
    if (input !== undefined && output === undefined) {
      if (input <= last)
        report.add(
          [...path, 'tiers', index, 'above_input_tokens'],
          reason('tier_out_of_order', { least: String(last) }),
        );
      last = input;
    }
    return {
      aboveInputTokens: input ?? -1,
      aboveOutputTokens: output,
      rates: ratesOf(rest),
      times,
    };
  });
}

function readWindows(
  { windows = [], moment = 'sent' }: WrittenPrice,
  report: ConfigReport,
  path: ConfigPath,
  calendars: Calendars,
): PriceWindows | undefined {
  if (windows.length === 0) return undefined;
  const list = windows.map((written, index) =>
    readWindow(written, report, [...path, 'windows', index], calendars),
  );
  for (const [index, { name, times }] of list.entries()) {
    const same = list.find((one) => one.name === name);
    if (same !== undefined && textOf(same.times) !== textOf(times))
      report.add([...path, 'windows', index, 'times'], reason('window_differs', { written: name }));
  }
  return { moment, list };
}

const textOf = (times: PriceWindow['times']): string =>
  JSON.stringify(times, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));

function readWindow(
  written: WrittenWindow,
  report: ConfigReport,
  path: ConfigPath,
  calendars: Calendars,
): PriceWindow {
  const { name, zone, days, from, to, wraps, except, times } = written;
  if (to <= from && wraps !== true) report.add([...path, 'to'], reason('window_ends_before'));
  if (to > from && wraps === true) report.add([...path, 'wraps'], reason('window_wraps'));
  const calendar = except === undefined ? undefined : calendars.get(except);
  if (except !== undefined && calendar === undefined)
    report.add(
      [...path, 'except'],
      reason('unknown_calendar', unknownName(except, calendars.keys())),
    );
  return { name, zone, days, from, to, except: calendar, times };
}

function readVariants(
  kind: ModelKind,
  plain: Rates,
  { by }: WrittenPrice,
  report: ConfigReport,
  path: ConfigPath,
): Price['by'] {
  if (!hasMembers(by)) return undefined;
  const measure = variantMeasure(kind, plain);
  const rates: Record<string, Nano> = {};
  for (const [variant, yuan] of Object.entries(by)) {
    const rate = nanoPerMillion(measure, yuan);
    if (typeof rate === 'bigint') rates[variant] = rate;
    else report.add([...path, 'by', variant], rate);
  }
  return { measure, rates };
}

/** Reports variants of an image's price with a size or a quality that no request can name. */
export function checkImageVariants(
  { kind, image = {}, price: { by } }: Pick<ModelFacts, 'kind' | 'image' | 'price'>,
  report: ConfigReport,
  path: ConfigPath,
): void {
  if (kind !== 'image') return;
  const qualities = pricedQualities(image);
  const sizes = image.anySize === undefined ? image.sizes : undefined;
  for (const variant of Object.keys(by?.rates ?? {})) {
    const check = (written: string | undefined, known: readonly string[]): void => {
      if (written !== undefined && !known.includes(written))
        report.add(
          [...path, 'by', variant],
          reason('not_one_of', { choices: known.join(', '), ...unknownName(written, known) }),
        );
    };
    if (sizes !== undefined) check(sizeIn(variant), sizes);
    check(qualityIn(variant), qualities);
  }
}

/** `1024x1024` of `1024x1024/hd`; undefined for resolutions, such as `2K`. */
const sizeIn = (variant: string): string | undefined => /^\d+x\d+/.exec(variant)?.[0];

/** `hd` of `1024x1024/hd` and of `hd`; undefined for sizes, which begin with a digit. */
const qualityIn = (variant: string): string | undefined =>
  /^(?:.*\/)?([a-z].*)$/i.exec(variant)?.[1];

/** The inverse of `readPrice`: a price as the configuration file writes it. */
export function writtenPrice({
  rates,
  tiers,
  by,
  modes,
  places,
  windows,
  listFees,
}: Price): Readonly<Record<string, unknown>> {
  return {
    ...writtenRates(rates),
    ...(tiers.length > 0 && { tiers: tiers.map(writtenTier) }),
    ...(modes && {
      modes: mapped(modes, ({ times, only }) => ({ times: writtenTimes(times), only })),
    }),
    ...(places && { places: mapped(places, (times) => ({ times: writtenTimes(times) })) }),
    ...(windows && { moment: windows.moment, windows: windows.list.map(writtenWindow) }),
    ...(by && { by: mapped(by.rates, (rate) => rateText(by.measure, rate)) }),
    ...(listFees !== undefined && { list_fees: listFees }),
  };
}

const writtenRates = (rates: Rates): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(rates).flatMap(([name, rate]) =>
      isMeasure(name) ? [[name, rateText(name, rate)]] : [],
    ),
  );

const writtenTimes = ({ all, each = {} }: Times): unknown =>
  all === undefined ? mapped(each, fractionText) : fractionText(all);

const writtenTier = ({
  aboveInputTokens: input,
  aboveOutputTokens: output,
  rates,
  times,
}: PriceTier): Readonly<Record<string, unknown>> => ({
  above_input_tokens: input < 0 ? undefined : String(input),
  above_output_tokens: output === undefined ? undefined : String(output),
  times: times && writtenTimes(times),
  ...writtenRates(rates),
});

const writtenWindow = ({
  name,
  zone,
  days,
  from,
  to,
  except,
  times,
}: PriceWindow): Readonly<Record<string, unknown>> => ({
  name,
  zone,
  days: days?.map(String),
  from: minuteText(from),
  to: minuteText(to),
  wraps: to <= from || undefined,
  except: except?.name,
  times: writtenTimes(times),
});
