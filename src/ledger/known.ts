import type { Random } from '../base/random.ts';
import { DatabaseError } from '../storage/database.ts';

/**
 * Whether sending the same again would fail the same: the database refused these very rows, or a
 * script of ours stumbled over them. Everything else (a connection, a password, a table that is
 * away) is not known to have failed, or not because of them, and is sent again (R3).
 */
export function isFinal(error: unknown): boolean {
  return !(error instanceof DatabaseError) || error.kind === 'constraint';
}

/** Soon at first, then about once a second, and not all processes at the same instant. */
export function retryMs(attempt: number, random: Random): number {
  return Math.min(1_000, 10 * 2 ** attempt) * (0.5 + random() / 2);
}
