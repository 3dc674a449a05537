import { Agent } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { proofs } from '../../src/app/schema.ts';
import { check } from '../../src/ledger/check.ts';
import type { Database } from '../../src/storage/database.ts';
import { askPlainly, type Seen } from './plain-client.ts';

/** The results of some clients' requests. */
export interface FaultLoad {
  /** Ids of the responses that arrived completely. */
  readonly delivered: ReadonlySet<string>;
  /** The same by node. */
  readonly deliveredBy: readonly number[];
  /** Responses by status, without the delivered ones. */
  readonly refused: ReadonlyMap<number, number>;
  /** 503s without `retry-after`. */
  readonly unexplained: readonly Seen[];
  /** Connections that broke, by node. */
  readonly broken: readonly number[];
  /** The longest wait for a delivered response. */
  readonly longestMs: () => number;
  /** Lets the last requests end. */
  stop(): Promise<void>;
}

/** Clients that send requests without pause, every other one for a stream; each uses one node. */
export function startLoad(
  nodes: readonly { readonly url: string }[],
  key: string,
  clients: number,
): FaultLoad {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  onTestFinished(() => agent.destroy());
  const [delivered, refused, unexplained] = [
    new Set<string>(),
    new Map<number, number>(),
    [] as Seen[],
  ];
  const [deliveredBy, broken] = [nodes.map(() => 0), nodes.map(() => 0)];
  let longestMs = 0;
  let going = true;
  const client = async (_: unknown, number: number): Promise<void> => {
    const node = number % nodes.length;
    for (let i = number; going; i++) {
      const begun = performance.now();
      const seen = await askPlainly(nodes[node]?.url ?? '', key, agent, i % 2 === 0, 50);
      if (seen === undefined) broken[node] = (broken[node] ?? 0) + 1;
      else if (seen.whole) {
        delivered.add(seen.id);
        deliveredBy[node] = (deliveredBy[node] ?? 0) + 1;
        longestMs = Math.max(longestMs, performance.now() - begun);
      } else if (seen.status === 200) broken[node] = (broken[node] ?? 0) + 1;
      else {
        refused.set(seen.status, (refused.get(seen.status) ?? 0) + 1);
        if (seen.retryAfter === undefined) unexplained.push(seen);
      }
      await wait(seen?.whole === true ? 2 : 50);
    }
  };
  const all = Promise.all(Array.from({ length: clients }, client));
  return {
    delivered,
    deliveredBy,
    refused,
    unexplained,
    broken,
    longestMs: () => longestMs,
    async stop() {
      going = false;
      await all;
    },
  };
}

/**
 * Every delivered response was charged once, every charge has its record, no balance is negative,
 * and the ledger's check passes.
 */
export async function expectNothingLost(
  database: Database,
  { delivered }: FaultLoad,
): Promise<void> {
  expect(await check(database, proofs)).toMatchObject({ ok: true, problems: [] });
  const records = new Set(
    (await database.query('SELECT u.id FROM usage u JOIN transfer t ON t.id = u.id')).map(
      (row) => row['id'],
    ),
  );
  expect([...delivered].filter((id) => !records.has(id))).toEqual([]);
  const [row] = await database.query(
    `SELECT (SELECT COUNT(*) FROM usage) AS records, (SELECT COUNT(*) FROM transfer WHERE credit='revenue') AS charges,
      (SELECT COUNT(*) FROM account WHERE kind='user' AND debits+held>credits) AS negative`,
  );
  expect(row).toMatchObject({ charges: row?.['records'], negative: 0n });
}
