import { expireSignIns } from '../accounts/sign-in-attempts.ts';
import { systemClock } from '../base/clock.ts';
import { keepPricesInForce } from '../catalog/price-versions.ts';
import type { GatewayParts } from '../gateway/parts.ts';
import { keepLedgerChecked } from '../ledger/check-runs.ts';
import { forgetWindows } from '../ledger/limit-windows.ts';
import { expireHourly, type Expiring } from '../memory/expiry.ts';
import { keepInterruptedEnded, type ResponseStore } from '../memory/responses.ts';
import { Notifications } from '../notifications/notifications.ts';
import type { NotificationSettings } from '../notifications/settings.ts';
import { keepRequestLogBounded } from '../request-log/retention.ts';
import type { Database } from '../storage/database.ts';
import type { OnError } from '../storage/repeat.ts';
import type { Log } from '../telemetry/log.ts';
import { keepPartitions } from '../usage/partitions.ts';
import { keepRolledUp } from '../usage/keep-rolled-up.ts';
import { proofs } from './schema.ts';

/**
 * Starts the periodic background work; returns the functions that stop it. `memories`: the
 * stores whose entries expire. Each key is the log's word for the entries.
 */
export async function startUpkeep(
  database: Database,
  { limits }: Pick<GatewayParts, 'limits'>,
  memories: Readonly<Record<string, Expiring>> & { readonly responses: ResponseStore },
  notifications: readonly Notifications[],
  onError: OnError,
): Promise<readonly (() => void | Promise<void>)[]> {
  const limitPeriods: Expiring = {
    expire: (stopped) => forgetWindows(database, systemClock.now(), stopped),
  };
  const signIns = { expire: () => expireSignIns(database, systemClock) };
  const kept = [
    ...Object.entries({ ...memories, 'limit periods': limitPeriods, 'sign-ins': signIns }).map(
      ([entries, memory]) => expireHourly(entries, memory, onError),
    ),
    keepInterruptedEnded(memories.responses, onError),
    await keepPartitions(database, systemClock, onError),
    keepRolledUp(database, systemClock, onError),
    keepPricesInForce(database, systemClock, onError),
    keepRequestLogBounded(database, systemClock, onError),
    keepLedgerChecked(database, systemClock, proofs, limits.utcOffsetMinutes, onError),
  ];
  for (const each of notifications) each.start();
  // Work that runs may take long. It is not waited for: the next start goes on with it.
  const stops = kept.map(
    ({ stop }) =>
      () =>
        void stop(),
  );
  return [...stops, ...notifications.map((each) => () => each.close())];
}

export interface NotificationOptions {
  /** Which notifications go to which recipients; undefined: none. */
  readonly notifications?: NotificationSettings | undefined;
  /** The gateway's public URL, to which notifications link. */
  readonly publicUrl: string | undefined;
}

/** Empty without settings. */
export function openNotifications(
  database: Database,
  log: Log,
  { notifications: settings, publicUrl: home }: NotificationOptions,
): readonly Notifications[] {
  if (settings === undefined) return [];
  const onAttempt = (id: string, way: string, why: string | undefined): void =>
    log.line('notice', { id, way, ...(why !== undefined && { why }) });
  return [
    new Notifications({
      database,
      clock: systemClock,
      settings,
      home,
      onAttempt,
      onError: (error) => log.error('notices', error, {}),
    }),
  ];
}
