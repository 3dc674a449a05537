import { setTimeout as wait } from 'node:timers/promises';
import { type RecordedCheck, recordedCheck, recordedChecks, startCheck } from '../ledger/checks.ts';
import type { LedgerCheckEvents, LedgerCheckView, List } from './contract.ts';
import type { OperatorRooms } from './operator-rooms.ts';
import { fail } from './problem.ts';
import { type ConsoleRow, row } from './row.ts';
import { instant, yuan } from './written.ts';

const lookEveryMs = 250;
const checksShown = 50;

/** The proof of the ledger: it runs on its own, and whoever comes back finds it. */
export function ledgerRows({ database, clock, proofs }: OperatorRooms): readonly ConsoleRow[] {
  const role = 'operator';
  return [
    row({
      method: 'POST',
      path: 'operator/ledger/check',
      role,
      perMinute: 12,
      async handle({ reply }) {
        const id = await startCheck(database, clock, proofs);
        const stream = reply.events();
        const seen = new Map<string, string>();
        while (!stream.signal.aborted) {
          const check = await recordedCheck(database, id, clock.now());
          if (check === undefined) break;
          const view = viewOf(check);
          for (const rule of view.rules) {
            if (seen.get(rule.rule) === rule.state) continue;
            seen.set(rule.rule, rule.state);
            stream.send({ event: 'rule' satisfies keyof LedgerCheckEvents, data: rule });
          }
          if (!check.running)
            stream.send({ event: 'done' satisfies keyof LedgerCheckEvents, data: view });
          if (!check.running) break;
          await wait(lookEveryMs, undefined, { signal: stream.signal }).catch(() => undefined);
        }
        stream.end();
      },
    }),
    row({
      method: 'GET',
      path: 'operator/ledger/checks',
      role,
      async handle(): Promise<List<LedgerCheckView>> {
        return { items: (await recordedChecks(database, clock.now(), checksShown)).map(viewOf) };
      },
    }),
    row({
      method: 'GET',
      path: 'operator/ledger/checks/:id',
      role,
      async handle({ params }): Promise<LedgerCheckView> {
        const check = await recordedCheck(database, params['id'] ?? '', clock.now());
        return check === undefined ? fail('not_found') : viewOf(check);
      },
    }),
  ];
}

function viewOf({
  id,
  ok,
  running,
  startedAt,
  tookMs,
  accounts,
  transfers,
  holds,
  rules,
  sums,
}: RecordedCheck): LedgerCheckView {
  return {
    id,
    ok: ok ?? null,
    running,
    started_at: instant(startedAt),
    took_ms: tookMs ?? null,
    accounts,
    transfers,
    holds,
    rules: rules.map(({ rule, state, problems }) => ({
      rule,
      state,
      problems: problems.map((found) => ({
        id: found['id'] ?? '',
        text: Object.entries(found)
          .map(([name, value]) => `${name}=${value ?? ''}`)
          .join(' '),
      })),
    })),
    customers:
      sums === undefined
        ? null
        : {
            balance: yuan(sums.balance),
            top_ups: yuan(sums.topUps),
            credits: yuan(sums.credits),
            refunds: yuan(sums.paidOut),
            charges: yuan(sums.charges),
          },
  };
}
