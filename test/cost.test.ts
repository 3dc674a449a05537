import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { type Cost, costOf, takeSlices } from '../bench/cost/cost.ts';
import { worse, worseMax } from '../bench/cost/gate.ts';
import { hireGateway, hireReference, type Hired, slower } from '../bench/cost/payers.ts';

const acceptedFile = fileURLToPath(new URL('../bench/cost/accepted.json', import.meta.url));
/** V8 differs from one Node to the next, and so do figures. */
const node = process.versions.node.split('.', 1)[0] ?? '';
/** `npm run bench:accept` measures for longer, and writes down what it measured. */
const accepting = process.env['ACCEPT'] === 'true';
const accepted: Readonly<Record<string, Partial<Cost>>> = JSON.parse(
  readFileSync(acceptedFile, 'utf8'),
);

/** The gateway; `moreWork`: and so much more to do. */
const gateway = (moreWork: number): Promise<Hired> =>
  hireGateway(
    moreWork > 0
      ? { env: { NODE_OPTIONS: `--import=${slower}`, MORE_WORK: String(moreWork) } }
      : {},
  );

/** What requests and chunks cost each of these gateways, in new processes. */
async function look(rounds: number, moreWork: readonly number[]): Promise<Cost[]> {
  const hired = await Promise.all([hireReference(), ...moreWork.map(gateway)]);
  onTestFinished(() => Promise.all(hired.map((one) => one.stop())).then(() => undefined));
  const [ofBare, ...ofGateways] = await takeSlices(
    hired.map(({ payer }) => payer),
    rounds,
    6,
  );
  if (ofBare === undefined) throw new Error('nothing was measured');
  const costs = ofGateways.map((slices) => costOf(slices, ofBare));
  console.info(
    costs
      .map(({ request, chunk }) => `request ${request.toFixed(3)}, chunk ${chunk.toFixed(3)}`)
      .join(' | '),
  );
  return costs;
}

const rounds = 10;
/** The second look is taken only when the first found something. */
const longerRounds = 40;

/** `processorNs` reads what Linux alone tells. */
const onLinux = existsSync('/proc/self/schedstat');

test.runIf(onLinux)(
  'a request and a chunk cost no more than was accepted, and a fifth more would be seen',
  { timeout: 180_000, retry: 0 },
  async () => {
    const limit = accepting ? undefined : accepted[node];
    const isFound = ([plain, slowed]: readonly Cost[]): boolean =>
      plain !== undefined && slowed !== undefined && worse(slowed, plain).length === 2;
    let costs = await look(accepting ? longerRounds : rounds, [0, 0.2]);
    if (
      !isFound(costs) ||
      (limit !== undefined && costs[0] !== undefined && worse(costs[0], limit).length > 0)
    )
      costs = await look(longerRounds, [0, 0.2]);
    const [plain] = costs;
    if (plain === undefined) throw new Error('nothing was measured');
    expect(
      isFound(costs),
      `a fifth more work is more than ${worseMax * 100} % more: ${JSON.stringify(costs)}`,
    ).toBe(true);
    if (accepting)
      writeFileSync(
        acceptedFile,
        `${JSON.stringify({ ...accepted, [node]: rounded(plain) }, undefined, 2)}\n`,
      );
    // A Node that nobody has accepted a figure for is measured, and nothing is known of it.
    if (limit !== undefined)
      expect(
        worse(plain, limit),
        'accept it with `npm run bench:accept` when it is worth it',
      ).toEqual([]);
  },
);

const rounded = ({ request, chunk }: Cost): Cost => ({
  request: Math.round(request * 100) / 100,
  chunk: Math.round(chunk * 100) / 100,
});
