import { recordingsFolder } from '../recorded-traffic.ts';
import { formats } from './asking.ts';
import { countedAs, print, printWays } from './print.ts';
import { answersIn, oneOfEach, turnsAfter, turnsShare } from './turns.ts';

// `npm run judge:turns`: the second turn after every shape of recorded answer, at every vendor, and
// what goes wrong, most frequent first.

if (recordingsFolder === undefined) throw new Error('the recordings are not there');

const turns = turnsAfter(oneOfEach(answersIn(recordingsFolder)));
for (const format of formats) {
  const own = turns.filter((turn) => turn.format === format);
  print(`\n${format}: ${turnsShare(own)}`);
  printWays(own, ({ target, wrong }) => wrong.map((one) => `${target.vendor} ${countedAs(one)}`));
}
