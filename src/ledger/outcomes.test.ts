import { expect, test } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import {
  askFor,
  chargeOf,
  CounterHall,
  granted,
  never,
  yuan,
} from '../../test/ledger/counter-hall.ts';
import { migrations } from '../../test/ledger/records.ts';
import type { Fate } from '../../test/ledger/simulated-network.ts';
import { check } from './check.ts';
import { balance } from './ledger.ts';
import type { Charge } from './contract.ts';
import { ledgerProcedures } from './procedures.ts';
import type { BatchInput } from './transactions/batch.ts';

forEachDatabase((name, openFresh) => {
  /** A hall with 1 yuan on A, one till with a float, and the batches that will have been sent. */
  async function hall(...fates: (Fate | undefined)[]) {
    const hall = await CounterHall.open(openFresh);
    await hall.account('A', 1);
    const till = await hall.till();
    const first = granted(await hall.until(till.reserve(askFor('A', 0.2), never)));
    const sent: BatchInput[] = [];
    hall.network.script = (procedure, input) => {
      if (!procedure.startsWith('till.batch')) return undefined;
      sent.push(input as BatchInput);
      return fates.shift();
    };
    return { hall, till, first, sent };
  }

  async function isWhole(hall: CounterHall): Promise<void> {
    await hall.close();
    expect(await check(hall.database)).toMatchObject({ ok: true, problems: [] });
    expect(await hall.held('A')).toBe(0n);
  }

  test.each<[string, Fate, number]>([
    ['lost on its way there', 'lost before', 1],
    ['committed, and its answer lost', 'lost after', 1],
    ['given up, and done a minute later', { late: 60_000 }, 1],
  ])(
    'a batch that was %s is sent again unchanged, and charged once',
    async (_what, fate, unknown) => {
      const { hall: room, till, first, sent } = await hall(fate);
      expect(await room.until(first.settle(chargeOf('r1', 0.05)))).toEqual({
        outcome: 'paid',
        amount: yuan(0.05),
        shortfall: 0n,
      });
      expect(till.stats.unknownBatches).toBe(unknown);
      expect(sent[1]).toBe(sent[0]);
      await room.pass(90_000);
      expect((await balance(room.database, 'A'))?.balance).toBe(yuan(0.95));
      await isWhole(room);
    },
  );

  test('what finishes while an outcome is unknown is in the next batch', async () => {
    const { hall: room, till, first, sent } = await hall('lost after');
    const second = granted(till.tryReserve(askFor('A', 0.1)));
    const settled = [first.settle(chargeOf('r1', 0.05))];
    await room.pass(1);
    settled.push(second.settle(chargeOf('r9', 0.05)));
    await room.until(Promise.all(settled));
    expect(
      sent.slice(0, 3).map(({ seq, charges }) => [seq, charges.count, charges.values[0]]),
    ).toEqual([
      [1n, 1, 'r1'],
      [1n, 1, 'r1'],
      [2n, 1, 'r9'],
    ]);
    await isWhole(room);
  });

  test.each<[string, Fate | undefined]>([
    ['is committed at once', undefined],
    ['was committed, and its answer lost', 'lost after'],
    ['was lost on its way there', 'lost before'],
  ])(
    'R2: what a vendor reported beyond the request is the loss of the house, once, when its batch %s',
    async (_what, fate) => {
      const { hall: room, first } = await hall(fate);
      const lost: Partial<Charge> = { loss: yuan(4.5), record: ['none', 1, null, yuan(4.5)] };
      expect(await room.until(first.settle(chargeOf('r1', 0.05, lost)))).toMatchObject({
        outcome: 'paid',
        amount: yuan(0.05),
      });
      await room.pass(90_000);
      expect((await balance(room.database, 'A'))?.balance).toBe(yuan(0.95));
      expect(
        await room.database.query(
          "SELECT id, credit, amount, code, ref FROM transfer WHERE debit='losses'",
        ),
      ).toEqual([
        { id: 'r1/excess', credit: 'vendors', amount: yuan(4.5), code: 'excess', ref: 'r1' },
      ]);
      await isWhole(room);
    },
  );

  test('R2: a loss whose process was fenced is recorded late, with its charge', async () => {
    const { hall: room, first } = await hall();
    const [victim] = room.processes;
    await room.till();
    victim?.stop();
    await room.pass(35_000);
    victim?.wake();
    const lost: Partial<Charge> = { loss: yuan(2), record: ['none', 1, null, yuan(2)] };
    expect(await room.until(first.settle(chargeOf('r1', 0.05, lost)))).toMatchObject({
      outcome: 'paid',
      amount: yuan(0.05),
    });
    expect(await room.number("SELECT SUM(amount) FROM transfer WHERE debit='losses'")).toBe(
      yuan(2),
    );
    await isWhole(room);
  });

  test('R2: the proof finds a loss without its record, a record without its loss, and one that is less than was reported', async () => {
    const { hall: room, till, first } = await hall();
    const others = [0.01, 0.01].map((amount) => granted(till.tryReserve(askFor('A', amount))));
    const lost = (reported: number | null, loss: number | undefined): Partial<Charge> => ({
      ...(loss !== undefined && { loss: yuan(loss) }),
      record: ['none', 1, null, reported === null ? null : yuan(reported)],
    });
    const cases = [lost(3, 2), lost(3, undefined), lost(null, 1)];
    const settled = [first, ...others].map((held, i) =>
      held.settle(chargeOf(`r${i}`, 0.01, cases[i])),
    );
    await room.until(Promise.all(settled));
    await room.close();
    const { problems } = await check(room.database);
    expect(problems.map(({ query, row }) => [query, row['id']]).sort()).toEqual([
      ['losses', 'r0'],
      ['losses', 'r1'],
      ['unreported', 'r2/excess'],
    ]);
  });

  test('what is queued at the moment of an answer does not wait for anything', async () => {
    const { hall: room, till, first } = await hall();
    first.release();
    const startedMs = room.time.now;
    const client = async (n: number): Promise<void> => {
      for (let i = 0; i < 20; i++)
        await granted(await till.reserve(askFor('A', 0.001), never)).settle(
          chargeOf(`r${n}-${i}`, 0.0005),
        );
    };
    await room.until(Promise.all([1, 2, 3, 4, 5].map(client)));
    expect(room.time.now - startedMs).toBeLessThan(20 * 10);
    await isWhole(room);
  });

  test('one charge in fifty that the database refuses does not hang the others', async () => {
    const { hall: room, till, first } = await hall({ delayed: 100 });
    await room.database.query(
      "INSERT INTO transfer (id, debit, credit, amount, code, at) VALUES ('r7', 'A', 'revenue', 0, 'chat', 1)",
    );
    const others = Array.from({ length: 50 }, () =>
      granted(till.tryReserve(askFor('A', 0.001, 0.001))),
    );
    const settled = [first.settle(chargeOf('r0', 0.05))];
    await room.pass(1);
    settled.push(...others.map((held, i) => held.settle(chargeOf(`r${i + 1}`, 0.001))));
    const outcomes = (await room.until(Promise.all(settled))).map(({ outcome }) => outcome);
    expect(
      outcomes
        .map((outcome, i) => (outcome === 'paid' ? undefined : `r${i} ${outcome}`))
        .filter(Boolean),
    ).toEqual(['r7 refused']);
    expect(till.stats.refused).toBe(1);
    await room.pass(1_000);
    expect(await room.database.query('SELECT id, account, cost FROM settle_failed')).toEqual([
      { id: 'r7', account: 'A', cost: yuan(0.001) },
    ]);
    await room.close();
    expect((await check(room.database)).problems.map(({ query }) => query)).toEqual(['charges']);
    expect((await balance(room.database, 'A'))?.balance).toBe(yuan(0.901));
  });

  test('a charge too large for the database is refused once, told, and its money is free again', async () => {
    const { hall: room, till, first } = await hall();
    // No index of PostgreSQL takes a key of this length, and no whole number of SQLite is a text.
    const id = Array.from({ length: 2_000 }, (_, i) => Math.sin(i).toString(36).slice(3, 10)).join(
      '',
    );
    const bad: Partial<Charge> =
      room.database.dialect === 'postgres' ? {} : { record: ['none', 'x', null, null] };
    expect(await room.until(first.settle(chargeOf(id, 0.05, bad)))).toMatchObject({
      outcome: 'refused',
      amount: 0n,
    });
    expect(till.stats).toMatchObject({ refused: 1, unknownBatches: 0 });
    expect(room.events[0]).toMatchObject({ event: 'refused', id });
    granted(await room.until(till.reserve(askFor('A', 1, 1, { shape: 'fixed' }), never))).release();
    expect((await balance(room.database, 'A'))?.balance).toBe(yuan(1));
    await isWhole(room);
  });

  test('a database that has gone back in time gets a new process, which settles again what it forgot', async () => {
    const { hall: room, till, first } = await hall();
    const second = granted(till.tryReserve(askFor('A', 0.1)));
    const before = till.process;
    await room.until(first.settle(chargeOf('r1', 0.05)));
    // A replica that lacks the last batch took over.
    await room.database.query('UPDATE process SET seq=seq-1');
    expect(await room.until(second.settle(chargeOf('r2', 0.02)))).toEqual({
      outcome: 'paid',
      amount: yuan(0.02),
      shortfall: 0n,
    });
    await room.pass(1_000);
    expect(room.events.map(({ event }) => event)).toEqual(['behind']);
    expect(till.process).not.toBe(before);
    expect(till.stats).toMatchObject({ behind: 1, fenced: 0 });
    await room.pass(10_000);
    expect(await room.number('SELECT COUNT(*) FROM usage')).toBe(2n);
    await isWhole(room);
  });

  test('call-ins that cannot be read, though the database is there, are reported once', async () => {
    const { 'till.calls': _, ...procedures } = ledgerProcedures;
    const room = new CounterHall(await openFresh({ migrations, procedures }), 1);
    await room.account('A', 1);
    const till = await room.till();
    const first = granted(await room.until(till.reserve(askFor('A', 0.2), never)));
    await room.pass(5_000);
    expect(room.events.map(({ event }) => event)).toEqual(['look_failed']);
    first.release();
    await isWhole(room);
  });

  test('a crowd that waits longer than a stream may for its first draw is served, not sent away', async () => {
    const room = await CounterHall.open(openFresh);
    await room.account('A', 1);
    const till = await room.till();
    room.network.script = (procedure) =>
      procedure.startsWith('till.batch') ? { delayed: 4_000 } : undefined;
    const reservations = Array.from({ length: 60 }, () =>
      till.reserve(askFor('A', 0.02, 0.02), never),
    );
    const got = await room.until(Promise.all(reservations));
    expect(new Set(got.filter((one) => typeof one === 'string'))).toEqual(
      new Set(['insufficient']),
    );
    const served = got.filter((one) => typeof one !== 'string');
    expect(served.length).toBe(50);
    for (const one of served) one.release();
    await isWhole(room);
  });

  test('without the database money in the till goes on for ten seconds, then nothing is admitted, and a last byte waits no longer than it may', async () => {
    const { hall: room, till, first } = await hall();
    room.network.outageUntil = room.time.now + 40_000;
    const stream = first.settle(chargeOf('r1', 0.05));
    await room.pass(5_000);
    expect(till.admitting).toBe(true);
    const whole = granted(till.tryReserve(askFor('A', 0.05)));
    const withheld = whole.settle(chargeOf('r2', 0.05, { withheld: true }));
    const third = granted(till.tryReserve(askFor('A', 0.05)));
    await room.pass(6_000);
    expect(till.admitting).toBe(false);
    expect(await till.reserve(askFor('A', 0.01), never)).toBe('unavailable');
    expect(await room.until(stream)).toEqual({ outcome: 'unavailable', amount: 0n, shortfall: 0n });
    expect(await room.until(withheld)).toEqual({
      outcome: 'unavailable',
      amount: 0n,
      shortfall: 0n,
    });
    expect(await room.until(third.settle(chargeOf('r3', 0.05)))).toMatchObject({ outcome: 'paid' });
    await room.pass(2_000);
    expect(till.admitting).toBe(true);
    const recorded = await room.database.query('SELECT id, cost, shortfall FROM usage ORDER BY id');
    // What was delivered is charged; what was withheld and not yet sent is recorded at no cost.
    expect(recorded.map(({ id, cost }) => [id, cost])).toEqual([
      ['r1', yuan(0.05)],
      ['r2', 0n],
      ['r3', yuan(0.05)],
    ]);
    await isWhole(room);
  });

  test('a whole answer that was withheld after its charge was sent is paid back', async () => {
    const { hall: room, first } = await hall({ delayed: 35_000 });
    expect(await room.until(first.settle(chargeOf('r1', 0.05, { withheld: true })))).toMatchObject({
      outcome: 'unavailable',
    });
    await room.pass(20_000);
    expect(await room.database.query("SELECT id, amount FROM transfer WHERE ref='r1'")).toEqual([
      { id: 'r1/refund', amount: yuan(0.05) },
    ]);
    expect((await balance(room.database, 'A'))?.balance).toBe(yuan(1));
    await isWhole(room);
  });

  test('a process that was stopped and fenced settles late under its own request ids, as far as there is money', async () => {
    const { hall: room, till, first } = await hall();
    const [victim] = room.processes;
    const other = await room.till();
    const second = granted(till.tryReserve(askFor('A', 0.1)));
    const third = granted(till.tryReserve(askFor('A', 0.1)));
    victim?.stop();
    await room.pass(20_000);
    expect(await room.held('A')).toBe(0n);
    const taken = granted(
      await room.until(other.reserve(askFor('A', 0.9, 0.9, { shape: 'fixed' }), never)),
    );
    await room.until(taken.settle(chargeOf('r0', 0.9)));
    await room.pass(15_000);
    victim?.wake();
    expect(till.admitting).toBe(false);
    expect(await room.until(first.settle(chargeOf('r1', 0.08)))).toEqual({
      outcome: 'paid',
      amount: yuan(0.08),
      shortfall: 0n,
    });
    expect(await room.until(second.settle(chargeOf('r2', 0.05)))).toEqual({
      outcome: 'paid',
      amount: yuan(0.02),
      shortfall: yuan(0.03),
    });
    await room.pass(5_000);
    // The request runs on unbacked, with nothing left on the account.
    expect(third.extend(1n)).toBe(0n);
    expect(await room.until(third.extendOrWait(1n, 1n, 1_500))).toBe(0n);
    await room.credit('A', 0.5);
    expect(await room.until(third.extendOrWait(yuan(0.01), 1n, 1_500))).toBe(yuan(0.01));
    expect(await room.until(third.settle(chargeOf('r3', 0.1)))).toEqual({
      outcome: 'paid',
      amount: yuan(0.1),
      shortfall: 0n,
    });
    expect(till.stats).toMatchObject({ fenced: 1, late: 2, shortfallNano: yuan(0.03) });
    await isWhole(room);
  });

  test.each<[string, Fate | undefined]>([
    ['was not sent', 'lost before'],
    ['was committed', 'lost after'],
    ['was answered', undefined],
  ])(
    'a process that sleeps for a minute over a batch that %s gives its answers when it wakes, each charged once',
    async (_what, fate) => {
      const { hall: room, till, first } = await hall(fate);
      const [victim] = room.processes;
      await room.till();
      const second = granted(till.tryReserve(askFor('A', 0.05)));
      const settled = Promise.all([
        first.settle(chargeOf('r1', 0.05)),
        second.settle(chargeOf('r2', 0.05, { withheld: true })),
      ]);
      victim?.stop();
      await room.pass(60_000);
      expect(await room.held('A')).toBe(0n);
      victim?.wake();
      const wokenMs = room.time.now;
      const paid = { outcome: 'paid', amount: yuan(0.05), shortfall: 0n };
      expect(await room.until(settled)).toEqual([paid, paid]);
      expect(room.time.now - wokenMs).toBeLessThan(1_000);
      expect((await balance(room.database, 'A'))?.balance).toBe(yuan(0.9));
      await isWhole(room);
    },
  );

  test('a process that wakes while the database is away tells its clients in time', async () => {
    const { hall: room, first } = await hall('lost before');
    const [victim] = room.processes;
    const settled = first.settle(chargeOf('r1', 0.05, { withheld: true }));
    victim?.stop();
    await room.pass(60_000);
    room.network.outageUntil = room.time.now + 20_000;
    victim?.wake();
    const wokenMs = room.time.now;
    expect(await room.until(settled)).toMatchObject({ outcome: 'unavailable' });
    expect(room.time.now - wokenMs).toBeLessThan(7_000);
    await room.pass(30_000);
    expect((await balance(room.database, 'A'))?.balance).toBe(yuan(1));
    await isWhole(room);
  });

  test('a clock that is set to another day changes nothing', async () => {
    const { hall: room, till, first } = await hall();
    const other = await room.till();
    for (const offset of [86_400_000, -86_400_000]) {
      for (const process of room.processes) process.wallOffsetMs = offset;
      await room.pass(30_000);
    }
    expect([till.stats.fenced, other.stats.fenced]).toEqual([0, 0]);
    expect(first.extend(1n)).toBe(1n);
    await room.until(first.settle(chargeOf('r1', 0.1)));
    await isWhole(room);
  });

  test('a till that closes commits what is under way and leaves nothing behind', async () => {
    const { hall: room, till, first } = await hall();
    const running = granted(till.tryReserve(askFor('A', 0.1)));
    const free = granted(till.tryReserve(askFor('A', 0)));
    const settled = first.settle(chargeOf('r1', 0.1));
    const waiting = till.reserve(askFor('A', 5, 5), never);
    await room.close();
    expect(await settled).toMatchObject({ outcome: 'paid' });
    expect(await waiting).toBe('unavailable');
    expect(till.admitting).toBe(false);
    expect(await room.database.query('SELECT id FROM process')).toEqual([]);
    expect(await room.held('A')).toBe(0n);
    expect(await room.until(running.settle(chargeOf('r2', 0.05)))).toEqual({
      outcome: 'paid',
      amount: yuan(0.05),
      shortfall: 0n,
    });
    expect(await room.until(free.settle(chargeOf('r3', 0)))).toMatchObject({ outcome: 'paid' });
    expect(await check(room.database)).toMatchObject({ ok: true });
  });

  test('a charge that queues behind a batch while its till closes is committed, too', async () => {
    const { hall: room, till, first } = await hall();
    const [second, third] = [0.05, 0.05].map((amount) =>
      granted(till.tryReserve(askFor('A', amount))),
    );
    await room.database.query(
      "INSERT INTO transfer (id, debit, credit, amount, code, at) VALUES ('r0', 'A', 'revenue', 0, 'chat', 1)",
    );
    // The till still keeps the refused charge while the next one is under way.
    const delays: Readonly<Record<string, number>> = { 'till.failed': 100, 'till.fence': 100 };
    room.network.script = (procedure) => ({ delayed: delays[procedure] ?? 20 });
    expect(await room.until(first.settle(chargeOf('r0', 0.05)))).toMatchObject({
      outcome: 'refused',
    });
    const closed = till.close();
    await room.pass(90);
    const one = second?.settle(chargeOf('r1', 0.05));
    await room.pass(5);
    const other = third?.settle(chargeOf('r2', 0.05));
    const paid = { outcome: 'paid', amount: yuan(0.05), shortfall: 0n };
    expect(await room.until(Promise.resolve(one))).toEqual(paid);
    expect(await room.until(Promise.resolve(other))).toEqual(paid);
    await room.until(closed);
    expect(till.stats).toMatchObject({ settled: 2, late: 0, fenced: 0 });
    expect((await balance(room.database, 'A'))?.balance).toBe(yuan(0.9));
    expect(await room.held('A')).toBe(0n);
  });

  // SQLite has no replica that could lag.
  if (name === 'sqlite') return;

  test.each<[string, number, number]>([
    ['the charge and its refund', 0, 40_000],
    ['the charge, before its refund is made', 0, 36_000],
    ['the refund alone', 36_000, 40_000],
  ])(
    'a whole answer that was withheld costs nothing when the database forgets %s',
    async (_what, laggedAtMs, failedAtMs) => {
      const { hall: room, till, first } = await hall({ delayed: 34_000 });
      await room.database.query('DROP TRIGGER transfer_never_changes ON transfer');
      const { script } = room.network;
      room.network.script = (procedure, input) =>
        procedure === 'till.refund' ? { delayed: 3_000 } : script(procedure, input);
      const settled = first.settle(chargeOf('r1', 0.05, { withheld: true }));
      await room.pass(laggedAtMs);
      const takeOver = await room.lag();
      await room.pass(failedAtMs - laggedAtMs);
      await takeOver();
      expect(await settled).toMatchObject({ outcome: 'unavailable' });
      await room.pass(30_000);
      expect(till.stats).toMatchObject({ behind: 1, undelivered: 1 });
      expect(await room.database.query("SELECT id, amount FROM transfer WHERE ref='r1'")).toEqual([
        { id: 'r1/refund', amount: yuan(0.05) },
      ]);
      expect((await balance(room.database, 'A'))?.balance).toBe(yuan(1));
      await isWhole(room);
    },
  );
});
