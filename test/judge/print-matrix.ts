import { recordingsFolder } from '../recorded-traffic.ts';
import { formats } from './asking.ts';
import { type Cell, matrixOf, share } from './matrix.ts';
import { matrixTargets } from './targets.ts';

// `npm run judge:matrix`: the table of "change only the model", and every way in which a request
// goes wrong, most frequent first.

if (recordingsFolder === undefined) throw new Error('the recordings are not there');
const print = (line: string): void => void process.stdout.write(`${line}\n`);

for (const format of formats) {
  const cells = matrixOf(recordingsFolder, format);
  print(`\n${format}: ${share(cells)}`);
  for (const target of matrixTargets)
    print(
      `  ${`${target.vendor} ${target.model}`.padEnd(60)} ${share(cells.filter((cell) => cell.target === target))}`,
    );
  const ways = new Map<string, Cell[]>();
  for (const cell of cells)
    for (const why of cell.why) {
      const way = `${cell.verdict} ${cell.target.vendor} ${why.replaceAll(/\[\d+\]/g, '[]').slice(0, 160)}`;
      ways.set(way, [...(ways.get(way) ?? []), cell]);
    }
  for (const [way, those] of [...ways].toSorted((a, b) => b[1].length - a[1].length))
    print(`  ${String(those.length).padStart(4)} ${way} (${those[0]?.id})`);
}
