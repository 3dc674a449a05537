import { describe, expect, it } from 'vitest';
import { Refusal } from '../src/base/refusal.ts';
import { lost } from './judge/arrives.ts';
import { asked, formats, type Sent } from './judge/asking.ts';
import { comparable, matrixOf, requestsOf, share, shareOf } from './judge/matrix.ts';
import { matrixTargets } from './judge/targets.ts';
import { recordingsFolder } from './recorded-traffic.ts';

// "Change only the model": a hundred recorded requests of each format to sixteen models. What
// reaches the vendor is within its rules (test/vendor-schemas), and each member arrives, is mapped,
// or is named as dropped. `npm run judge:matrix` prints who fails and why.

/**
 * The least share of requests that are fine, in percent: of all that any model could have, and of
 * those without the refusals of several answers and of probabilities, which are demanded
 * (`matrix.ts`). No cell is outside the rules or loses something.
 */
const floors = {
  chat: { fine: 96.5, others: 100 },
  responses: { fine: 99.8, others: 99.8 },
  messages: { fine: 100, others: 100 },
} as const;

/** What is usual without being said. */
const asksNothing = new Set(['1', '{"type":"text"}']);

describe.skipIf(recordingsFolder === undefined)(
  'the judge of the matrix, over recorded requests',
  () => {
    it('sees each member that does not arrive', () => {
      const target = matrixTargets[1];
      if (target === undefined || recordingsFolder === undefined) throw new Error('no target');
      const missed = requestsOf(recordingsFolder, 'chat').flatMap((request) => {
        const sent = asked('chat', request.body, target);
        if (sent instanceof Refusal) return [];
        const told = ['messages', 'temperature', 'seed', 'response_format', 'max_tokens'].filter(
          (name) =>
            sent.call.body[name] !== null &&
            sent.body[name] !== undefined &&
            lost(name, sent, target).length === 0,
        );
        const without = (name: string): Sent => ({
          ...sent,
          body: Object.fromEntries(Object.entries(sent.body).filter(([member]) => member !== name)),
        });
        return told
          .filter(
            (name) =>
              lost(name, without(name), target).length === 0 &&
              !asksNothing.has(JSON.stringify(sent.body[name])),
          )
          .map((name) => `${request.id} ${name}`);
      });
      expect(missed).toEqual([]);
    });
  },
);

describe.skipIf(recordingsFolder === undefined).each(formats)(
  'change only the model of recorded requests: %s',
  (format) => {
    const cells = recordingsFolder === undefined ? [] : matrixOf(recordingsFolder, format);

    it('is asked of a hundred requests and sixteen models', () => {
      expect(matrixTargets).toHaveLength(16);
      expect(
        recordingsFolder === undefined ? [] : requestsOf(recordingsFolder, format),
      ).toHaveLength(100);
      expect(cells).toHaveLength(1600);
    });

    it('sends what the vendor takes, and loses nothing without a word', () => {
      process.stdout.write(`${format}: ${share(cells)}\n`);
      expect(comparable(cells).filter(({ verdict }) => verdict === 'wrong')).toEqual([]);
      const { fineOfAll, fineOfOthers } = shareOf(cells);
      expect(fineOfAll).toBeGreaterThanOrEqual(floors[format].fine);
      expect(fineOfOthers).toBeGreaterThanOrEqual(floors[format].others);
    });

    it('calls no refusal documented but those of several answers and of probabilities, by their names', () => {
      const said = cells
        .filter(({ demanded }) => demanded)
        .flatMap(({ verdict, why }) => why.map((one) => `${verdict} ${one}`));
      expect(said.filter((one) => !/^refused (?:n|(?:top_)?logprobs): /.test(one))).toEqual([]);
      // Every one of these is a request of chat.
      expect(said.length > 0).toBe(format === 'chat');
    });

    it('refuses with the name of the member', () => {
      expect(
        cells.filter(
          ({ verdict, why }) =>
            verdict === 'refused' && why.some((one) => one.startsWith('no param')),
        ),
      ).toEqual([]);
    });
  },
);
