import { choir } from '../cost/client.ts';
import { low, requestText, takeSlices, whole } from '../cost/cost.ts';
import { type Hired, hireGateway, type Wish } from '../cost/payers.ts';
import { middle } from '../soak/trend.ts';

/** One size of what may grow, and the gateway that has so much of it. */
export interface Size {
  readonly label: string;
  readonly wish: Wish;
}

const warmRounds = 10;
const warmVoices = 64;

/** What a request and a chunk cost at each size: gateways of all sizes run at the same time and are asked in turn, so that the machine is the same for all. */
export async function compareSizes(what: string, sizes: readonly Size[], rounds: number): Promise<string> {
  const hired: Hired[] = [];
  try {
    for (const { label, wish } of sizes) {
      console.log(`${what}: ${label}`);
      const one = await hireGateway(wish);
      hired.push(one);
      await useEach(one);
    }
    const taken = await takeSlices(
      hired.map(({ payer }) => payer),
      rounds,
      warmRounds,
    );
    const figures = taken.map(({ request, chunk, waits }) => ({
      request: low(request) / 1_000,
      chunk: low(chunk) / 1_000,
      wait: middle(waits),
    }));
    const [first] = figures;
    if (first === undefined) throw new Error('nothing was measured');
    const rows = figures.map(
      ({ request, chunk, wait }, n) =>
        `| ${sizes[n]?.label} | ${request.toFixed(0)} | ${(request / first.request).toFixed(2)} × | ${chunk.toFixed(1)} | ${(chunk / first.chunk).toFixed(2)} × | ${wait.toFixed(1)} |`,
    );
    const head = `| ${what} | CPU µs per request | ÷ first | CPU µs per chunk | ÷ first | p50 ms, 16 at once |\n| ---: | ---: | ---: | ---: | ---: | ---: |`;
    return `${head}\n${rows.join('\n')}`;
  } finally {
    await Promise.all(hired.map((one) => one.stop()));
  }
}

/** Each key once: what a first request costs is another question. */
async function useEach({ payer }: Hired): Promise<void> {
  const singers = await choir(payer.port, warmVoices);
  let asked = 0;
  const next = (): string => requestText(payer.keys[asked++ % payer.keys.length] ?? '', whole);
  while (asked < payer.keys.length) await singers.ask(next);
  singers.close();
}
