import { isObject } from '../base/json.ts';
import { decimalText, type Nano } from '../base/money.ts';

/** An amount as a JSON number: all its digits, and never an exponent. */
export const moneyNumber = (amount: Nano): string => decimalText(amount, 9);

/** As `JSON.stringify`, with each bigint as an amount. */
export function moneyJson(value: unknown): string {
  if (typeof value === 'bigint') return moneyNumber(value);
  if (Array.isArray(value)) return `[${value.map(moneyJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .map(([name, inner]) => `${JSON.stringify(name)}:${moneyJson(inner)}`);
  return `{${members.join(',')}}`;
}
