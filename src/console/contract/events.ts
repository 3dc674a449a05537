import type { BalanceView } from './session.ts';
import type { OrderView } from './orders.ts';
import type { TaskView } from './tasks.ts';
import type { ChargeRow } from './usage.ts';

/**
 * GET `events`, server-sent: `event:` is the name, `data:` the JSON, `id:` resumes by
 * `Last-Event-ID`. `announcement` and `channel` say that something changed: ask for it again.
 * `refused` tells the start card that a request arrived and was refused.
 */
export interface ConsoleEvents {
  readonly balance: BalanceView;
  readonly order: OrderView;
  readonly task: TaskView;
  readonly charge: ChargeRow;
  readonly announcement: { readonly changed: true };
  /** For operators alone. */
  readonly channel: { readonly changed: true };
}

export type ConsoleEventName = keyof ConsoleEvents;
