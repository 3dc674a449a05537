import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Fraction, fraction, readFraction } from '../base/fraction.ts';
import { loadBundled } from './bundled.ts';
import { calendars, dearestWindow, knownUntil, windowAt } from './price-windows.ts';
import { readConfiguration } from './config.ts';
import {
  costOf,
  feesOf,
  outputTokensFor,
  type Price,
  tariffOf,
  type Terms,
  worstCase,
} from './price.ts';
import { isFarOffNew, priceDifferences } from './price-differences.ts';
import { parsePrice, priceText } from './price-json.ts';

const unit = 1_000_000n;
const times = (text: string): { readonly all: Fraction } => {
  const all = readFraction(text);
  if ('code' in all) throw new Error(all.message);
  return { all };
};
const price = (more: Partial<Price> = {}): Price => ({
  rates: { input: 1_000_000n, output: 4_000_000n },
  tiers: [],
  by: undefined,
  ...more,
});
const beijing = (text: string): number => Date.parse(`${text}+08:00`);

async function bundledPrice(id: string): Promise<Price> {
  const bundled = await loadBundled({ usdRatePpm: 7_200_000n, today: '2026-11-22' });
  const found = bundled.get(id)?.facts.price;
  if (found === undefined) throw new Error(`no ${id}`);
  return found;
}

async function windowsOf(id: string) {
  const { windows } = await bundledPrice(id);
  if (windows === undefined) throw new Error(`${id} has no windows`);
  return windows;
}

async function configured(written: string, more = ''): Promise<Price | readonly string[]> {
  const text = `${more}\nmodels:\n  - { id: m, owned_by: v, price: { input: 1, output: 4, ${written} } }\n`;
  const read = await readConfiguration(text, {
    env: {},
    vendors: [],
    now: 0,
  } as unknown as Parameters<typeof readConfiguration>[1]);
  if (!read.ok) return read.problems.map(({ message }) => message);
  const [model] = read.configuration.models;
  if (model === undefined) throw new Error('no model');
  return model.price;
}

describe('hours that have their own price', () => {
  it('are DeepSeek’s peak, minute by minute over a week', async () => {
    const windows = await windowsOf('deepseek-flash');
    const monday = beijing('2026-11-16T00:00');
    for (let minute = 0; minute < 7 * 1_440; minute++) {
      const [day, of] = [Math.floor(minute / 1_440), minute % 1_440];
      const peak = day < 5 && ((of >= 540 && of < 720) || (of >= 840 && of < 1_080));
      expect(windowAt(windows, monday + minute * 60_000).name, `day ${day} minute ${of}`).toBe(
        peak ? 'peak' : undefined,
      );
    }
  });

  it('mean the same by the weekdays of UTC and of Beijing, at all hours of a week', async () => {
    const windows = await windowsOf('deepseek-flash');
    const utc = windows.list.map((window) => ({
      ...window,
      zone: 'UTC',
      from: window.from - 480,
      to: window.to - 480,
    }));
    for (let hour = 0; hour < 168; hour++) {
      const at = Date.parse('2026-11-16T00:00Z') + hour * 3_600_000;
      expect(windowAt({ moment: 'sent', list: utc }, at).name).toBe(windowAt(windows, at).name);
    }
  });

  it('leave holidays out, a Saturday that is worked is a Saturday, and beyond what is known the dearest holds', async () => {
    const windows = await windowsOf('deepseek-flash');
    const at = (text: string) => windowAt(windows, beijing(text)).name;
    expect(at('2026-10-05T10:00')).toBeUndefined();
    expect(at('2026-10-08T10:00')).toBe('peak');
    expect(at('2026-10-10T10:00')).toBeUndefined();
    expect(at('2026-12-31T23:59')).toBeUndefined();
    expect(at('2027-01-01T00:00')).toBe('peak');
    expect(at('2027-01-02T03:00')).toBe('peak');
    expect(knownUntil(windows)).toBe(beijing('2027-01-01T00:00'));
    expect(calendars.get('cn-public-holidays')?.knownUntil).toBe('2026-12-31');
  });

  it('where the windows are cheaper ones, the plain price is the dearest', () => {
    const list = [{ name: 'night', zone: 'UTC', from: 0, to: 360, times: times('1/2') }];
    expect(dearestWindow(list)).toBeUndefined();
  });

  it('wrap over midnight and belong to the day on which they begin', () => {
    const windows = {
      moment: 'sent' as const,
      list: [{ name: 'night', zone: 'UTC', days: [5], from: 1_320, to: 360, times: times('1/2') }],
    };
    const at = (text: string) => windowAt(windows, Date.parse(text)).name;
    expect([
      at('2026-11-20T21:59Z'),
      at('2026-11-20T22:00Z'),
      at('2026-11-21T05:59Z'),
      at('2026-11-21T06:00Z'),
    ]).toEqual([undefined, 'night', 'night', undefined]);
    expect([at('2026-11-20T03:00Z'), at('2026-11-21T23:00Z')]).toEqual([undefined, undefined]);
  });

  it('follow the clocks of their zone when these are changed', () => {
    const windows = {
      moment: 'sent' as const,
      list: [{ name: 'work', zone: 'Europe/Berlin', from: 540, to: 1_020, times: times('2') }],
    };
    for (const [day, hour] of [
      ['2026-03-28', 8],
      ['2026-03-29', 7],
      ['2026-10-24', 7],
      ['2026-10-25', 8],
    ] as const) {
      expect(windowAt(windows, Date.parse(`${day}T0${hour}:00Z`)).name, day).toBe('work');
      expect(windowAt(windows, Date.parse(`${day}T0${hour}:00Z`) - 1).name, day).toBeUndefined();
    }
  });

  it('are looked up once for each stretch, and a tariff is the same within it', async () => {
    const { terms } = tariffOf(await bundledPrice('deepseek-flash'), unit);
    expect(terms?.plainAt(beijing('2026-11-16T09:00'))).toBe(
      terms?.plainAt(beijing('2026-11-16T11:59')),
    );
    expect(terms?.plainAt(beijing('2026-11-16T12:00'))).not.toBe(
      terms?.plainAt(beijing('2026-11-16T11:59')),
    );
    const span = windowAt(await windowsOf('deepseek-flash'), beijing('2026-11-16T10:00'));
    expect([span.from, span.to]).toEqual([
      beijing('2026-11-16T09:00'),
      beijing('2026-11-16T12:00'),
    ]);
  });
});

describe('tiers', () => {
  it('begin with the first token beyond, and multiply or name', async () => {
    const tiered = price({
      tiers: [
        {
          aboveInputTokens: 272_000,
          rates: {},
          times: { each: { input: fraction(2n), output: fraction(3n, 2n) } },
        },
      ],
    });
    const tariff = tariffOf(tiered, unit);
    expect(costOf(tariff, { input: 272_000, output: 10 }).total).toBe(272_000n + 40n);
    expect(costOf(tariff, { input: 272_001, output: 10 }).lines).toEqual([
      {
        measure: 'input',
        quantity: 272_001,
        rate: 2_000_000n,
        cost: 544_002n,
        terms: '× 2 above 272000 input tokens',
      },
      {
        measure: 'output',
        quantity: 10,
        rate: 6_000_000n,
        cost: 60n,
        terms: '× 3/2 above 272000 input tokens',
      },
    ]);
  });

  it('by the length of the output reprice the whole, and combine with those by input: the later one wins', () => {
    const tariff = tariffOf(
      price({
        tiers: [
          {
            aboveInputTokens: -1,
            aboveOutputTokens: 200,
            rates: { input: 2_000_000n, output: 8_000_000n },
          },
          { aboveInputTokens: 1_000, rates: { output: 16_000_000n } },
        ],
      }),
      unit,
    );
    const total = (input: number, output: number) => costOf(tariff, { input, output }).total;
    expect(total(10, 200)).toBe(10n + 800n);
    expect(total(10, 201)).toBe(20n + 1_608n);
    expect(total(1_001, 1)).toBe(1_001n + 16n);
    expect(total(1_001, 300)).toBe(2_002n + 4_800n);
    expect(costOf(tariff, { input: 10, output: 101, reasoning: 100 }).total).toBe(
      20n + 808n + 800n,
    );
  });
});

const anyFactor = fc
  .tuple(fc.bigInt({ min: 0n, max: 400n }), fc.bigInt({ min: 1n, max: 400n }))
  .map(([over, under]) => fraction(over, under));
const anyTimes = fc.oneof(
  anyFactor.map((all) => ({ all })),
  fc
    .record({ input: anyFactor, cached_input: anyFactor, output: anyFactor }, { requiredKeys: [] })
    .map((each) => ({ each })),
);
const rate = fc.bigInt({ min: 0n, max: 10n ** 12n });
const anyPrice = fc.record({
  rates: fc.record(
    { input: rate, output: rate, cached_input: rate, reasoning: rate },
    { requiredKeys: ['input', 'output'] },
  ),
  tiers: fc.array(
    fc.record(
      {
        aboveInputTokens: fc.constantFrom(-1, 100, 1_000),
        aboveOutputTokens: fc.constantFrom(50, 500),
        rates: fc.record({ input: rate, output: rate, cached_input: rate }, { requiredKeys: [] }),
        times: anyTimes,
      },
      { requiredKeys: ['aboveInputTokens', 'rates', 'aboveOutputTokens'] },
    ),
    { maxLength: 3 },
  ),
  by: fc.constant(undefined),
  modes: fc.record({ fast: anyTimes.map((some) => ({ times: some })) }),
  places: fc.record({ us: anyTimes }),
  windows: anyTimes.map((some) => ({
    moment: 'sent' as const,
    list: [{ name: 'peak', zone: 'UTC', from: 0, to: 720, times: some }],
  })),
}) as fc.Arbitrary<Price>;
const anyTerms = fc.record(
  { mode: fc.constant('fast'), place: fc.constant('us'), window: fc.constant('peak') },
  { requiredKeys: [] },
);
const anyGroup = fc.bigInt({ min: 0n, max: 3_000_000n });
const tokens = fc.integer({ min: 0, max: 2_000 });

/** The factor for one measure, computed independently of the code under test. */
function factorOf(
  some: { all?: Fraction; each?: Readonly<Record<string, Fraction>> } | undefined,
  measure: string,
): Fraction {
  const plainName = /input|cache/.test(measure) ? 'input' : 'output';
  return (
    some?.each?.[measure] ??
    some?.each?.[plainName] ??
    some?.all ?? { numerator: 1n, denominator: 1n }
  );
}

describe('a rate', () => {
  it('is base × mode × place × window × group as one fraction, rounded up once', () => {
    fc.assert(
      fc.property(anyPrice, anyTerms, anyGroup, (of, terms, ppm) => {
        const plain = { ...of, tiers: [] };
        const { terms: others } = tariffOf(plain, ppm);
        for (const line of costOf(others?.under(terms) ?? tariffOf(plain, ppm), {
          input: 1,
          cached_input: 1,
          output: 1,
          reasoning: 1,
        }).lines) {
          const own =
            plain.rates[line.measure] ??
            plain.rates[/input|cache/.test(line.measure) ? 'input' : 'output'] ??
            0n;
          const all = [
            terms.mode && plain.modes?.['fast']?.times,
            terms.place && plain.places?.['us'],
            terms.window && plain.windows?.list[0]?.times,
          ].map((some) => factorOf(some as Parameters<typeof factorOf>[0], line.measure));
          const over = all.reduce((product, each) => product * each.numerator, own * ppm);
          const under = all.reduce((product, each) => product * each.denominator, 1_000_000n);
          expect(line.rate).toBe((over + under - 1n) / under);
          expect(line.cost).toBe((line.rate + 999_999n) / 1_000_000n);
        }
      }),
    );
  });

  it('of a request is never more than the worst case, and what money pays for is never more than the money', () => {
    fc.assert(
      fc.property(
        anyPrice,
        anyTerms,
        anyGroup,
        tokens,
        tokens,
        tokens,
        fc.bigInt({ min: 0n, max: 10n ** 10n }),
        (of, terms, ppm, input, cached, output, money) => {
          const tariff = tariffOf(of, ppm).terms?.under(terms) ?? tariffOf(of, ppm);
          const worst = worstCase(tariff, input + cached, output);
          for (const part of [0, 0.3, 1]) {
            const thought = Math.floor(output * part);
            expect(
              costOf(tariff, {
                input,
                cached_input: cached,
                output: output - thought,
                reasoning: thought,
              }).total,
            ).toBeLessThanOrEqual(worst);
            expect(costOf(tariff, { input, output: thought }).total).toBeLessThanOrEqual(worst);
          }
          const bought = outputTokensFor(tariff, money, input);
          if (bought > 0 && bought < Number.MAX_SAFE_INTEGER) {
            expect(worstCase(tariff, input, bought)).toBeLessThanOrEqual(money);
            expect(worstCase(tariff, input, bought + 1)).toBeGreaterThan(money);
          }
        },
      ),
    );
  });

  it('of every bundled model in every way that it is sold is at most that of the dearest', async () => {
    const bundled = await loadBundled({ usdRatePpm: 7_200_000n, today: '2026-11-22' });
    for (const { facts } of bundled.values()) {
      const { modes = {}, places = {}, windows } = facts.price;
      const { terms } = tariffOf(facts.price, 1_150_000n);
      if (terms === undefined) continue;
      const all: Terms[] = [undefined, ...Object.keys(modes)].flatMap((mode) =>
        [undefined, ...Object.keys(places)].flatMap((place) =>
          [undefined, windows?.list[0]?.name].map((window) => ({ mode, place, window })),
        ),
      );
      const totals = all.map(
        (each) => costOf(terms.under(each), { input: 300_000, output: 1_000 }).total,
      );
      const worst = all
        .map((each) => worstCase(terms.under(each), 300_000, 1_000))
        .reduce((most, one) => (one > most ? one : most));
      for (const total of totals) expect(total, facts.id).toBeLessThanOrEqual(worst);
    }
  });

  it('of a tool is no part of its tokens, and no factor but its own touches it', () => {
    const of = price({
      rates: { input: 1_000_000n, output: 4_000_000n, web_search: 70_000_000n },
      modes: { flex: { times: times('1/2') } },
    });
    const flex = tariffOf(of, 1_500_000n).terms?.under({ mode: 'flex' });
    expect(
      flex && costOf(flex, { input: 10, web_search: 3 }).lines.map(({ measure }) => measure),
    ).toEqual(['input']);
    expect(flex && feesOf(flex, { web_search: 3 }).lines).toEqual([
      { measure: 'web_search', quantity: 3, rate: 105_000_000n, cost: 315n },
    ]);
  });
});

describe('a stored price', () => {
  it('is read as it was written, whatever it says', () => {
    fc.assert(
      fc.property(anyPrice, (of) => {
        expect(priceText(parsePrice(priceText(of)))).toBe(priceText(of));
        for (const terms of [{}, { mode: 'fast', window: 'peak' }])
          expect(tariffOf(parsePrice(priceText(of)), unit).terms?.under(terms).bands).toEqual(
            tariffOf(of, unit).terms?.under(terms).bands,
          );
      }),
    );
  });

  it('of the version before is priced as before, tiers that lack a class included', () => {
    const old =
      '{"rates":{"input":"1000000","cached_input":"500000","output":"4000000"},"tiers":[{"above":100,"rates":{"input":"2000000","cached_input":"900000"}},{"above":200,"rates":{"input":"3000000"}}],"by":{"measure":"image","rates":{"hd":"7"}}}';
    expect(priceText(parsePrice(old))).toBe(old);
    const tariff = tariffOf(parsePrice(old), unit);
    expect(tariff.terms).toBeUndefined();
    expect(costOf(tariff, { input: 150, output: 1 }).lines.map(({ rate: each }) => each)).toEqual([
      2_000_000n,
      4_000_000n,
    ]);
    // The second tier names no price of cached input: the base price applies, not the first tier's.
    expect(costOf(tariff, { cached_input: 250 }).lines.map(({ rate: each }) => each)).toEqual([
      500_000n,
    ]);
  });
});

describe('a written price', () => {
  it('says modes, places, windows and their moment', async () => {
    const read = await configured(
      'web_search: 0.07, tiers: [{ above_output_tokens: 200, times: 3/2 }], modes: { flex: { times: 1/2 }, ultrafast: { times: 6, only: [responses] } }, places: { us: { times: 1.1 } }, moment: finished, windows: [{ name: peak, zone: Asia/Shanghai, days: [1, 5], from: "09:00", to: "12:00", except: cn-public-holidays, times: { input: 2 } }]',
    );
    expect(read).toMatchObject({
      rates: { web_search: 70_000_000_000_000n },
      tiers: [
        {
          aboveInputTokens: -1,
          aboveOutputTokens: 200,
          times: { all: { numerator: 3n, denominator: 2n } },
        },
      ],
      modes: { ultrafast: { only: ['responses'] } },
      places: { us: { all: { numerator: 11n, denominator: 10n } } },
      windows: {
        moment: 'finished',
        list: [{ days: [1, 5], from: 540, to: 720, except: calendars.get('cn-public-holidays') }],
      },
    });
  });

  it('may name a calendar of the file', async () => {
    const read = await configured(
      'windows: [{ name: night, zone: UTC, from: "22:00", to: "06:00", wraps: true, except: fairs, times: 1/2 }]',
      'calendars:\n  - { name: fairs, known_until: 2027-12-31, days: [2027-03-01..2027-03-05, 2027-09-01] }',
    );
    expect(read).toMatchObject({
      windows: {
        list: [
          {
            except: {
              days: [
                ['2027-03-01', '2027-03-05'],
                ['2027-09-01', '2027-09-01'],
              ],
            },
          },
        ],
      },
    });
  });

  it.each([
    [
      'windows: [{ name: p, zone: Asia/Peking2, from: "09:00", to: "12:00", times: 2 }]',
      'must be a time zone',
    ],
    ['windows: [{ name: p, zone: UTC, from: "12:00", to: "09:00", times: 2 }]', 'wraps: true'],
    [
      'windows: [{ name: p, zone: UTC, from: "9", to: "12:00", times: 2 }]',
      'must be a time such as',
    ],
    [
      'windows: [{ name: p, zone: UTC, days: [8], from: "09:00", to: "12:00", times: 2 }]',
      'must be a day from 1',
    ],
    [
      'windows: [{ name: p, zone: UTC, from: "09:00", to: "12:00", except: cn-holidays, times: 2 }]',
      "there is no calendar 'cn-holidays'",
    ],
    [
      'windows: [{ name: p, zone: UTC, from: "09:00", to: "12:00", times: 2 }, { name: p, zone: UTC, from: "13:00", to: "14:00", times: 3 }]',
      'must be the same in all windows',
    ],
    ['modes: { flex: { times: half } }', 'must be a number like 2, 1.1 or 3/2'],
    ['modes: { flex: { times: 1/0 } }', 'must not be divided by 0'],
    ['modes: { flex: { times: { inptu: 2 } } }', "has 'inptu', which is no member of a price"],
    ['modes: { flex: { times: -1 } }', 'must be a number like'],
    ['modes: { felx: { times: 1/2 } }', "there is no tier or speed 'felx', did you mean 'flex'?"],
    [
      'modes: { batch: { times: 1/2 } }',
      "there is no tier or speed 'batch': there are flex, fast,",
    ],
    ['modes: flex', "must be a group of members, not 'flex'"],
    ['tiers: [{ input: 2 }]', 'needs above_input_tokens'],
    [
      'tiers: [{ above_input: 9, input: 2 }]',
      "unknown member 'above_input', did you mean 'above_input_tokens'?",
    ],
    [
      'tiers: [{ above_tokens: 9, input: 2 }]',
      "unknown member 'above_tokens', did you mean 'above_input_tokens'?",
    ],
  ])('is refused where it is wrong: %s', async (written, message) => {
    expect(await configured(written)).toEqual(
      expect.arrayContaining([expect.stringContaining(message)]),
    );
  });

  it('is 100 % lower than another only where it is free', () => {
    const of = (input: bigint): Price => ({ ...price({}), rates: { input } });
    const percent = (to: bigint) => priceDifferences(of(6_745_000_000n), of(to))[0]?.percent;
    expect([percent(0n), percent(1_000_000n), percent(3_372_500_000n)]).toEqual([-100, -99.9, -50]);
  });

  it('differs from another by its factors, too', () => {
    const of = (text: string): Price => price({ modes: { flex: { times: times(text) } } });
    expect(priceDifferences(of('1/2'), of('0.5'))).toEqual([]);
    expect(priceDifferences(of('1/2'), of('3/5'))).toEqual([
      {
        ...{ member: 'mode flex', from: '1/2', to: '3/5' },
        ...{ measure: undefined, farOff: false, percent: undefined },
      },
    ]);
  });

  it('is far off at a thousand times another, and at a thousandth of it', () => {
    const old = price({ rates: { input: 1_000_000n } });
    const isFarOff = (input: bigint) =>
      priceDifferences(old, price({ rates: { input } })).some(({ farOff }) => farOff);
    expect([999_999_999n, 1_000_000_000n].map(isFarOff)).toEqual([false, true]);
    expect([1_001n, 1_000n, 0n].map(isFarOff)).toEqual([false, true, false]);
  });

  it('is far off when it is new and a character costs what a million should, in any member', () => {
    const [usual, dear] = [99_999n * unit * 1_000n, 100_000n * unit * 1_000n];
    const bare = { rates: {} };
    const priced = (character: bigint): readonly Price[] => [
      price({ rates: { character } }),
      price({ ...bare, by: { measure: 'character', rates: { hd: character } } }),
      price({ ...bare, tiers: [{ aboveInputTokens: 9, rates: { character } }] }),
    ];
    expect(priced(usual).map(isFarOffNew)).toEqual([false, false, false]);
    expect(priced(dear).map(isFarOffNew)).toEqual([true, true, true]);
    const seconds = { measure: 'second', rates: { '720p': dear } } as const;
    expect(isFarOffNew(price({ ...bare, by: seconds }))).toBe(false);
  });
});
