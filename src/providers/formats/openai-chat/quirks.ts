import type { FaultKind } from '../../../base/fault.ts';
import type { MediaReference } from '../../adapter.ts';
import type { SupportRow } from '../../support/rows.ts';

/**
 * A member and the values that the vendor refuses; the member is dropped then. Without `but`, it is
 * always dropped.
 */
export interface DroppedMember {
  readonly member: string;
  /**
   * The only value that is accepted, or a list of those that are: `temperature` 1 on reasoning
   * models.
   */
  readonly but?: unknown;
}

export const acceptsValue = ({ but }: DroppedMember, value: unknown): boolean =>
  but !== undefined && (Array.isArray(but) ? but.includes(value) : value === but);

/**
 * One row of a vendor's table of refusals. All that is given must match; `code` is compared with
 * the error's code and its type, `text` with its message.
 */
export interface FaultRule {
  readonly status?: number;
  readonly code?: RegExp;
  readonly text?: RegExp;
  readonly kind: FaultKind;
}

/**
 * How a vendor departs from OpenAI's chat completions. Everything is optional: the default is
 * OpenAI's own behaviour. Each entry cites its page and date.
 */
export interface ChatQuirks {
  /**
   * Takes `stream_options.include_usage`. False: the member is refused, and usage comes unasked.
   */
  readonly streamOptions?: boolean;
  /** What its models take: all that a request may say. */
  readonly takes?: readonly SupportRow[];
  /** Its word for the standard tier; `default` when nothing is said. */
  readonly standardTier?: string;
  /** Tool call ids must match; others are hashed into `length` letters and digits. */
  readonly toolIds?: { readonly pattern: RegExp; readonly length: number };
  /** Reasoning comes inside the text between `<think>` and `</think>`. */
  readonly thinkTags?: boolean;
  /** `reasoning_details` repeat what earlier chunks said. */
  readonly cumulativeReasoning?: boolean;
  /**
   * What it reads by address: images and videos when nothing is said. `file_data` is meant for
   * bytes.
   */
  readonly readsAddresses?: readonly MediaReference['kind'][];
  readonly faults?: readonly FaultRule[];
}
