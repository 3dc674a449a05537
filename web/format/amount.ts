/**
 * An amount in ASCII: full-width digits and punctuation of an input method become plain ones,
 * thousands separators go.
 */
export function plainAmount(typed: string): string {
  return typed
    .replace(/[\uFF10-\uFF19]/g, (digit) => String.fromCharCode(digit.charCodeAt(0) - 0xfee0))
    .replace(/[。．]/g, '.')
    .replace(/[,，\s¥￥]/g, '');
}

interface AmountLimits {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly decimals?: number;
}

/**
 * The error's code, or undefined when `parseYuan` can read `typed`. A third decimal is refused,
 * never rounded.
 */
export function amountError(
  typed: string,
  { minimum = 0, maximum = Number.POSITIVE_INFINITY, decimals = 2 }: AmountLimits = {},
): string | undefined {
  const match = /^\d{1,9}(?:\.(\d+))?$/.exec(typed);
  if (typed === '') return 'required';
  if (match === null) return 'amount';
  if ((match[1]?.length ?? 0) > decimals)
    return decimals === 2 ? 'decimals' : `decimals_${decimals}`;
  if (Number(typed) < minimum || !/[1-9]/.test(typed)) return 'below_minimum';
  return Number(typed) > maximum ? 'above_maximum' : undefined;
}
