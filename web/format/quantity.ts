/** `11,263`, `1.5`: a decimal of any length with separators of thousands. */
export function formatQuantity(quantity: string): string {
  const [whole = '0', fraction] = quantity.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/**
 * Pads shorter amounts with figure spaces, so that decimal points line up in a right-aligned
 * column.
 */
export function alignDecimals(amounts: readonly string[]): readonly string[] {
  const longest = Math.max(0, ...amounts.map(decimals));
  return amounts.map((amount) => amount + '\u2007'.repeat(longest - decimals(amount)));
}

function decimals(amount: string): number {
  return amount.split('.')[1]?.length ?? 0;
}
