import type { FaultKind } from '../../base/fault.ts';
import type { Medium } from '../adapter.ts';

/** A member and the values that the vendor refuses; the member is dropped then. Without `but`, it is always dropped. */
export interface Dropped {
  readonly member: string;
  /** The only value that is accepted, or a list of those that are: `temperature` 1 on reasoning models. */
  readonly but?: unknown;
}

export const accepts = ({ but }: Dropped, value: unknown): boolean =>
  but !== undefined && (Array.isArray(but) ? but.includes(value) : value === but);

/** What holds for the models whose upstream id matches. */
export interface ModelRule {
  readonly models: RegExp;
  readonly drop?: readonly Dropped[];
  /** The one name of the output limit that these models take. */
  readonly outputLimit?: OutputLimit;
  /** The rule does not hold when the client set `reasoning_effort` to this. */
  readonly unlessEffort?: string;
}

export type OutputLimit = 'max_tokens' | 'max_completion_tokens';

/** One row of a vendor's table of refusals. All that is given must match; `code` is compared with the error's code and its type, `text` with its message. */
export interface FaultRule {
  readonly status?: number;
  readonly code?: RegExp;
  readonly text?: RegExp;
  readonly kind: FaultKind;
}

/** How a vendor departs from OpenAI's chat completions. Everything is optional: the default is OpenAI's own behaviour. Each entry cites its page and date. */
export interface Quirks {
  /** Takes `stream_options.include_usage`. False: the member is refused, and usage comes unasked. */
  readonly streamOptions?: boolean;
  /** The name that the vendor documents for the output limit, and whether it takes the other one as well. */
  readonly outputLimit?: { readonly name: OutputLimit; readonly takesBoth: boolean };
  /** Members under another name: client's → vendor's. */
  readonly rename?: Readonly<Record<string, string>>;
  readonly drop?: readonly Dropped[];
  readonly models?: readonly ModelRule[];
  /** Knows the role `developer`. False: it refuses it, and gets a `system` instead. */
  readonly developers?: false;
  /** Tool call ids must match; others are hashed into `length` letters and digits. */
  readonly toolIds?: { readonly pattern: RegExp; readonly length: number };
  /** Models that refuse their own turn with tool calls when its reasoning does not come back (upstream ids). */
  readonly thoughtsWithCalls?: RegExp;
  /** Reasoning comes inside the text between `<think>` and `</think>`. */
  readonly thinkTags?: boolean;
  /** `reasoning_details` repeat what earlier chunks said. */
  readonly cumulativeReasoning?: boolean;
  /** What it reads by address: images and videos when nothing is said. `file_data` is meant for bytes. */
  readonly readsAddresses?: readonly Medium['kind'][];
  readonly faults?: readonly FaultRule[];
}
