import type { Nano } from '../base/money.ts';
import { type Measure, measures } from '../base/quantities.ts';
import { rateText } from './price-members.ts';
import { minuteText, timesText } from './price-windows.ts';
import type { Price, PriceTier } from './price.ts';

/**
 * One changed member of a price. Amounts are yuan as the configuration file writes them; undefined:
 * the price has no such member.
 */
export interface PriceDifference {
  /** `input`, `output above 32000`, `second by 720p`. */
  readonly member: string;
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** What the amounts are for; undefined: factors, which have no unit. */
  readonly measure: Measure | undefined;
  /** A thousand times as high or as low, or more: probably written for another unit. */
  readonly farOff: boolean;
  /** One decimal; undefined where one of the amounts is missing or the old one is 0. */
  readonly percent: number | undefined;
}

export function priceDifferences(old: Price, now: Price): readonly PriceDifference[] {
  const before = amounts(old);
  const after = amounts(now);
  const members = new Set([...before.keys(), ...after.keys()]);
  return [...members].flatMap((member) => {
    const [from, to] = [before.get(member), after.get(member)];
    if (from?.amount === to?.amount && from?.text === to?.text) return [];
    return [
      {
        member,
        from: from && textOf(from),
        to: to && textOf(to),
        measure: (to ?? from)?.measure,
        farOff: isFarOff(from?.amount, to?.amount),
        percent: percentOf(from?.amount, to?.amount),
      },
    ];
  });
}

interface Amount {
  readonly amount: Nano | undefined;
  readonly measure: Measure | undefined;
  /** Factors, and the times at which they hold. */
  readonly text?: string;
}

function amounts(price: Price): ReadonlyMap<string, Amount> {
  const all = new Map<string, Amount>();
  const tiers = price.tiers.map((tier) => ({ suffix: aboveText(tier), rates: tier.rates }));
  for (const { suffix, rates } of [{ suffix: '', rates: price.rates }, ...tiers]) {
    for (const measure of measures) {
      const amount = rates[measure];
      if (amount !== undefined) all.set(measure + suffix, { amount, measure });
    }
  }
  const { by } = price;
  for (const [variant, amount] of Object.entries(by?.rates ?? {})) {
    if (by !== undefined) all.set(`${by.measure} by ${variant}`, { amount, measure: by.measure });
  }
  for (const [member, text] of termsIn(price))
    all.set(member, { amount: undefined, measure: undefined, text });
  return all;
}

const aboveText = ({ aboveInputTokens: input, aboveOutputTokens: output }: PriceTier): string =>
  `${input < 0 ? '' : ` above ${input}`}${output === undefined ? '' : ` above ${output} out`}`;

/** Factors by the member that they apply to: `mode flex`, `times above 272000`. */
function termsIn({
  tiers,
  modes = {},
  places = {},
  windows,
  listFees,
}: Price): readonly (readonly [string, string])[] {
  return [
    ...tiers.flatMap((tier) =>
      tier.times === undefined ? [] : [[`times${aboveText(tier)}`, timesText(tier.times)] as const],
    ),
    ...Object.entries(modes).map(
      ([name, { times, only }]) =>
        [`mode ${name}`, [timesText(times), ...(only ?? [])].join(' ')] as const,
    ),
    ...Object.entries(places).map(([name, times]) => [`place ${name}`, timesText(times)] as const),
    ...(listFees === undefined ? [] : [['list_fees', String(listFees)] as const]),
    ...(windows?.list ?? []).map((window) => {
      const { name, zone, days, from, to, except, times } = window;
      const calendar =
        except === undefined
          ? []
          : [
              `except ${except.name} until ${except.knownUntil}`,
              ...except.days.map((pair) => pair.join('..')),
            ];
      const when = [zone, days?.join(','), windows?.moment, ...calendar].filter(
        (part) => part !== undefined,
      );
      return [
        `window ${name} ${minuteText(from)}–${minuteText(to)}`,
        [timesText(times), ...when].join(' '),
      ] as const;
    }),
  ];
}

function textOf({ amount, measure, text = '' }: Amount): string {
  if (amount === undefined || measure === undefined) return text;
  return rateText(measure, amount);
}

const farOffTimes = 1_000n;

/** A price that becomes free, or ceases to be, is a decision and no mistake in the unit. */
function isFarOff(from: Nano = 0n, to: Nano = 0n): boolean {
  if (from === 0n || to === 0n) return false;
  return to >= from * farOffTimes || from >= to * farOffTimes;
}

/** ¥0.1; the dearest voices cost a hundredth of it. */
const nanoPerMillionCharactersMax = 100_000n * 1_000_000_000n;

/** A new price for one character that was probably meant for a million of them. */
export const isFarOffNew = (price: Price): boolean =>
  [...amounts(price).values()].some(
    ({ measure, amount = 0n }) => measure === 'character' && amount >= nanoPerMillionCharactersMax,
  );

function percentOf(from: Nano | undefined, to: Nano | undefined): number | undefined {
  if (from === undefined || to === undefined || from === 0n) return undefined;
  const percent = Math.round((Number(to - from) / Number(from)) * 1000) / 10;
  // Only a price that becomes free is 100 % lower.
  return to > 0n ? Math.max(percent, -99.9) : percent;
}
