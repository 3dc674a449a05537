import type { Contender } from './contender.ts';
import { targetOf } from './contender.ts';
import type { Figures } from './figures.ts';
import type { Bench } from './latency.ts';
import { firstAnswer, measureOpenStreams, type OpenStreams, openStreams } from './measure.ts';
import { parity } from './parity.ts';
import type { Tollgate } from './tollgate.ts';

/** Measurements of Tollgate, without the other gateways. */
export interface End {
  readonly open: (OpenStreams & { readonly aloneMs: number }) | undefined;
  /** The same in front of the floor. */
  readonly openAtFloor: OpenStreams | undefined;
  readonly books: { readonly text: string; readonly ok: boolean };
}

/** Many open streams, then a check that usage records and charges match the responses. */
export async function closing(
  bench: Bench,
  gateway: Tollgate,
  figures: Figures,
  bare: Pick<Contender, 'target'>,
  floor: Contender | undefined,
): Promise<End> {
  console.log(`${openStreams} open streams`);
  const ours = await openStreamsOf(bench, gateway);
  const alone = await measureOpenStreams(bench, bare);
  const openAtFloor = floor && (await openStreamsOf(bench, floor));
  console.log('Parity');
  return {
    open: ours && alone && { ...ours, aloneMs: alone.lateMs },
    openAtFloor,
    books: await parity(gateway, figures),
  };
}

async function openStreamsOf(bench: Bench, gateway: Contender): Promise<OpenStreams | undefined> {
  const started = await gateway.start();
  try {
    await firstAnswer(targetOf(gateway, 'whole'), started);
    return await measureOpenStreams(bench, gateway, started);
  } finally {
    await started.stop();
  }
}
