import type { Nano } from '../base/money.ts';
import { measures } from '../base/quantities.ts';
import { decimalText } from './decimal.ts';
import { pricePlaces } from './price-members.ts';
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
        percent: percentOf(from?.amount, to?.amount),
      },
    ];
  });
}

interface Amount {
  readonly amount: Nano | undefined;
  readonly places: number;
  /** Factors, and the times at which they hold. */
  readonly text?: string;
}

function amounts(price: Price): ReadonlyMap<string, Amount> {
  const all = new Map<string, Amount>();
  const tiers = price.tiers.map((tier) => ({ suffix: aboveText(tier), rates: tier.rates }));
  for (const { suffix, rates } of [{ suffix: '', rates: price.rates }, ...tiers]) {
    for (const measure of measures) {
      const amount = rates[measure];
      if (amount !== undefined) all.set(measure + suffix, { amount, places: pricePlaces(measure) });
    }
  }
  const { by } = price;
  for (const [variant, amount] of Object.entries(by?.rates ?? {})) {
    if (by !== undefined)
      all.set(`${by.measure} by ${variant}`, { amount, places: pricePlaces(by.measure) });
  }
  for (const [member, text] of termsIn(price))
    all.set(member, { amount: undefined, places: 0, text });
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

function textOf({ amount, places, text = '' }: Amount): string {
  return amount === undefined ? text : decimalText(amount, places);
}

function percentOf(from: Nano | undefined, to: Nano | undefined): number | undefined {
  if (from === undefined || to === undefined || from === 0n) return undefined;
  return Math.round((Number(to - from) / Number(from)) * 1000) / 10;
}
