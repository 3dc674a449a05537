/** A number that is not negative, exactly: `over` divided by `under`. */
export interface Fraction {
  readonly over: bigint;
  readonly under: bigint;
}

/** A decimal such as `0.075`, `500000` or `1e-7`, as text or as JSON has it; undefined when it is none, or negative. */
export function fraction(written: unknown): Fraction | undefined {
  if (typeof written !== 'string' && typeof written !== 'number' && typeof written !== 'bigint')
    return undefined;
  const match = /^\+?(\d{1,40})(?:\.(\d{0,40}))?(?:[eE]([+-]?\d{1,2}))?$/.exec(
    String(written).trim(),
  );
  if (match === null) return undefined;
  const [, whole = '', decimals = '', exponent = '0'] = match;
  const places = decimals.length - Number(exponent);
  const digits = BigInt(whole + decimals);
  return places >= 0
    ? { over: digits, under: 10n ** BigInt(places) }
    : { over: digits * 10n ** BigInt(-places), under: 1n };
}

export const whole = (value: bigint): Fraction => ({ over: value, under: 1n });
export const millionths = (value: bigint): Fraction => ({ over: value, under: 1_000_000n });

export function times(...all: readonly Fraction[]): Fraction {
  return all.reduce((a, b) => ({ over: a.over * b.over, under: a.under * b.under }), whole(1n));
}

/** `by` is not zero. */
export const divided = (a: Fraction, by: Fraction): Fraction => ({
  over: a.over * by.under,
  under: a.under * by.over,
});

/** In units of 10^-`places`, rounded up: what is worth something is never rounded to nothing. */
export function roundedUp({ over, under }: Fraction, places: number): bigint {
  return (over * 10n ** BigInt(places) + under - 1n) / under;
}
