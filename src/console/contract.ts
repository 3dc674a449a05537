/**
 * All JSON of the console below `/console/api`, by family; the only file that web/ may import, and
 * types only. snake_case; money is text (`Yuan`), time is text (`Instant`), ranges are
 * `[from, to)`, counts are integers below 2^53, ratios 0 to 1, durations integers `…_ms`.
 */
export type * from './contract/shared.ts';
export type * from './contract/user.ts';
export type * from './contract/operator.ts';
export type * from './contract/operator-catalog.ts';
