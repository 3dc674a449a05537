import type { ImagePriceNames, PriceClass, UnitPrice } from '../../src/console/contract.ts';
import { formatYuan } from './money.ts';

/** `¥2.125`: as entered, however many decimals that are; thousands apart. */
export function priceText(amount: string): string {
  return formatYuan(amount, 'price');
}

/** The identity of a line of a price, whatever its amount. */
export function lineKey({
  class: of,
  variant = '',
  above_input_tokens: above = 0,
}: Pick<UnitPrice, 'class' | 'variant' | 'above_input_tokens'>): string {
  return `${of} ${above} ${variant}`;
}

const million = 1_000_000n;
/** The decimals of the price of one piece: the nine of money, and six for a million pieces. */
export const pieceDigits = 15;

/** Nano-yuan for a million units. */
export function rateOf({ amount, per }: Pick<UnitPrice, 'amount' | 'per'>): bigint {
  const atto = scaled(amount, pieceDigits);
  return per === 1 ? atto : atto / million;
}

/** The decimal times 10^digits, as an integer; further digits are cut. */
export function scaled(decimal: string, digits: number): bigint {
  const [whole = '0', fraction = ''] = decimal.split('.');
  return BigInt(whole + fraction.slice(0, digits).padEnd(digits, '0'));
}

/** The cost of a quantity in nano-yuan, rounded up once, like a charge. */
export function costOf(price: Pick<UnitPrice, 'amount' | 'per'>, quantity: number): bigint {
  return (BigInt(Math.ceil(quantity)) * rateOf(price) + million - 1n) / million;
}

/** The dearer one. */
function dearest(prices: readonly UnitPrice[]): UnitPrice | undefined {
  return prices.reduce<UnitPrice | undefined>(
    (most, price) => (most === undefined || rateOf(price) > rateOf(most) ? price : most),
    undefined,
  );
}

const textInput: readonly PriceClass[] = [
  'input',
  'cached_input',
  'cache_write_5m',
  'cache_write_1h',
  'image_input',
  'audio_input',
];
const textOutput: readonly PriceClass[] = ['output', 'reasoning'];

/**
 * The most that so many tokens can cost, in nano-yuan: input and output each at the dearest class
 * of the bands that the input reaches. Undefined: the model has no token price.
 */
export function mostOfTokens(
  prices: readonly UnitPrice[],
  inputTokens: number,
  outputTokens: number,
): bigint | undefined {
  const reached = reachedBy(prices, inputTokens);
  const input = dearest(reached.filter((price) => textInput.includes(price.class)));
  const output = dearestOutput(reached);
  if (input === undefined && output === undefined) return undefined;
  const request = dearest(reached.filter((price) => price.class === 'request'));
  const parts = [
    input && costOf(input, inputTokens),
    output && costOf(output, outputTokens),
    request && costOf(request, 1),
  ];
  return parts.reduce<bigint>((sum, part) => sum + (part ?? 0n), 0n);
}

const reachedBy = (prices: readonly UnitPrice[], inputTokens: number): readonly UnitPrice[] =>
  prices.filter(({ above_input_tokens: above = -1 }) => inputTokens > above);

const dearestOutput = (reached: readonly UnitPrice[]): UnitPrice | undefined =>
  dearest(reached.filter((price) => textOutput.includes(price.class)));

/** The output tokens that so much nano-yuan surely pays for beside the input. */
export function outputTokensFor(
  prices: readonly UnitPrice[],
  inputTokens: number,
  nano: bigint,
): number {
  const output = dearestOutput(reachedBy(prices, inputTokens));
  const left = nano - (mostOfTokens(prices, inputTokens, 0) ?? 0n);
  if (output === undefined || rateOf(output) === 0n || left <= 0n) return 0;
  return Number((left * million) / rateOf(output));
}

/** An upper bound: a tokenizer makes at most one token of a byte; most make a third of that. */
export function tokensAtMost(text: string): number {
  return new TextEncoder().encode(text).length;
}

/**
 * The price of one image of that size and quality, found as a charge finds it; undefined where
 * images are sold by tokens or pixels.
 */
export function imagePrice(
  prices: readonly UnitPrice[],
  names: ImagePriceNames | undefined,
  size: string | undefined,
  quality: string | undefined,
): UnitPrice | undefined {
  const sizes = [size, resolutionOf(names, size)].flatMap((name) => name ?? []);
  const qualities = [quality, names?.also_called[quality ?? '']].flatMap((name) => name ?? []);
  return variantPrice(prices, 'image', [
    ...qualities.flatMap((name) => sizes.map((each) => `${each}/${name}`)),
    ...sizes,
    ...qualities,
  ]);
}

function resolutionOf(
  names: ImagePriceNames | undefined,
  size: string | undefined,
): string | undefined {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(size ?? '') ?? [];
  if (width === undefined) return undefined;
  const pixels = Number(width) * Number(height);
  return names?.resolutions.find(({ pixels_max: most }) => most === null || pixels <= most)?.name;
}

/**
 * The price of the first of these names that has one, else the plain price, else the dearest
 * variant.
 */
function variantPrice(
  prices: readonly UnitPrice[],
  of: PriceClass,
  names: readonly string[],
): UnitPrice | undefined {
  const all = prices.filter((price) => price.class === of);
  const named = names
    .map((name) => all.find(({ variant }) => variant === name))
    .find((price) => price !== undefined);
  return named ?? all.find(({ variant }) => variant === undefined) ?? dearest(all);
}

/** What a video of so many seconds costs, in nano-yuan; undefined where it is sold by tokens. */
export function videoCost(
  prices: readonly UnitPrice[],
  seconds: number,
  resolution: string | undefined,
): bigint | undefined {
  const names = resolution === undefined ? [] : [`${resolution}/${seconds}`, resolution];
  const second = variantPrice(prices, 'second', names);
  if (second !== undefined) return costOf(second, seconds);
  const request = variantPrice(prices, 'request', names);
  return request === undefined ? undefined : costOf(request, 1);
}
