import { statSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { DatabaseError } from './database.ts';

const inodeOf = (path: string): number | undefined =>
  statSync(path, { throwIfNoEntry: false })?.ino;

/** The time between two checks. The commits of so short a time are few. */
export const checkEveryMs = 10;

/**
 * Notices that an open database file was removed or replaced. SQLite goes on taking commits then,
 * and all of them are lost. The check reads two inodes, at the first transaction and every few
 * milliseconds.
 */
export class FileWatch {
  readonly #path: string;
  readonly #log: string;
  readonly #clock: Clock;
  readonly #inode: number | undefined;
  /**
   * Of the write-ahead log: SQLite creates it at the first transaction, and keeps it until the last
   * connection is closed.
   */
  #logInode: number | undefined;
  #checkedAtMs = Number.NEGATIVE_INFINITY;

  /** `path`: a file that is open now. */
  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
    this.#log = `${path}-wal`;
    this.#inode = inodeOf(path);
    this.#logInode = inodeOf(this.#log);
  }

  /**
   * Throws when the file or its log is no longer the one that was opened: the last commits may be
   * lost.
   */
  requireUnchanged(): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#checkedAtMs < checkEveryMs) return;
    if (inodeOf(this.#path) !== this.#inode) throw new DatabaseError('gone', gone(this.#path));
    const logInode = inodeOf(this.#log);
    this.#logInode ??= logInode;
    if (logInode !== this.#logInode) throw new DatabaseError('gone', gone(this.#log));
    this.#checkedAtMs = nowMs;
  }
}

function gone(path: string): string {
  return `the database file ${path} was removed or replaced while it is in use. No answer is delivered until the same file is back. If it is lost, stop the gateway, restore a backup and start again`;
}
