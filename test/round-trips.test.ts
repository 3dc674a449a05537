import { Refusal } from '../src/base/refusal.ts';
import { describe, expect, it } from 'vitest';
import { fixedOrder, formats } from './judge/asking.ts';
import {
  answersIn,
  missing,
  oneOfEach,
  secondAsked,
  turnsAfter,
  turnsShare,
} from './judge/turns.ts';
import { chatTargets } from './judge/targets.ts';
import { recordingsFolder } from './recorded-traffic.ts';

// Second turns: a recorded answer, read by its vendor's adapter into each client format, goes back
// as the client's SDK sends it, with a result or a question, to every vendor that speaks chat. Here
// a third of the recordings, drawn by a seed; `npm run judge:turns` takes all of them and prints
// what goes wrong.

const seed = process.env['TURNS_SEED'] ?? '1';
const drawn = (id: string): boolean =>
  Number.parseInt(fixedOrder(`${seed} ${id}`).slice(0, 2), 16) < 85;

/** The least share that is fine, in percent. */
const floors = { chat: 100, responses: 100, messages: 100 } as const;

describe.skipIf(recordingsFolder === undefined)(
  `second turns after recorded answers (TURNS_SEED=${seed})`,
  () => {
    const answers =
      recordingsFolder === undefined ? [] : oneOfEach(answersIn(recordingsFolder, drawn));

    it.each(formats)(
      'of clients of %s hold what was said, within the rules of whom they are asked of',
      (format) => {
        const turns = turnsAfter(answers.filter((one) => one.format === format));
        process.stdout.write(`${format}: ${turnsShare(turns)}\n`);
        expect(turns.length).toBeGreaterThan(500);
        const fine = turns.filter(({ wrong }) => wrong.length === 0).length;
        expect((fine * 100) / turns.length).toBeGreaterThanOrEqual(floors[format]);
      },
    );

    it('are judged by what is missing in them', () => {
      const told = answers.find(
        ({ format, answer }) =>
          format === 'messages' && JSON.stringify(answer).includes('"type":"tool_use"'),
      );
      const [target] = chatTargets.filter(({ vendor }) => vendor === 'anthropic');
      if (told === undefined || target === undefined) throw new Error('no answer with a call');
      const sent = secondAsked(told, target);
      if (sent instanceof Refusal) throw sent;
      expect(missing(told, sent)).toEqual([]);
      const without = (change: (text: string) => string): string[] =>
        missing(told, { ...sent, body: JSON.parse(change(JSON.stringify(sent.body))) });
      expect(without((text) => text.replaceAll('the result of', 'nothing of'))).not.toEqual([]);
      expect(without((text) => text.replaceAll('first question', 'question'))).not.toEqual([]);
      const name =
        /"type":"tool_use"[^}]*?"name":"([^"]+)"/.exec(JSON.stringify(told.answer))?.[1] ?? '';
      expect(without((text) => text.replaceAll(name, 'another'))).not.toEqual([]);
    });
  },
);
