import { recordingsFolder } from '../recorded-traffic.ts';
import { formats } from './asking.ts';
import { matrixOf, share } from './matrix.ts';
import { countedAs, print, printWays } from './print.ts';
import { matrixTargets } from './targets.ts';

// `npm run judge:matrix`: the table of "change only the model", and every way in which a request
// goes wrong, most frequent first.

if (recordingsFolder === undefined) throw new Error('the recordings are not there');

for (const format of formats) {
  const cells = matrixOf(recordingsFolder, format);
  print(`\n${format}: ${share(cells)}`);
  for (const target of matrixTargets)
    print(
      `  ${`${target.vendor} ${target.model}`.padEnd(60)} ${share(cells.filter((cell) => cell.target === target))}`,
    );
  printWays(cells, ({ verdict, target, why }) =>
    why.map((one) => `${verdict} ${target.vendor} ${countedAs(one)}`),
  );
}
