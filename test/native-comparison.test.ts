import { describe, expect, it } from 'vitest';
import { comparisons } from './judge/native.ts';
import { recordingsFolder } from './recorded-traffic.ts';

// A request in the vendor's own format arrives as it was sent: by the real adapters with all their
// quirks, all top-level members compared.
describe.skipIf(recordingsFolder === undefined)(
  'a recorded request in its vendor’s own format',
  () => {
    const all = recordingsFolder === undefined ? [] : comparisons(recordingsFolder);
    const houses = [...new Set(all.map(({ vendor, format }) => `${vendor} ${format}`))];

    it('is compared for the houses that were recorded', () => {
      expect(all.length).toBeGreaterThan(2400);
      expect(houses).toEqual(
        expect.arrayContaining([
          'openai chat',
          'openai responses',
          'anthropic messages',
          'mistral chat',
          'groq chat',
          'deepseek chat',
          'xai chat',
          'zhipu chat',
        ]),
      );
    });

    it.each(houses)('keeps every top-level member: %s', (house) => {
      const wrong = all.filter(
        (one) => `${one.vendor} ${one.format}` === house && one.wrong.length > 0,
      );
      expect(wrong.map(({ id, wrong: why }) => `${id} ${why.join(', ')}`)).toEqual([]);
    });
  },
);
