import { performance } from 'node:perf_hooks';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isToolMeasure,
  type Measure,
  measures as allMeasures,
  type Quantities,
} from '../base/quantities.ts';
import {
  costOf,
  inputTokens,
  outputTokensFor,
  type Price,
  type Rates,
  tariffOf,
  worstCase,
} from './price.ts';

/** The fees for tools are computed separately: `feesOf`, below. */
const measures: readonly Measure[] = allMeasures.filter((measure) => !isToolMeasure(measure));
const unit = 1_000_000n;
const yuan = (text: string): bigint => BigInt(Math.round(Number(text) * 1e9));
const price = (rates: Rates, rest: Partial<Price> = {}): Price => ({
  rates,
  tiers: [],
  by: undefined,
  ...rest,
});
const costs = (of: Price, quantities: Quantities, variant?: string) =>
  costOf(tariffOf(of, unit), quantities, variant);
const tokenMeasures = measures.filter(
  (measure) => !['image', 'megapixel', 'second', 'character', 'request'].includes(measure),
);

/** The cost of one measure, computed independently, as an exact fraction. */
function exactly(
  of: Price,
  ppm: bigint,
  measure: Measure,
  quantities: Quantities,
): { top: bigint; bottom: bigint } {
  const tier = of.tiers.filter((each) => inputTokens(quantities) > each.aboveInputTokens).at(-1);
  const rates: Rates = { ...of.rates, ...tier?.rates };
  const plain = /input|cache/.test(measure) ? 'input' : 'output';
  const rate = rates[measure] ?? (tokenMeasures.includes(measure) ? rates[plain] : undefined) ?? 0n;
  // The price of a million is rounded up for the group, once.
  return {
    top: BigInt(quantities[measure] ?? 0) * ((rate * ppm + unit - 1n) / unit),
    bottom: unit,
  };
}

const anyRate = fc.bigInt({ min: 0n, max: 10n ** 13n });
const anyRates = fc.record(Object.fromEntries(measures.map((measure) => [measure, anyRate])), {
  requiredKeys: [],
}) as fc.Arbitrary<Rates>;
const anyPrice = fc
  .tuple(
    anyRates,
    fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 300_000 }), anyRates), {
      maxLength: 3,
      selector: ([above]) => above,
    }),
  )
  .map(
    ([rates, tiers]): Price =>
      price(rates, {
        tiers: tiers
          .sort(([a], [b]) => a - b)
          .map(([aboveInputTokens, of]) => ({ aboveInputTokens, rates: of })),
      }),
  );
const anyTokens = fc.record(
  Object.fromEntries(
    tokenMeasures.map((measure) => [measure, fc.integer({ min: 0, max: 500_000 })]),
  ),
  {
    requiredKeys: [],
  },
) as fc.Arbitrary<Quantities>;
const anyMultiplier = fc.bigInt({ min: 0n, max: 20_000_000n });
const sum = (quantities: Quantities, of: readonly Measure[]) =>
  of.reduce((total, measure) => total + (quantities[measure] ?? 0), 0);

describe('costOf', () => {
  it('charges each class by its own rate', () => {
    const bill = costs(price({ input: yuan('2'), cached_input: yuan('0.2'), output: yuan('3') }), {
      input: 19,
      cached_input: 7,
      output: 10,
    });
    expect(bill.lines).toEqual([
      { measure: 'input', quantity: 19, rate: 2_000_000_000n, cost: 38_000n },
      { measure: 'cached_input', quantity: 7, rate: 200_000_000n, cost: 1_400n },
      { measure: 'output', quantity: 10, rate: 3_000_000_000n, cost: 30_000n },
    ]);
    expect(bill.total).toBe(69_400n);
  });

  it('rounds the price of a group up once, and then each line once', () => {
    // 333,334 × 0.333333 = 111,112 nano per million; 9,000,000 tokens of it are no 999,999 nano.
    const group = tariffOf(price({ input: 333_334n }), 333_333n);
    expect(costOf(group, { input: 9_000_000 }).lines).toEqual([
      { measure: 'input', quantity: 9_000_000, rate: 111_112n, cost: 1_000_008n },
    ]);
    const bill = costOf(tariffOf(price({ input: 333_334n, output: 1n }), 333_333n), {
      input: 3,
      output: 1,
    });
    expect(bill.lines.map((line) => line.cost)).toEqual([1n, 1n]);
    expect(costOf(tariffOf(price({ input: 2_000_000n }), 850_000n), { input: 10 }).total).toBe(17n);
  });

  it('lets unpriced classes cost what the plain class of their side costs', () => {
    const plain = price({ input: yuan('1'), output: yuan('4') });
    for (const measure of [
      'cached_input',
      'cache_write_5m',
      'cache_write_1h',
      'audio_input',
      'image_input',
    ] as const)
      expect(costs(plain, { [measure]: 5 }).total).toBe(5_000n);
    for (const measure of ['reasoning', 'audio_output', 'image_output'] as const)
      expect(costs(plain, { [measure]: 5 }).total).toBe(20_000n);
    expect(costs(plain, { image: 5, second: 5, character: 5 }).total).toBe(0n);
  });

  it('reprices the whole request above a tier, cache reads and writes counted, and keeps the base rate of what the tier lacks', () => {
    const tiered = price(
      { input: yuan('1'), cached_input: yuan('0.1'), output: yuan('4') },
      { tiers: [{ aboveInputTokens: 100, rates: { input: yuan('2'), output: yuan('8') } }] },
    );
    expect(costs(tiered, { input: 60, cached_input: 40, output: 1 }).total).toBe(
      60_000n + 4_000n + 4_000n,
    );
    expect(costs(tiered, { input: 60, cached_input: 40, cache_write_5m: 1, output: 1 }).total).toBe(
      120_000n + 4_000n + 2_000n + 8_000n,
    );
  });

  it('charges a variant instead of the plain rate, and never nothing for an unknown one', () => {
    const rates = { '720p': yuan('0.5') * unit, '1080p': yuan('0.9') * unit };
    const plain = price({ second: yuan('0.7') * unit }, { by: { measure: 'second', rates } });
    expect(costs(plain, { second: 5 }, '1080p').total).toBe(4_500_000_000n);
    expect(costs(plain, { second: 5 }, '4k').total).toBe(3_500_000_000n);
    expect(costs(plain, { second: 5 }).total).toBe(3_500_000_000n);
    const only = price({}, { by: { measure: 'second', rates } });
    expect(costs(only, { second: 5 }, '720p').total).toBe(2_500_000_000n);
    expect(costs(only, { second: 5 }, '4k').total).toBe(4_500_000_000n);
  });

  it('counts one request, and parts of a second', () => {
    expect(costs(price({ request: yuan('0.02') * unit }), {}).total).toBe(20_000_000n);
    expect(costs(price({ request: yuan('0.02') * unit }), { request: 3 }).total).toBe(60_000_000n);
    expect(costs(price({ second: yuan('0.1') * unit }), { second: 12.34 }).total).toBe(
      1_234_000_000n,
    );
  });

  it('adds up, never undercharges and never overcharges by a nano a line', () => {
    fc.assert(
      fc.property(anyPrice, anyMultiplier, anyTokens, (of, ppm, quantities) => {
        const bill = costOf(tariffOf(of, ppm), { ...quantities, request: 0 });
        expect(bill.lines.reduce((total, line) => total + line.cost, 0n)).toBe(bill.total);
        for (const line of bill.lines) {
          const { top, bottom } = exactly(of, ppm, line.measure, quantities);
          expect(line.cost * bottom >= top && (line.cost - 1n) * bottom < top).toBe(true);
        }
        const billed = new Set(bill.lines.map((line) => line.measure));
        const free = measures.filter((measure) => !billed.has(measure));
        expect(free.filter((measure) => exactly(of, ppm, measure, quantities).top !== 0n)).toEqual(
          [],
        );
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('worstCase', () => {
  it('is never below the cost of what it covers', () => {
    fc.assert(
      fc.property(anyPrice, anyMultiplier, anyTokens, (of, ppm, quantities) => {
        const tariff = tariffOf(of, ppm);
        const text = sum(quantities, ['input', 'cached_input', 'cache_write_5m', 'cache_write_1h']);
        const media = {
          inputTokens: sum(quantities, ['audio_input', 'image_input']),
          output: true,
        };
        const out = sum(quantities, ['output', 'reasoning', 'audio_output', 'image_output']);
        expect(worstCase(tariff, text, out, media) >= costOf(tariff, quantities).total).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is the cost itself where classes cost the same', () => {
    const tariff = tariffOf(price({ input: yuan('1000'), output: yuan('1000') }), unit);
    expect(worstCase(tariff, 19, 10)).toBe(costOf(tariff, { input: 19, output: 10 }).total);
  });

  it('prices media by the dearest input class and text by the dearest text class', () => {
    const tariff = tariffOf(
      price({
        input: yuan('1'),
        cache_write_1h: yuan('2'),
        audio_input: yuan('10'),
        output: yuan('3'),
        audio_output: yuan('30'),
      }),
      unit,
    );
    expect(worstCase(tariff, 10, 1)).toBe(23_000n);
    expect(worstCase(tariff, 10, 1, { inputTokens: 5, output: true })).toBe(
      20_000n + 50_000n + 30_000n,
    );
  });
});

describe('outputTokensFor', () => {
  it('gives as many tokens as the money pays for, and not one more', () => {
    fc.assert(
      fc.property(
        anyPrice,
        anyMultiplier,
        fc.bigInt({ min: 0n, max: 10n ** 12n }),
        fc.integer({ min: 0, max: 400_000 }),
        (of, ppm, money, input) => {
          const tariff = tariffOf(of, ppm);
          const tokens = outputTokensFor(tariff, money, input);
          const affordable = tokens === 0 || worstCase(tariff, input, tokens) <= money;
          const most =
            tokens === Number.MAX_SAFE_INTEGER || worstCase(tariff, input, tokens + 1) > money;
          expect({ affordable, most }).toEqual({ affordable: true, most: true });
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

it('prices three lines in about a microsecond', () => {
  const tariff = tariffOf(
    price({ input: yuan('2.13'), cached_input: yuan('0.213'), output: yuan('8.7') }),
    850_000n,
  );
  const quantities = { input: 1234, cached_input: 800, output: 456 };
  let total = 0n;
  const run = (times: number) => {
    const start = performance.now();
    for (let i = 0; i < times; i++) total += costOf(tariff, quantities).total;
    return ((performance.now() - start) * 1e6) / times;
  };
  run(50_000);
  const nanoseconds = Math.min(run(100_000), run(100_000), run(100_000));
  expect(nanoseconds).toBeLessThan(10_000); // a loaded machine is no failure; a tenfold is
  expect(total > 0n).toBe(true);
});
