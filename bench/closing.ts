import type { Contender } from './contender.ts';
import { saturate } from './load.ts';
import {
  type Bench,
  connections,
  type Figures,
  firstAnswer,
  keep,
  measureOpenStreams,
  type OpenStreams,
  openStreams,
  targetOf,
} from './measure.ts';
import { parity } from './parity.ts';
import { cpuMicroseconds, type Started } from './process.ts';
import type { Tollgate } from './tollgate.ts';

/** What only Tollgate is asked. */
export interface End {
  readonly open: (OpenStreams & { readonly aloneMs: number }) | undefined;
  /** Requests a second of processor time. */
  readonly workers: { readonly one: number; readonly two: number };
  readonly books: { readonly text: string; readonly ok: boolean };
}

/** Many open streams; two processes instead of one; and whether the books agree with what was answered, after all of it. */
export async function closing(bench: Bench, gateway: Tollgate, figures: Figures, bare: Pick<Contender, 'target'>): Promise<End> {
  const open = await openStreamsOf(bench, gateway, bare);
  console.log('Two workers');
  const one = await running(gateway, {}, (started) => perCpuSecond(bench, gateway, started, figures));
  const two = await running(gateway, { TOLLGATE_WORKERS: '2' }, (started) => perCpuSecond(bench, gateway, started, figures));
  console.log('Parity');
  return { open, workers: { one, two }, books: await parity(gateway, figures) };
}

async function openStreamsOf(bench: Bench, gateway: Tollgate, bare: Pick<Contender, 'target'>): Promise<End['open']> {
  const [target, without] = [gateway.target('open'), bare.target('open')];
  if (target === undefined || without === undefined) return undefined;
  console.log(`${openStreams} open streams`);
  const ours = await running(gateway, {}, (started) => measureOpenStreams(bench, target, started));
  const alone = await measureOpenStreams(bench, without, undefined);
  return { ...ours, aloneMs: alone.lateMs };
}

async function running<T>(gateway: Tollgate, env: NodeJS.ProcessEnv, use: (started: Started) => Promise<T>): Promise<T> {
  const started = await gateway.start(env);
  try {
    await firstAnswer(targetOf(gateway, 'whole'), started);
    return await use(started);
  } finally {
    await started.stop();
  }
}

async function perCpuSecond(bench: Bench, gateway: Tollgate, started: Started, figures: Figures): Promise<number> {
  const target = targetOf(gateway, 'whole');
  keep(figures, await saturate(bench.folder, target, { connections, seconds: 2 })); // warm
  const before = cpuMicroseconds(started.pid);
  const answered = await saturate(bench.folder, target, { connections, seconds: bench.seconds });
  keep(figures, answered);
  return (answered.requests * 1e6) / (cpuMicroseconds(started.pid) - before);
}
