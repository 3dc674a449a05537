import { recordingsFolder } from '../recorded-traffic.ts';
import { formats } from './asking.ts';
import { answersIn, oneOfEach, type Turn, turnsAfter, turnsShare } from './turns.ts';

// `npm run judge:turns`: the second turn after every shape of recorded answer, at every vendor, and
// what goes wrong, most frequent first.

if (recordingsFolder === undefined) throw new Error('the recordings are not there');
const print = (line: string): void => void process.stdout.write(`${line}\n`);

const turns = turnsAfter(oneOfEach(answersIn(recordingsFolder)));
for (const format of formats) {
  const own = turns.filter((turn) => turn.format === format);
  print(`\n${format}: ${turnsShare(own)}`);
  const ways = new Map<string, Turn[]>();
  for (const turn of own)
    for (const why of turn.wrong) {
      const way = `${turn.target.vendor} ${why.replaceAll(/\[\d+\]/g, '[]').slice(0, 160)}`;
      ways.set(way, [...(ways.get(way) ?? []), turn]);
    }
  for (const [way, those] of [...ways].toSorted((a, b) => b[1].length - a[1].length))
    print(`  ${String(those.length).padStart(4)} ${way} (${those[0]?.id})`);
}
