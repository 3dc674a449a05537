import type { Reservation, ReserveRequest } from '../../src/ledger/contract.ts';
import { credit, refund } from '../../src/ledger/ledger.ts';
import { changeLimitTx, freezeTx } from '../../src/ledger/transactions/account.ts';
import { endHold, openHold } from '../../src/ledger/transactions/hold.ts';
import { records } from './records.ts';
import type { Simulation } from './simulation.ts';
import type { SimulatedProcess } from './simulated-process.ts';

export interface Operations {
  count: number;
  requests: number;
  running: number;
}

/** One thing that somebody does. */
export async function operate(world: Simulation, done: Operations): Promise<void> {
  done.count++;
  const dice = world.random();
  const account = world.pick(world.accounts);
  const at = Math.round(world.time.now);
  if (dice < 0.03) {
    const input = {
      id: `topup-${done.count}`,
      account,
      amount: world.nano(60_000_000n),
      from: 'wallet:test',
      code: 'topup',
      at,
    };
    await credit(world.database, input);
    if (world.random() < 0.3) await credit(world.database, input);
  } else if (dice < 0.05) {
    await task(world, `task-${done.count}`, account);
  } else if (dice < 0.06) {
    const charge = world.audit.somePaid(world.random);
    if (charge !== undefined && charge.amount > 0n) {
      const id = `back-${done.count}`;
      await refund(world.database, {
        id,
        original: charge.id,
        amount: (charge.amount + 1n) / 2n,
        at,
      });
    }
  } else if (dice < 0.065) {
    const freeze = async (frozen: boolean): Promise<void> => {
      await world.database.transact(() => freezeTx({ account, frozen }));
    };
    await freeze(true);
    world.time.after(world.random() * 5_000, () => freeze(false));
  } else if (dice < 0.07) {
    await world.database.transact(() =>
      changeLimitTx({ id: `key:${account}:total`, amount: world.nano(100_000_000n) }),
    );
  } else {
    done.requests++;
    const id = `request-${done.count}`;
    const process = world.processes.length > 0 ? world.pick(world.processes) : undefined;
    process?.deliver(() => {
      done.running++;
      request(world, process, id, account).then(
        () => done.running--,
        (error: unknown) => world.audit.violate('a request stumbled', error),
      );
    });
  }
}

/** A hold that is posted or voided later, and once more to no effect. */
async function task(world: Simulation, id: string, account: string): Promise<void> {
  const amount = world.nano(20_000_000n);
  const at = Math.round(world.time.now);
  if ((await world.database.transact(() => openHold({ id, account, amount, at }))) !== 'open')
    return;
  const cost = (amount * BigInt(Math.round(world.random() * 120))) / 100n;
  const posted = world.random() < 0.6;
  const loss = amount % 4n === 0n ? amount : undefined;
  if (posted) world.audit.finished({ id, account, cost, process: undefined });
  const end = () =>
    endHold(
      id,
      posted
        ? {
            state: 'posted',
            cost,
            loss,
            code: 'video',
            at,
            record: { ...records, values: ['task', at, null, loss ?? null] },
          }
        : { state: 'voided' },
    );
  world.time.after(world.random() * 40_000, async () => void (await world.database.transact(end)));
  world.time.after(world.random() * 80_000, async () => void (await world.database.transact(end)));
}

async function request(
  world: Simulation,
  process: SimulatedProcess,
  id: string,
  account: string,
): Promise<void> {
  const limited = world.random() < 0.3;
  const limit = limited ? `key:${account}:total` : undefined;
  const want = world.nano(4_000_000n) + 1n;
  const shape = world.pick(['stream', 'stream', 'whole', 'fixed'] as const);
  const ask: ReserveRequest = {
    account,
    limits: limit === undefined ? [] : [{ id: limit, amount: 60_000_000n }],
    want,
    minimum: shape === 'fixed' ? want : (want + 9n) / 10n,
    shape,
  };
  const leaving = new AbortController();
  if (world.random() < 0.05) process.timers.after(world.random() * 400, () => leaving.abort());
  const got = process.till.tryReserve(ask) ?? (await process.till.reserve(ask, leaving.signal));
  if (typeof got === 'string') return world.audit.turnedAway(got);
  await work(world, process, got, shape);
  if (world.random() < 0.1) return got.release();
  await settle(world, process, got, id, account, limit, shape);
}

/** The vendor works; a stream asks for more while it runs. */
async function work(
  world: Simulation,
  process: SimulatedProcess,
  got: Reservation,
  shape: ReserveRequest['shape'],
): Promise<void> {
  const wait = (ms: number) =>
    new Promise<void>((resolve) => void process.timers.after(ms, resolve));
  const pieces = shape === 'stream' ? Math.floor(world.random() * 4) : 0;
  await wait(5 * 1_000 ** world.random());
  for (let piece = 0; piece < pieces; piece++) {
    const more = world.nano(2_000_000n);
    if (got.extend(more) < more && (await got.extendOrWait(more, 1n, 1_500)) === 0n) return;
    await wait(2_000 * world.random());
  }
}

async function settle(
  world: Simulation,
  process: SimulatedProcess,
  got: Reservation,
  id: string,
  account: string,
  limit: string | undefined,
  shape: ReserveRequest['shape'],
): Promise<void> {
  const part = world.random() < 0.1 ? 80 + world.random() * 60 : world.random() * 100;
  const cost = world.random() < 0.02 ? 0n : (got.amount * BigInt(Math.round(part))) / 100n;
  const isWhole = shape !== 'stream';
  world.audit.finished({ id, account, cost, process });
  const at = Math.round(world.time.now);
  const loss = world.random() < 0.1 ? world.nano(1_000_000n) + 1n : undefined;
  const record = [
    limit === undefined ? 'none' : account,
    at,
    world.random() < 0.5 ? null : `"quoted\\" {${id}}, 名`,
    loss ?? null,
  ];
  const charge = {
    id,
    cost,
    loss,
    code: 'chat',
    at,
    record,
    ...(isWhole && { withheld: true as const }),
  };
  const { outcome, amount, shortfall } = await got.settle(charge);
  if (outcome === 'refused') return world.audit.refused(id);
  if (outcome === 'unavailable') return isWhole ? world.audit.withheld(id, process) : undefined;
  world.audit.deliver({ id, amount, shortfall });
}
