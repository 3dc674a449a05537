// `npm run bench:against -- FOLDER [--starts 6] [--pairs 10] [--vendor
// openai]`: the processor time of a small chat request and of a streamed chunk in this build, as
// multiples of the build in FOLDER (a checkout with its `dist/`). Both gateways run at once and
// take turns of a few milliseconds, so that other work on the machine falls on both. One turn of
// each is a pair. New processes are started several times, because two starts of one build differ
// by a few percent.
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Slices, takeSlices } from './cost/cost.ts';
import { type Hired, hireGateway } from './cost/payers.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    starts: { type: 'string', default: '6' },
    pairs: { type: 'string', default: '10' },
    vendor: { type: 'string', default: 'openai' },
  },
});
const [folder] = positionals;
if (folder === undefined) {
  console.error('Name the folder of the build to compare with: npm run bench:against -- FOLDER');
  process.exit(1);
}
// and with it all processes that it started
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const starts = Number(options.starts);
const pairsOfStart = Number(options.pairs);
// Enough for V8 to compile both builds' hot code before anything is measured.
const warmRounds = 60;
const kinds = ['request', 'chunk'] as const;
const ratios: Record<keyof Slices, number[]> = { request: [], chunk: [] };

for (let start = 0; start < starts; start++) {
  // The order alternates, since the gateway that takes its turn second finds the caches as the
  // first left them.
  const [own, other] = await measure(start % 2 === 0);
  for (const kind of kinds) {
    const found = own[kind].map((cost, n) => cost / (other[kind][n] ?? Number.NaN));
    ratios[kind].push(...found);
    console.log(
      `start ${start + 1}: ${kind} ${median(found).toFixed(3)} × (${found.length} pairs)`,
    );
  }
}
for (const kind of kinds) {
  const { low, high } = interval(ratios[kind]);
  console.log(
    `${kind}: median ${median(ratios[kind]).toFixed(3)} × of ${ratios[kind].length} pairs, 95 % interval ${low.toFixed(3)} to ${high.toFixed(3)}`,
  );
}

async function measure(ownFirst: boolean): Promise<[Slices, Slices]> {
  const hired: Hired[] = [];
  try {
    const { vendor } = options;
    const own = await hireGateway({ vendor });
    hired.push(own);
    const other = await hireGateway({
      vendor,
      entry: resolve(join(folder ?? '', 'bin/tollgate.js')),
    });
    hired.push(other);
    const payers = [own.payer, other.payer];
    const taken = await takeSlices(ownFirst ? payers : payers.reverse(), pairsOfStart, warmRounds);
    const [first, second] = taken;
    if (first === undefined || second === undefined) throw new Error('nothing was measured');
    return ownFirst ? [first, second] : [second, first];
  } finally {
    await Promise.all(hired.map((one) => one.stop()));
  }
}

function median(figures: readonly number[]): number {
  const sorted = figures.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return (
    ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2
  );
}

/**
 * The 95 % interval of the median by order statistics, which assumes no distribution of the
 * figures.
 */
function interval(figures: readonly number[]): { readonly low: number; readonly high: number } {
  const sorted = figures.toSorted((a, b) => a - b);
  const half = 0.98 * Math.sqrt(sorted.length);
  const low = Math.max(0, Math.floor(sorted.length / 2 - half) - 1);
  const high = Math.min(sorted.length - 1, Math.ceil(sorted.length / 2 + half));
  return { low: sorted[low] ?? Number.NaN, high: sorted[high] ?? Number.NaN };
}
