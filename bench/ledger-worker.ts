// One process of `bench/ledger.ts`: that many concurrent requests, each reserved, settled, and
// begun again.
import { setMaxListeners } from 'node:events';
import { systemClock } from '../src/base/clock.ts';
import { requestId } from '../src/base/random.ts';
import type { ReserveRequest } from '../src/ledger/contract.ts';
import { ledgerProcedures } from '../src/ledger/procedures.ts';
import { openTill } from '../src/ledger/till.ts';
import { open } from '../src/storage/open.ts';
import { recordColumns } from '../src/usage/record.ts';
import { threadFrom } from '../test/thread.ts';

export interface Work {
  readonly url: string;
  readonly seconds: number;
  readonly atOnce: number;
  readonly accounts: number;
}

export interface Done {
  readonly settled: number;
  readonly batches: number;
  readonly drawn: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const cost = 12_345n;
const never = new AbortController().signal;
setMaxListeners(0, never);

const lines = '[["input",100,2000000000,200],["output",50,3000000000,12145]]';
const record = [
  'key',
  1,
  2,
  'chat',
  'model',
  'default',
  'channel',
  'upstream',
  'ok',
  0,
  0,
  10,
  20,
  1,
  100,
  50,
  lines,
];

async function work({ url, seconds, atOnce, accounts }: Work): Promise<Done> {
  const thread = threadFrom(new URL('../src/ledger/sqlite-thread.ts', import.meta.url));
  const db = await open(url, { procedures: ledgerProcedures, thread });
  const till = await openTill({
    db,
    clock: systemClock,
    records: { table: 'usage', columns: recordColumns },
  });
  const latencies: number[] = [];
  const until = performance.now() + seconds * 1000;
  let drawn = 0;
  const client = async (n: number): Promise<void> => {
    const ask: ReserveRequest = {
      account: `user-${n % accounts}`,
      limits: [],
      want: 2n * cost,
      minimum: cost,
      shape: 'stream',
    };
    while (performance.now() < until) {
      let got = till.tryReserve(ask);
      if (got === undefined) {
        drawn++;
        const waited = await till.reserve(ask, never);
        // While many processes start, a reservation may take longer than a client waits.
        if (typeof waited === 'string') continue;
        got = waited;
      }
      const startedMs = performance.now();
      const { outcome } = await got.settle({
        id: requestId(Date.now()),
        cost,
        code: 'chat',
        at: 1,
        record,
      });
      if (outcome !== 'paid') throw new Error(outcome);
      latencies.push(performance.now() - startedMs);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, (_, n) => client(n)));
  const { settled, batches } = till.stats;
  await till.close();
  await db.close();
  latencies.sort((a, b) => a - b);
  const at = (part: number): number => latencies[Math.floor(latencies.length * part)] ?? 0;
  return { settled, batches, drawn, p50Ms: at(0.5), p99Ms: at(0.99) };
}

async function answer(message: Work): Promise<void> {
  try {
    process.send?.(await work(message));
    process.disconnect();
  } catch (error) {
    process.stderr.write(`${String(error)}\n`);
    process.exit(1);
  }
}

process.once('message', (message: Work) => void answer(message));
