/**
 * A decimal string of yuan with at most nine decimals, as in the console's JSON: `"-0.013577263"`.
 */
export type Yuan = string;

/**
 * How an amount is shown. A rounded one begins with `≈`, and shows exactly on hover.
 * - `balance`: exact under ¥100, from there two decimals, rounded down: never more than there is.
 * - `spend`, and what operators earn by it: the same, rounded up, so that the display never
 *   flatters. A negative one, where more came back than was spent, is rounded towards zero.
 * - `mean`: up to six decimals, rounded up.
 * - `row`: one request, exact, at least six decimals, so that a list and the charge itself agree.
 * - `exact`: all nine decimals.
 * - `price`: as entered, at least two decimals.
 */
export type MoneyContext = 'balance' | 'spend' | 'mean' | 'row' | 'exact' | 'price';

/** The decimals of an amount of money. */
export const nanoDigits = 9;
/** From ¥100 on two decimals say enough. */
const manyDigitsBelow = 100n * 10n ** BigInt(nanoDigits);
const minus = '\u2212';
const roundedSign = '≈ ';

/** Nano-yuan. Throws on a text that is no decimal amount: money is never guessed. */
export function parseYuan(amount: Yuan): bigint {
  const match = /^(-?)(\d+)(?:\.(\d{1,9}))?$/.exec(amount);
  if (match === null) throw new RangeError(`${amount} is no amount`);
  const [, sign, whole = '0', fraction = ''] = match;
  const nano = BigInt(whole + fraction.padEnd(nanoDigits, '0'));
  return sign === '-' ? -nano : nano;
}

/** The decimal string of nano-yuan, nine decimals. */
export function yuanOf(nano: bigint): Yuan {
  const digits = magnitude(nano)
    .toString()
    .padStart(nanoDigits + 1, '0');
  return `${nano < 0n ? '-' : ''}${digits.slice(0, -nanoDigits)}.${digits.slice(-nanoDigits)}`;
}

/** `−¥1,234.50`, `≈ ¥1,234.56`. An amount above zero never shows as zero. */
export function formatYuan(amount: Yuan | bigint, context: MoneyContext): string {
  if (context === 'price' && typeof amount === 'string') return formatPrice(amount);
  const nano = typeof amount === 'bigint' ? amount : parseYuan(amount);
  const size = magnitude(nano);
  if (size === 0n && context !== 'exact') return '¥0.00';
  const { digits, up, keep } = roundingOf(size, context, nano < 0n);
  const unit = 10n ** BigInt(nanoDigits - digits);
  const shown = ((size + (up ? unit - 1n : 0n)) / unit) * unit;
  return `${shown === size ? '' : roundedSign}${nano < 0n ? minus : ''}¥${exactly(shown, keep)}`;
}

/** Whether a shown amount hides digits, so that it needs a tooltip. */
export const isRounded = (text: string): boolean => text.startsWith(roundedSign);

/** Unit prices have more decimals than money: up to fifteen. */
function formatPrice(amount: string): string {
  const [, sign, whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(amount) ?? [];
  if (whole === '') throw new RangeError(`${amount} is no price`);
  return `${sign === '-' ? minus : ''}¥${grouped(whole)}.${fraction.replace(/0+$/, '').padEnd(2, '0')}`;
}

/** The most decimals that any of these amounts has. */
export function longestFraction(texts: readonly string[]): number {
  return Math.max(0, ...texts.map(fractionOf));
}

/** How many decimals a text lacks beside an amount with so many. */
export function missingDecimals(text: string, places: number): number {
  return Math.max(0, places - fractionOf(text));
}

/** The decimals at the end of a text: none of `1.5 s`. */
function fractionOf(text: string): number {
  return /\.(\d+)$/.exec(text)?.[1]?.length ?? 0;
}

interface Rounding {
  readonly digits: number;
  readonly up: boolean;
  /** Zeros up to this decimal stay; later ones are cut. */
  readonly keep: number;
}

const keeps: Readonly<Partial<Record<MoneyContext, number>>> = { exact: nanoDigits, row: 6 };

function roundingOf(size: bigint, context: MoneyContext, isNegative: boolean): Rounding {
  const isSum = context === 'balance' || context === 'spend' || context === 'mean';
  const small = context === 'mean' ? 6 : nanoDigits;
  return {
    digits: isSum && size >= manyDigitsBelow ? 2 : small,
    up: context !== 'balance' && !isNegative,
    keep: keeps[context] ?? 2,
  };
}

function exactly(size: bigint, keep: number): string {
  const text = yuanOf(size);
  const [whole = '0', fraction = ''] = text.split('.');
  const cut = fraction.slice(0, keep) + fraction.slice(keep).replace(/0+$/, '');
  return `${grouped(whole)}.${cut}`;
}

/** `1,250`: with separators of thousands. */
export function grouped(whole: string): string {
  return whole.replace(/\B(?=(\d{3})+$)/g, ',');
}

function magnitude(nano: bigint): bigint {
  return nano < 0n ? -nano : nano;
}

/** The sign of an amount that is added; nothing has none. */
export const plusOf = (amount: Yuan): '+' | '' => (parseYuan(amount) > 0n ? '+' : '');

/** `2.50` is `2.5`, `2.00` is `2`. */
export function shortest(amount: string): string {
  return amount.includes('.') ? amount.replace(/\.?0+$/, '') : amount;
}
