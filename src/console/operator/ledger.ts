import { setTimeout as wait } from 'node:timers/promises';
import { type CheckRun, checkRun, checkRuns, startCheck } from '../../ledger/check-runs.ts';
import type { LedgerCheckEvents, LedgerCheckView, List } from '../contract.ts';
import type { OperatorContext } from './context.ts';
import { throwProblem } from '../problem.ts';
import { type ConsoleRoute, defineRoute } from '../route.ts';
import { instant, yuan } from '../format.ts';

const lookEveryMs = 250;
const checksShown = 50;

/** The proof of the ledger: it runs in the background, and an operator who returns finds it. */
export function ledgerRoutes({
  database,
  clock,
  proofs,
  onError,
}: OperatorContext): readonly ConsoleRoute[] {
  const role = 'operator';
  return [
    defineRoute({
      method: 'POST',
      path: 'operator/ledger/check',
      role,
      perMinute: 12,
      async handle({ reply }) {
        const id = await startCheck(database, clock, proofs, onError);
        const stream = reply.events();
        const seen = new Map<string, string>();
        while (!stream.signal.aborted) {
          const check = await checkRun(database, id, clock.now());
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
    defineRoute({
      method: 'GET',
      path: 'operator/ledger/checks',
      role,
      async handle(): Promise<List<LedgerCheckView>> {
        return { items: (await checkRuns(database, clock.now(), checksShown)).map(viewOf) };
      },
    }),
    defineRoute({
      method: 'GET',
      path: 'operator/ledger/checks/:id',
      role,
      async handle({ params }): Promise<LedgerCheckView> {
        const check = await checkRun(database, params['id'] ?? '', clock.now());
        return check === undefined ? throwProblem('not_found') : viewOf(check);
      },
    }),
  ];
}

function viewOf({
  id,
  ok,
  running,
  nightly,
  startedAt,
  tookMs,
  accounts,
  transfers,
  holds,
  rules,
  sums,
}: CheckRun): LedgerCheckView {
  return {
    id,
    ok: ok ?? null,
    running,
    nightly,
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
