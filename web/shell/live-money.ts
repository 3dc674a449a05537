import type { BalanceView } from '../../src/console/contract.ts';
import { queryClient, refreshMoney, sessionData } from '../api/data.ts';

/** Charges come in bursts: what they change is fetched at most so often. */
const everyMs = 2000;

let told: BalanceView | undefined;
let charged = false;
let refreshing = false;

/** A charge changed the figures of the page, and the balance above it. */
export function onCharge(): void {
  charged = true;
  void refresh();
}

/** The balance is not shown before the page has its figures: one refresh feeds both. */
export function onBalance(balance: BalanceView): void {
  told = balance;
  void refresh();
}

async function refresh(): Promise<void> {
  if (refreshing) return;
  refreshing = true;
  while (charged || isNew(told)) {
    charged = false;
    told = undefined;
    // A page that is slower than this would be asked again and again, and never answer.
    await Promise.all([refreshMoney(), new Promise((resolve) => setTimeout(resolve, everyMs))]);
  }
  refreshing = false;
}

/** A stream begins with the balance, which is usually the one that is shown. */
function isNew(balance: BalanceView | undefined): boolean {
  const shown = queryClient.getQueryData(sessionData.queryKey)?.balance;
  return balance !== undefined && JSON.stringify(balance) !== JSON.stringify(shown);
}
