/**
 * All JSON of the console below `/console/api`, by family; the only file that web/ may import, and
 * types only. snake_case; money is text (`Yuan`), time is text (`Instant`), ranges are
 * `[from, to)`, counts are integers below 2^53, ratios 0 to 1, durations integers `…_ms`.
 */
export type * from './contract/shapes.ts';
export type * from './contract/session.ts';
export type * from './contract/overview.ts';
export type * from './contract/keys.ts';
export type * from './contract/usage.ts';
export type * from './contract/statement.ts';
export type * from './contract/orders.ts';
export type * from './contract/models.ts';
export type * from './contract/tasks.ts';
export type * from './contract/events.ts';
export type * from './contract/operator.ts';
export type * from './contract/operator-catalog.ts';
export type * from './contract/operator-money.ts';
