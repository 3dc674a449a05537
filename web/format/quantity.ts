import { grouped } from './money.ts';

/** `11,263`, `1.5`: a decimal of any length with separators of thousands. */
export function formatQuantity(quantity: string): string {
  const [whole = '0', fraction] = quantity.split('.');
  return fraction === undefined ? grouped(whole) : `${grouped(whole)}.${fraction}`;
}
