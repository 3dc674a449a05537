import { describe, expect, it } from 'vitest';
import { listFeesAt, withListFees } from './build-snapshot.ts';
import type { Price } from './price.ts';
import { parsePrice, priceText } from './price-json.ts';

const price: Price = { rates: { input: 1n, output: 2n }, tiers: [], by: undefined };
const named: Price = { ...price, rates: { ...price.rates, web_fetch: 9n } };

describe('list fees', () => {
  it('are converted exactly, rounded up to the nano for a million calls', () => {
    const fees = listFeesAt(
      () => ({ web_search: '0.01', web_fetch: '0', code_session: '0.000000000000001' }),
      7_123_456n,
    );
    expect(fees('v', 'm')).toEqual({
      web_search: 71_234_560_000_000n,
      web_fetch: 0n,
      code_session: 8n,
    });
  });

  it('are the dearest of the channels, tool by tool', () => {
    const fees = [{ web_search: 5n }, {}, { web_search: 7n, web_fetch: 0n }];
    expect(withListFees('chat', price, fees).rates).toEqual({
      input: 1n,
      output: 2n,
      web_search: 7n,
      web_fetch: 0n,
    });
  });

  it('are for chat models whose price names no fee, or says that the list has the others', () => {
    const fees = [{ web_search: 5n, web_fetch: 1n }];
    expect(withListFees('image', price, fees)).toBe(price);
    expect(withListFees('chat', named, fees)).toBe(named);
    expect(withListFees('chat', { ...price, listFees: false }, fees).rates).toEqual(price.rates);
    expect(withListFees('chat', { ...named, listFees: true }, fees).rates).toEqual({
      ...named.rates,
      web_search: 5n,
    });
  });

  it('are refused by a price that is stored and read again', () => {
    for (const listFees of [true, false])
      expect(parsePrice(priceText({ ...price, listFees })).listFees).toBe(listFees);
    expect(priceText(parsePrice(priceText(price)))).toBe(priceText(price));
    expect(parsePrice(priceText(price))).not.toHaveProperty('listFees');
  });
});
