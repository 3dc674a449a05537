import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { baseBuild, baseCommit } from '../bench/cost/base-build.ts';
import { type Cost, costOf, type Slices, takeSlices } from '../bench/cost/cost.ts';
import { worse, worseMax } from '../bench/cost/gate.ts';
import { hireGateway, type Hired, slower } from '../bench/cost/payers.ts';

const rounds = 10;
/** The second look is taken only when the first found something. */
const longerRounds = 40;
const warmRounds = 6;
/** The gateway with this much more work has to be seen. */
const moreWork = 0.2;

interface Look {
  /** This build against the base's. Undefined where there is no build of the base. */
  readonly change: Cost | undefined;
  /** This build with more work against itself: what the gate has to see. */
  readonly slowed: Cost;
}

/** The costs of this build, in new processes that take turns. */
async function look(folder: string | undefined, atMost: number): Promise<Look> {
  const env = { NODE_OPTIONS: `--import=${slower}`, MORE_WORK: String(moreWork) };
  const hired: Hired[] = await Promise.all([
    hireGateway(),
    hireGateway({ env }),
    ...(folder === undefined ? [] : [hireGateway({ entry: join(folder, 'bin/tollgate.js') })]),
  ]);
  onTestFinished(() => Promise.all(hired.map((one) => one.stop())).then(() => undefined));
  const payers = hired.map(({ payer }) => payer);
  const [own, more, base]: Slices[] = await takeSlices(payers, atMost, warmRounds);
  if (own === undefined || more === undefined) throw new Error('nothing was measured');
  const result = { change: base && costOf(own, base), slowed: costOf(more, own) };
  console.info(JSON.stringify(result));
  return result;
}

const isFound = ({ slowed }: Look): boolean => worse(slowed).length === 2;
const tooMuch = ({ change }: Look): string[] => (change === undefined ? [] : worse(change));

/** `processorNs` reads what Linux alone tells. */
const onLinux = existsSync('/proc/self/schedstat');

test.runIf(onLinux)(
  'a request and a chunk cost no more than in the base commit, and a fifth more would be seen',
  { timeout: 400_000 },
  async () => {
    const folder = baseBuild();
    let found = await look(folder, rounds);
    if (!isFound(found) || tooMuch(found).length > 0) found = await look(folder, longerRounds);
    const seen = `a fifth more work is more than ${worseMax * 100} % more`;
    expect(isFound(found), `${seen}: ${JSON.stringify(found)}`).toBe(true);
    expect(
      tooMuch(found),
      `more than ${baseCommit()}: make it cheaper, or accept it with \`npm run bench:accept\``,
    ).toEqual([]);
  },
);
