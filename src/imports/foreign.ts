import type { Fraction } from '../base/fraction.ts';

/**
 * What another gateway's database says, in its own terms: new-api, or one-api, from which it
 * descends. Facts of QuantumNous/new-api model/{user,token,channel,option}.go and
 * songquanpeng/one-api model/{user,token,channel}.go, read 2026-11.
 */
export interface Foreign {
  readonly kind: 'new-api' | 'one-api';
  readonly users: readonly ForeignUser[];
  readonly keys: readonly ForeignKey[];
  readonly channels: readonly ForeignChannel[];
  /**
   * As the administrator saved them; what was never changed stands in that program, not in its
   * database.
   */
  readonly options: ReadonlyMap<string, string>;
  /** What is there beside that, and has no place here: one sentence each. */
  readonly beside: readonly string[];
}

export interface ForeignUser {
  readonly id: string;
  readonly name: string;
  readonly email: string | undefined;
  readonly operator: boolean;
  readonly enabled: boolean;
  readonly deleted: boolean;
  /** The provider's number for a person, where it is known to be that. */
  readonly github: string | undefined;
  readonly group: string;
  /** Units: 500,000 are a dollar unless QuotaPerUnit says otherwise. May be negative. */
  readonly quota: bigint;
  /** Earned by invitations and not moved to the balance. */
  readonly rewards: bigint;
  /** Wall clock, ms; undefined: not known. */
  readonly createdAt: number | undefined;
}

export interface ForeignKey {
  readonly id: string;
  readonly userId: string;
  /** With its `sk-`, as clients send it. */
  readonly secret: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly deleted: boolean;
  /** Wall clock, ms; undefined: never. */
  readonly expiresAt: number | undefined;
  readonly createdAt: number | undefined;
  readonly lastUsedAt: number | undefined;
  /** Units that it may still spend; undefined: as many as its user has. */
  readonly remaining: bigint | undefined;
  /** Empty: its user's. */
  readonly group: string;
  /** Models that alone it may use; empty: all. */
  readonly models: readonly string[];
  /** Addresses and networks that alone may use it; empty: all. */
  readonly addresses: readonly string[];
}

export interface ForeignChannel {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly baseUrl: string | undefined;
  readonly secrets: readonly { readonly secret: string; readonly enabled: boolean }[];
  readonly models: readonly string[];
  /** Public id → the vendor's. */
  readonly mapping: ReadonlyMap<string, string>;
  readonly groups: readonly string[];
  /** Higher first. */
  readonly priority: bigint;
  readonly weight: bigint;
  readonly enabled: boolean;
  /** Settings of it that have no place here, by name. */
  readonly unknown: readonly string[];
}

/** What units are worth. */
export interface Worth {
  /** Units for a dollar. */
  readonly perDollar: Fraction;
  /** Yuan for a dollar. */
  readonly rate: Fraction;
}
