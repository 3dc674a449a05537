import type { Nano } from '../../base/money.ts';
import type { LimitWindow } from '../../ledger/contract.ts';
import type { Row } from '../../storage/database.ts';
import { optionalNumber, optionalText } from '../../storage/sql.ts';

/** `new`: committed, and not yet known to be with a vendor. `completed` and `failed` are final. */
export type TaskStatus = 'new' | 'queued' | 'running' | 'completed' | 'failed';

/** A video task, as its row stores it. */
export interface Task {
  readonly id: string;
  readonly account: string;
  readonly keyId: string;
  /** The windows of its key's limits that its money counts towards. */
  readonly limits: readonly LimitWindow[];
  readonly model: string;
  readonly group: string;
  /** Name and revision of the channel that has the task. */
  readonly channel: string;
  readonly upstreamModel: string;
  readonly upstreamId: string | undefined;
  readonly state: TaskStatus;
  /** 0 to 100. */
  readonly percent: number;
  readonly seconds: number;
  readonly size: string | undefined;
  /** The variants by which it is priced, the most specific first. */
  readonly variants: readonly string[];
  /** The cost on delivery, at the price of submission, and the lines of its usage record. */
  readonly cost: Nano;
  readonly bill: string;
  /** The failure, in text for the client. */
  readonly error: TaskError | undefined;
  /** The id of the file. */
  readonly file: string | undefined;
  readonly createdAt: number;
  readonly endedAt: number | undefined;
  readonly claims: bigint;
  /** Failed polls in a row. */
  readonly faults: number;
}

/** The name in the id of a task's channel (`channelId`), which has a revision and perhaps a key. */
export const channelNameOf = (id: string): string => id.slice(0, id.lastIndexOf('@'));

export interface TaskError {
  readonly code: 'content_policy_violation' | 'generation_failed' | 'timeout' | 'submission_failed';
  readonly message: string;
}

/** A task that a client requested, stored before any vendor gets it. */
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
  const number = (column: string): number => Number(row[column] ?? 0);
  const limits = JSON.parse(text('limits')) as readonly {
    readonly id: string;
    readonly amount: string;
  }[];
  const errorCode = optionalText(row, 'error_code');
  return {
    id: text('id'),
    account: text('account'),
    keyId: text('key_id'),
    limits: limits.map(({ id, amount }) => ({ id, amount: BigInt(amount) })),
    model: text('model'),
    group: text('group_name'),
    channel: text('channel'),
    upstreamModel: text('upstream_model'),
    upstreamId: optionalText(row, 'upstream_id'),
    state: text('state') as TaskStatus,
    percent: number('percent'),
    seconds: number('seconds'),
    size: optionalText(row, 'size'),
    variants: JSON.parse(text('variants')) as readonly string[],
    cost: BigInt(text('cost')),
    bill: text('bill'),
    error:
      errorCode === undefined
        ? undefined
        : { code: errorCode as TaskError['code'], message: text('error') },
    file: optionalText(row, 'file'),
    createdAt: number('created_at'),
    endedAt: optionalNumber(row, 'ended_at'),
    claims: BigInt(text('claims')),
    faults: number('faults'),
  };
}
