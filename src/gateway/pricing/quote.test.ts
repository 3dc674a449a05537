import { describe, expect, it } from 'vitest';
import { fraction } from '../../base/fraction.ts';
import type { Quantities } from '../../base/quantities.ts';
import { costOf, type Price, tariffOf } from '../../catalog/price.ts';
import type { Candidate, Offer, Snapshot } from '../../catalog/snapshot.ts';
import { billableFeatures } from '../../providers/billable-features.ts';
import { makeQuote } from './quote.ts';

const times = (over: bigint, under = 1n) => ({ all: fraction(over, under) });
const peak = { name: 'peak', zone: 'UTC', from: 540, to: 720, times: times(2n) };
const noon = Date.parse('2026-11-20T12:00Z');
const size = { textTokens: 1_000, media: { inputTokens: 0, output: false }, outputTokens: 100 };
const answer: Quantities = { input: 1_000, output: 100 };
/** One nano for an input token, ten for an output token. */
const rates = { input: 1_000_000n, output: 10_000_000n };

function open(
  more: Partial<Price>,
  body: Readonly<Record<string, unknown>> = {},
  at = noon,
  capability = 'responses',
) {
  const price: Price = { rates, tiers: [], by: undefined, ...more };
  const candidates = [
    { channel: { models: new Map([['m', 'up']]) }, upstreamModel: 'up' },
  ] as unknown as Candidate[];
  const offer = {
    model: { id: 'm', kind: 'chat', price },
    tariff: tariffOf(price, 1_000_000n),
    candidates,
  } as unknown as Offer;
  const catalog = { offer: () => undefined } as unknown as Snapshot;
  const principal = { userId: 'u', keyId: 'k', group: 'g', limit: undefined, expiresAt: undefined };
  return makeQuote(
    { catalog, principal, capability, at },
    offer,
    billableFeatures(capability, body, 'm'),
    size,
  );
}

describe('a window that decides', () => {
  it('by the moment at which a request is sent, stays what it was when the answer ends in another', () => {
    const windows = { moment: 'sent' as const, list: [peak] };
    const { quote, tariff } = open({ windows }, {}, noon - 1);
    expect(quote).toBeUndefined();
    expect(costOf(tariff, answer).total).toBe(4_000n);
    const flex = open(
      { windows, modes: { flex: { times: times(1n, 2n) } } },
      { service_tier: 'flex' },
      noon - 1,
    ).quote;
    expect(
      flex?.bill(answer, { facts: { servedTier: 'flex' }, endedAt: noon + 60_000 }).total,
    ).toBe(2_000n);
  });

  it('by the moment at which the answer ends, is the one that holds then; the dearest is reserved', () => {
    const windows = { moment: 'finished' as const, list: [peak] };
    const { quote } = open({ windows }, {}, noon - 1);
    expect(quote?.bill(answer, { endedAt: noon - 1 }).total).toBe(4_000n);
    expect(quote?.bill(answer, { endedAt: noon }).total).toBe(2_000n);
    const evening = open({ windows }, {}, noon).quote;
    expect(evening?.worst(1_000, 100, size.media)).toBe(4_000n);
    expect(evening?.affordable(4_000n, 1_000, size.media)).toBe(100);
    expect(evening?.affordable(3_999n, 1_000, size.media)).toBe(99);
  });
});

describe('a reserve', () => {
  const modes = { fast: { times: times(2n) }, flex: { times: times(1n, 2n) } };

  it('is for the dearest that may be served: the standard tier where a cheaper one is asked for', () => {
    expect(open({ modes }, { service_tier: 'flex' }).quote?.worst(1_000, 100, size.media)).toBe(
      2_000n,
    );
    expect(open({ modes }, { service_tier: 'fast' }).quote?.worst(1_000, 100, size.media)).toBe(
      4_000n,
    );
  });

  it('holds the fees of all calls, and what they may read', () => {
    const body = { tools: [{ type: 'web_search' }], max_tool_calls: 2 };
    const { quote } = open({ rates: { ...rates, web_search: 5_000_000_000n } }, body);
    expect(quote?.worst(1_000, 100, size.media)).toBe(2_000n + 16_000n + 10_000n);
  });

  it('covers what is charged, for every tier that the vendor may tell', () => {
    for (const requested of ['fast', 'flex'])
      for (const served of [
        'default',
        'flex',
        'priority',
        'fast',
        'ultrafast',
        'unheard-of',
        undefined,
      ]) {
        const { quote } = open({ modes }, { service_tier: requested });
        const total =
          quote?.bill(answer, { facts: { servedTier: served }, endedAt: noon }).total ?? 0n;
        expect(total, `${requested} ${served}`).toBeLessThanOrEqual(
          quote?.worst(1_000, 100, size.media) ?? 0n,
        );
        expect(total).toBeGreaterThan(0n);
      }
  });
});
