import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { stringify } from 'yaml';
import { expect, onTestFinished, test } from 'vitest';
import { type Sim, startSim } from '../sim/index.ts';
import { systemClock, systemTimers } from '../src/base/clock.ts';
import { nanoPerYuan } from '../src/base/money.ts';
import { systemRandom } from '../src/base/random.ts';
import { check } from '../src/ledger/check.ts';
import { balance } from '../src/ledger/ledger.ts';
import { paymentLimits } from '../src/payments/context.ts';
import { Payments } from '../src/payments/payments.ts';
import { openWallets } from '../src/payments/settings.ts';
import { proofs } from '../src/app/schema.ts';
import { open } from '../src/storage/open.ts';
import { forEachDatabase } from './databases.ts';
import { newCustomer } from './support/customer.ts';
import { openPage, ways } from './support/paying.ts';
import { type GatewayProcess, startProcess } from './support/process.ts';

const rounds = Number(
  process.env['TOLLGATE_CRASH_ROUNDS'] ?? (process.env['CI'] === 'true' ? 4 : 3),
);

/**
 * What a kill may fall between: an order, its payment and its notification. Every payment of a
 * round is paid while the process dies.
 */
async function payAll(
  sim: Sim,
  payments: Payments,
  account: string,
  url: () => string,
  running: () => boolean,
): Promise<number> {
  let paid = 0;
  while (running()) {
    const [wallet, method] = ways[paid % ways.length] ?? ways[0];
    const made = await payments
      .order({
        account,
        wallet,
        method,
        amount: nanoPerYuan,
        idempotencyKey: `order-${paid}`,
        subject: 'Top-up',
        payerIp: '203.0.113.7',
      })
      .catch(() => undefined);
    if (made?.kind !== 'order') {
      await wait(20);
      continue;
    }
    if (method !== 'qr') await openPage(made.order.code ?? '', url());
    // Half of them are told of, at once; the rest must be asked for.
    sim.wallets.counter.silent = systemRandom() < 0.5;
    sim.wallets.pay(made.order.id);
    paid += 1;
    await wait(20);
  }
  return paid;
}

forEachDatabase((name, _openFresh, fresh) => {
  test(`kill -9 at ${rounds} instants of notifications, questions and refunds: nothing paid is lost, nothing credited or paid back twice`, {
    timeout: 120_000 + rounds * 10_000,
  }, async () => {
    const sim = await startSim();
    onTestFinished(() => sim.close());
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-payments-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const place = name === 'sqlite' ? undefined : (await fresh()).url;
    const options = {
      folder,
      configuration: stringify({ payments: sim.wallets.settings }),
      env: { DATABASE_URL: place ?? '' },
    };
    let gateway: GatewayProcess = await startProcess(options);
    onTestFinished(() => gateway.kill());
    const database = await open(place ?? `sqlite:${join(folder, 'tollgate.db')}`);
    onTestFinished(() => database.close());
    const { userId } = await newCustomer(database, 0n);
    // Orders are made here, so that the process that dies has all the rest to do.
    const payments = new Payments({
      database,
      clock: systemClock,
      timers: systemTimers,
      wallets: openWallets(sim.wallets.settings, systemClock, new AbortController().signal),
      limits: { ...paymentLimits, queryMsMin: 200, waitingMax: 1_000 },
      publicUrl: () => gateway.url,
      log: () => {},
      bug: (error) => {
        throw error;
      },
    });
    let running = true;
    onTestFinished(() => {
      running = false;
    });
    const paying = payAll(
      sim,
      payments,
      userId,
      () => gateway.url,
      () => running,
    );
    for (let round = 0; round < rounds; round++) {
      await wait(200 + systemRandom() * 800);
      const [order] = await database.query(
        "SELECT id FROM payment_order WHERE state='credited' AND refunded+refunding=0 LIMIT 1",
      );
      const refunding = payments
        .refund({
          orderId: String(order?.['id']),
          amount: nanoPerYuan,
          reason: 'crash',
          idempotencyKey: `refund-${round}`,
        })
        .catch(() => undefined);
      await gateway.kill();
      await refunding;
      expect(await check(database, proofs)).toMatchObject({ ok: true, problems: [] });
      gateway = await startProcess(options);
    }
    running = false;
    const paid = await paying;
    sim.wallets.counter.silent = false;
    // Nobody waits a minute for the lease of a dead process.
    const open_ =
      "SELECT (SELECT COUNT(*) FROM payment_order WHERE state<>'credited')+(SELECT COUNT(*) FROM payment_refund WHERE ended_at IS NULL) AS open";
    await expect
      .poll(
        async () => {
          await database.query("UPDATE payment_order SET next_look_at=0 WHERE state='waiting'");
          await database.query('UPDATE payment_refund SET next_look_at=0 WHERE ended_at IS NULL');
          return Number((await database.query(open_))[0]?.['open']);
        },
        { timeout: 60_000, interval: 2_000 },
      )
      .toBe(0);
    expect(await gateway.stop()).toBe(0);
    expect(await check(database, proofs)).toMatchObject({ ok: true, problems: [] });
    const refunded = [...sim.wallets.counter.trades.values()].reduce(
      (sum, { refunds }) => sum + refunds.length,
      0,
    );
    expect((await balance(database, userId))?.balance).toBe(BigInt(paid - refunded) * nanoPerYuan);
    console.info(`${paid} paid, ${refunded} refunded`);
  });
});
