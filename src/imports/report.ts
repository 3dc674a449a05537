import type { Nano } from '../base/money.ts';

/** Things of one kind: how many came now, were there from an earlier import, and stayed behind. */
export interface ImportCount {
  taken: number;
  before: number;
  left: number;
}

export interface ImportNote {
  readonly what: string;
  readonly note: string;
}

export const importParts = ['users', 'keys', 'groups', 'models', 'channels'] as const;
export type ImportPart = (typeof importParts)[number];

/** What an import did or would do. */
export interface ImportSummary extends Readonly<Record<ImportPart, ImportCount>> {
  /** What stayed behind, and why. */
  readonly leftOut: { readonly what: string; readonly why: string }[];
  /** What is good to know of what came. */
  readonly notes: ImportNote[];
  readonly prices: { readonly model: string; readonly price: Readonly<Record<string, string>> }[];
  readonly multipliers: { readonly group: string; readonly multiplier: string }[];
  readonly sums: Sums;
  /** Users who came without a way to sign in that is known here. */
  withoutSignIn: number;
}

/** Units as that program counts them; yuan as the ledger has them now. */
export interface Sums {
  /** Of users who are not deleted and owe nothing. */
  units: bigint;
  /** What that is worth, each user's rounded up to the nano. */
  worth: Nano;
  /** Opening transfers of this import and the ones before it. */
  transferred: Nano;
  /** Balances that were made now, each held to what it was. */
  compared: number;
  /** Owed there: an account here cannot. */
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

/** Whether anything came. */
export const changed = (report: ImportSummary): boolean =>
  importParts.some((part) => report[part].taken > 0);

export function leaveOut(report: ImportSummary, part: ImportPart, what: string, why: string): void {
  report[part].left++;
  report.leftOut.push({ what, why });
}
