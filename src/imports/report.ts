import type { Nano } from '../base/money.ts';

/** Counts of entries of one kind: imported now, imported earlier, and left out. */
export interface ImportCount {
  taken: number;
  before: number;
  left: number;
}

export interface ImportNote {
  readonly what: string;
  readonly note: string;
}

/** Called before each entry of a part. */
export type ImportProgress = (part: ImportPart, done: number, total: number) => void;

/** The entries of a part, each told before its turn. */
export function* counted<T>(
  part: ImportPart,
  entries: readonly T[],
  onProgress: ImportProgress,
): Generator<T> {
  for (const [index, entry] of entries.entries()) {
    onProgress(part, index, entries.length);
    yield entry;
  }
}

export const importParts = ['users', 'keys', 'groups', 'models', 'channels'] as const;
export type ImportPart = (typeof importParts)[number];

/** The result of an import or of a dry run. */
export interface ImportSummary extends Readonly<Record<ImportPart, ImportCount>> {
  /** The entries that were not imported, and the reasons. */
  readonly leftOut: { readonly what: string; readonly why: string }[];
  /** Remarks about imported entries. */
  readonly notes: ImportNote[];
  readonly prices: { readonly model: string; readonly price: Readonly<Record<string, string>> }[];
  readonly multipliers: { readonly group: string; readonly multiplier: string }[];
  readonly sums: Sums;
  /** Imported users without a way to sign in that Tollgate knows. */
  withoutSignIn: number;
}

/** Units as the other program counts them; yuan as the ledger has them. */
export interface Sums {
  /** Of users who are not deleted and owe nothing. */
  units: bigint;
  /** The value of `units`, each user's rounded up to the nano. */
  worth: Nano;
  /** The opening transfers of this import and of earlier ones under the same name. */
  transferred: Nano;
  /** The new balances that were compared with the old ones. */
  compared: number;
  /** Units that users owe there; an account here begins with 0 instead. */
  owedUnits: bigint;
  deletedUnits: bigint;
  rewardUnits: bigint;
}

export function newReport(): ImportSummary {
  const count = (): ImportCount => ({ taken: 0, before: 0, left: 0 });
  return {
    users: count(),
    keys: count(),
    groups: count(),
    models: count(),
    channels: count(),
    leftOut: [],
    notes: [],
    prices: [],
    multipliers: [],
    withoutSignIn: 0,
    sums: {
      units: 0n,
      worth: 0n,
      transferred: 0n,
      compared: 0,
      owedUnits: 0n,
      deletedUnits: 0n,
      rewardUnits: 0n,
    },
  };
}

/** Whether anything was imported. */
export const changed = (report: ImportSummary): boolean =>
  importParts.some((part) => report[part].taken > 0);

export function leaveOut(report: ImportSummary, part: ImportPart, what: string, why: string): void {
  report[part].left++;
  report.leftOut.push({ what, why });
}
