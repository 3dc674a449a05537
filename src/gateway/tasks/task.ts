import type { Nano } from '../../base/money.ts';
import type { LimitWindow } from '../../ledger/contract.ts';
import type { Row } from '../../storage/database.ts';

/**
 * `new`: committed, and not yet known to be with a vendor. `completed` and `failed` are ends, and
 * nothing follows them.
 */
export type TaskStatus = 'new' | 'queued' | 'running' | 'completed' | 'failed';

/** A video on its way, as its row says. */
export interface Task {
  readonly id: string;
  readonly account: string;
  readonly keyId: string;
  /** The windows of its key's limits that its money counts in. */
  readonly limits: readonly LimitWindow[];
  readonly model: string;
  readonly group: string;
  /** Name and revision of the channel that has it. */
  readonly channel: string;
  readonly upstreamModel: string;
  readonly upstreamId: string | undefined;
  readonly state: TaskStatus;
  /** 0 to 100. */
  readonly percent: number;
  readonly seconds: number;
  readonly size: string | undefined;
  /** The names that its price goes by, the most telling first. */
  readonly variants: readonly string[];
  /**
   * What it costs when it is delivered, as it was priced when it was asked for, and how that comes
   * about (the lines of its usage record).
   */
  readonly cost: Nano;
  readonly bill: string;
  /** What went wrong, in words for the client. */
  readonly error: TaskError | undefined;
  /** The id of the file. */
  readonly file: string | undefined;
  readonly createdAt: number;
  readonly endedAt: number | undefined;
  readonly claims: bigint;
  /** Polls in a row that told nothing. */
  readonly faults: number;
}

export interface TaskError {
  readonly code: 'content_policy_violation' | 'generation_failed' | 'timeout' | 'submission_failed';
  readonly message: string;
}

/** Asked for by a client, and remembered before any vendor hears of it. */
export type NewTask = Pick<
  Task,
  | 'id'
  | 'account'
  | 'keyId'
  | 'limits'
  | 'model'
  | 'group'
  | 'channel'
  | 'upstreamModel'
  | 'seconds'
  | 'size'
  | 'variants'
  | 'cost'
  | 'bill'
  | 'createdAt'
> & { readonly idempotencyKey: string | undefined };

/** A row of the table `task`. */
export function readTask(row: Row): Task {
  const text = (column: string): string => String(row[column] ?? '');
  const optional = (column: string): string | undefined =>
    row[column] === null ? undefined : text(column);
  const number = (column: string): number => Number(row[column] ?? 0);
  const limits = JSON.parse(text('limits')) as readonly {
    readonly id: string;
    readonly amount: string;
  }[];
  const errorCode = optional('error_code');
  return {
    id: text('id'),
    account: text('account'),
    keyId: text('key_id'),
    limits: limits.map(({ id, amount }) => ({ id, amount: BigInt(amount) })),
    model: text('model'),
    group: text('group_name'),
    channel: text('channel'),
    upstreamModel: text('upstream_model'),
    upstreamId: optional('upstream_id'),
    state: text('state') as TaskStatus,
    percent: number('percent'),
    seconds: number('seconds'),
    size: optional('size'),
    variants: JSON.parse(text('variants')) as readonly string[],
    cost: BigInt(text('cost')),
    bill: text('bill'),
    error:
      errorCode === undefined
        ? undefined
        : { code: errorCode as TaskError['code'], message: text('error') },
    file: optional('file'),
    createdAt: number('created_at'),
    endedAt: row['ended_at'] === null ? undefined : number('ended_at'),
    claims: BigInt(text('claims')),
    faults: number('faults'),
  };
}
