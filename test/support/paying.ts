import { expect, onTestFinished } from 'vitest';
import { type Sim, startSim } from '../../sim/index.ts';

import { formatYuan, nanoPerYuan, type Nano } from '../../src/base/money.ts';
import { systemTimers } from '../../src/base/clock.ts';
import { newCustomer } from './customer.ts';
import { openFramework } from '../../src/http/framework.ts';
import { serverLimits } from '../../src/http/server.ts';
import { check } from '../../src/ledger/check.ts';
import { balance } from '../../src/ledger/ledger.ts';
import { ledgerProcedures } from '../../src/ledger/procedures.ts';
import { migrations, proofs } from '../../src/app/schema.ts';
import {
  type PaymentLimits,
  paymentLimits,
  type PaymentLogLine,
} from '../../src/payments/context.ts';
import { serveNotifications, Payments } from '../../src/payments/payments.ts';
import type { Order } from '../../src/payments/orders.ts';
import { openWallets } from '../../src/payments/settings.ts';
import { type PayMethod, type WalletId, walletIds } from '../../src/payments/wallet.ts';
import type { Database, Migration, Row } from '../../src/storage/database.ts';
import type { FreshDatabase } from '../databases.ts';
import { TurnedClock } from './task-node.ts';

/**
 * One process's payments on a database that may have other processes, with its own server for
 * notifications.
 */
export interface PayingNode {
  readonly payments: Payments;
  readonly url: string;
  readonly lines: PaymentLogLine[];
}

/**
 * Payments against the simulated wallets, on the same clock. No background queries: call
 * `payments.look()`.
 */
export interface Paying extends PayingNode {
  readonly database: Database;
  readonly sim: Sim;
  readonly clock: TurnedClock;
  readonly account: string;
  /** `wallets`: the configured ones; both by default. */
  node(wallets?: readonly WalletId[]): Promise<PayingNode>;
  /** An order of the customer; 1.00 by default. */
  order(
    wallet: WalletId,
    wish?: {
      readonly yuan?: bigint;
      readonly method?: PayMethod;
      readonly key?: string;
      readonly account?: string;
    },
  ): Promise<Order>;
  /** The same, paid, but without a notification yet. */
  paidOrder(
    wallet: WalletId,
    wish?: { readonly yuan?: bigint; readonly method?: PayMethod },
  ): Promise<Order & { readonly number: string }>;
  found(id: string): Promise<Order>;
  balance(account?: string): Promise<string>;
  rows(sql: string): Promise<readonly Row[]>;
  /** Moves the clock forward. */
  later(ms: number): void;
  expectBooks(): Promise<void>;
}

/** The configured ways to pay. */
export const ways = [
  ['wechat_pay', 'qr'],
  ['wechat_pay', 'mobile'],
  ['alipay', 'qr'],
  ['alipay', 'page'],
  ['alipay', 'mobile'],
] as const satisfies readonly (readonly [WalletId, PayMethod])[];

/** Opens the page of an order as the payer's browser does, from ours. */
export const openPage = async (address: string, from: string): Promise<string> =>
  (await fetch(address, { headers: { referer: `${from}/` } })).text();

let keys = 0;

export async function startPaying(
  fresh: (migrations: readonly Migration[]) => Promise<FreshDatabase>,
  limits: Partial<PaymentLimits> = {},
): Promise<Paying> {
  const { open } = await fresh(migrations);
  const openOne = () => open({ procedures: ledgerProcedures });
  const database = await openOne();
  const sim = await startSim();
  onTestFinished(() => sim.close());
  const clock = new TurnedClock();
  sim.wallets.counter.now = () => clock.now();
  const { userId: account } = await newCustomer(database, 0n);
  const node = (wallets: readonly WalletId[] = walletIds): Promise<PayingNode> =>
    openOne().then((own) => openNode(own, sim, clock, limits, wallets));
  const first = await node();
  const { payments } = first;
  const found = async (id: string): Promise<Order> => {
    const order = await payments.check(id);
    if (order === undefined) throw new Error('no such order');
    return order;
  };
  const order: Paying['order'] = async (
    wallet,
    { yuan = 1n, method = 'qr', key = `key-${keys++}`, account: whose = account } = {},
  ) => {
    const made = await payments.order({
      account: whose,
      wallet,
      method,
      amount: yuan * nanoPerYuan,
      idempotencyKey: key,
      subject: 'Top-up',
      ...(method === 'mobile' && { payerIp: '203.0.113.7' }),
    });
    if (made.kind !== 'order') throw new Error(made.kind);
    // Alipay learns of an order with a page when the payer opens it.
    if (method !== 'qr') await openPage(made.order.code ?? '', first.url);
    return made.order;
  };
  return {
    ...first,
    database,
    sim,
    clock,
    account,
    node,
    found,
    async paidOrder(wallet, wish = {}) {
      const made = await order(wallet, wish);
      const { counter } = sim.wallets;
      counter.silent = true;
      const { number = '' } = sim.wallets.pay(made.id);
      counter.silent = false;
      return { ...made, number };
    },
    order,
    balance: async (whose = account) => formatYuan((await balance(database, whose))?.balance ?? 0n),
    rows: (sql) => database.query(sql),
    later(ms) {
      clock.turnedMs += ms;
    },
    async expectBooks() {
      expect(await check(database, proofs)).toMatchObject({ ok: true, problems: [] });
    },
  };
}

async function openNode(
  database: Database,
  sim: Sim,
  clock: TurnedClock,
  limits: Partial<PaymentLimits>,
  configured: readonly WalletId[],
): Promise<PayingNode> {
  const lines: PaymentLogLine[] = [];
  const stop = new AbortController();
  const bug = (error: unknown) => {
    throw error;
  };
  let url = '';
  const payments = new Payments({
    database,
    clock,
    timers: systemTimers,
    wallets: openWallets(
      Object.fromEntries(configured.map((id) => [id, sim.wallets.settings[id]])),
      clock,
      stop.signal,
    ),
    limits: { ...paymentLimits, moneyWaitMs: 300, ...limits },
    publicUrl: () => url,
    log: (line) => void lines.push(line),
    bug,
  });
  const server = openFramework(serverLimits, () => ({ status: 400, body: '{}', id: 'req_1' }));
  serveNotifications(server, payments, bug);
  url = await server.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(async () => {
    stop.abort();
    await payments.close();
    // A wallet may just have connected, and a server waits for idle connections.
    server.server.closeAllConnections();
    await server.close();
  });
  return { payments, url, lines };
}

export const yuan = (amount: bigint): Nano => amount * nanoPerYuan;
