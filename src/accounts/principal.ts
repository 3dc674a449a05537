import type { Nano } from '../base/money.ts';
import type { Confines } from './key-terms.ts';

/** Who is asking: what one API key stands for. Immutable; replaced whole when the key changes. */
export interface Principal extends Confines {
  readonly keyId: string;
  /** The user's id, which is also the id of the user's ledger account. */
  readonly userId: string;
  readonly group: string;
  /** Total spend limit of the key; undefined = unlimited. */
  readonly limit: Nano | undefined;
  /** What the key may spend in one day and in one month of the operator's; absent = unlimited. */
  readonly dailyLimit?: Nano | undefined;
  readonly monthlyLimit?: Nano | undefined;
  /** Wall clock, ms; undefined = never. */
  readonly expiresAt: number | undefined;
}

export interface Keyring {
  /**
   * From memory: the principal, `'unknown'` when the database has lately said so, or undefined: ask
   * `lookUp`.
   */
  known(secret: string): Principal | 'unknown' | undefined;
  /** Asks the database. `'unavailable'` when it does not answer: a 503, never a 401. */
  lookUp(secret: string): Promise<Principal | 'unknown' | 'unavailable'>;
}
