import { systemClock, systemTimers } from '../base/clock.ts';
import { paymentLimits } from '../payments/context.ts';
import { Payments } from '../payments/payments.ts';
import { openWallets, type PaymentSettings } from '../payments/settings.ts';
import type { Database } from '../storage/database.ts';
import type { Log } from '../telemetry/log.ts';

export interface PaymentOptions {
  /** The configured wallets; absent: users cannot top up. */
  readonly payments?: PaymentSettings;
  /**
   * The public URL for wallets and browsers, without `/` at its end; undefined: the server's own
   * address.
   */
  readonly publicUrl: string | undefined;
}

export interface OpenPayments {
  readonly payments: Payments;
  /** Call once the server listens: from then on the gateway polls the wallets. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the wallets. Throws a `PaymentSettingsError`. `url`: the server's own, once it listens.
 */
export function openPayments(
  { database, log }: { readonly database: Database; readonly log: Log },
  { payments: settings = {}, publicUrl }: PaymentOptions,
  url: () => string,
): OpenPayments {
  const stop = new AbortController();
  const bug = (error: unknown) => log.error('bug', error, {});
  const payments = new Payments({
    database,
    clock: systemClock,
    timers: systemTimers,
    wallets: openWallets(settings, systemClock, stop.signal),
    limits: {
      ...paymentLimits,
      ...(settings.expiryMs === undefined ? {} : { expiryMs: settings.expiryMs }),
    },
    publicUrl: () => publicUrl ?? url(),
    log: ({ event, ...fields }) => log.line(`payment ${event}`, fields),
    bug,
  });
  return {
    payments,
    start: () => payments.start(),
    close() {
      stop.abort();
      return payments.close();
    },
  };
}
