import { describe, expect, test } from 'vitest';
import { messageOf } from '../src/base/thrown.ts';
import { ledgerProcedures } from '../src/ledger/procedures.ts';
import { migrate } from '../src/storage/migrate.ts';
import { open } from '../src/storage/open.ts';
import { onPostgres } from './databases.ts';
import { migrations } from './ledger/records.ts';
import { type Sabotage, sabotages } from './ledger/sabotage.ts';
import { type SimulationReport, simulate } from './ledger/simulation.ts';

/** With these the simulation runs as long and as often as one likes: `npm run simulation`. */
const asked = Number(process.env['LEDGER_OPERATIONS'] ?? 0);
const firstSeed = Number(process.env['LEDGER_SEED'] ?? Math.floor(Math.random() * 1_000_000));
const timeout = 3_600_000;
/** A sabotage is caught sooner or later; in so many worlds it must be. */
const worldsMax = 60;

type Run = (
  seed: number,
  operations: number,
  sabotage?: Omit<Sabotage, 'rule'>,
) => Promise<SimulationReport>;

const inMemory: Run = async (
  seed,
  operations,
  { procedures, ...sabotage } = { procedures: ledgerProcedures },
) => {
  const database = await open('sqlite::memory:', { procedures });
  try {
    await migrate(database, migrations);
    return await simulate({ seed, database, operations, ...sabotage });
  } finally {
    await database.close();
  }
};

describe(`simulated processes, from seed ${firstSeed}`, { timeout }, () => {
  describe('on sqlite', () => suite(inMemory, 2_500, asked, 8_000));

  onPostgres((_name, _openFresh, fresh) => {
    const onServer: Run = async (
      seed,
      operations,
      { procedures, ...sabotage } = { procedures: ledgerProcedures },
    ) => {
      const database = await (await fresh()).open({ procedures });
      await migrate(database, migrations);
      return simulate({ seed, database, operations, ...sabotage });
    };
    suite(onServer, 1_000, asked / 10, 8_000);
  });
});

function suite(run: Run, perWorld: number, operations: number, boundMs: number): void {
  test('keep every promise through crashes, pauses, outages and lost calls', async () => {
    const reports: SimulationReport[] = [];
    const startedMs = performance.now();
    for (
      let seed = firstSeed, left = operations;
      left > 0 || (operations === 0 && performance.now() - startedMs < boundMs);
      seed++
    ) {
      reports.push(await withSeed(seed, run(seed, perWorld)));
      left -= perWorld;
    }
    tell(reports, performance.now() - startedMs);
    expect(total(reports, 'paid')).toBeGreaterThan(total(reports, 'requests') / 5);
  });

  test.each(sabotages)('break when a rule is taken away: $rule', async ({ rule, ...sabotage }) => {
    for (let seed = firstSeed; seed < firstSeed + worldsMax; seed++) {
      const failure = await run(seed, perWorld, sabotage).then(
        () => undefined,
        (error: unknown) => messageOf(error),
      );
      if (failure === undefined) continue;
      say(`${rule}: caught in world ${seed - firstSeed + 1}, ${failure.split('\n')[0]}`);
      return;
    }
    throw new Error(`nothing noticed in ${worldsMax} worlds`);
  });
}

async function withSeed<T>(seed: number, run: Promise<T>): Promise<T> {
  try {
    return await run;
  } catch (error) {
    throw new Error(`seed ${seed}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function total(reports: readonly SimulationReport[], column: keyof SimulationReport): number {
  return reports.reduce((sum, report) => sum + report[column], 0);
}

function tell(reports: readonly SimulationReport[], tookMs: number): void {
  const columns = Object.keys(reports[0] ?? {}).filter(
    (name): name is keyof SimulationReport => name !== 'seed',
  );
  say(
    `${reports.length} worlds in ${(tookMs / 1000).toFixed(1)} s: ${columns.map((column) => `${column} ${total(reports, column)}`).join(', ')}`,
  );
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
