import type { MediaReference } from '../../adapter.ts';
import type { SupportRow } from '../../support/rows.ts';
import type { FaultRule } from '../fault.ts';

/** A member that is dropped if the vendor refuses its value; without `but`, always. */
export interface DroppedMember {
  readonly member: string;
  /**
   * The only value that the vendor accepts, or a list of them: `temperature` 1 on reasoning models.
   */
  readonly but?: unknown;
}

export const acceptsValue = ({ but }: DroppedMember, value: unknown): boolean =>
  but !== undefined && (Array.isArray(but) ? but.includes(value) : value === but);

/**
 * How a vendor departs from OpenAI's chat completions. Everything is optional: the default is
 * OpenAI's own behaviour. Each entry cites its page and date.
 */
export interface ChatQuirks {
  /**
   * Whether the vendor takes `stream_options.include_usage`. False: it refuses the member and sends
   * usage always.
   */
  readonly streamOptions?: boolean;
  /** The members and values that its models take. */
  readonly takes?: readonly SupportRow[];
  /** The vendor's name for the standard tier; `default` when absent. */
  readonly standardTier?: string;
  /**
   * The pattern that tool call ids must match; others are hashed into `length` letters and digits.
   */
  readonly toolIds?: { readonly pattern: RegExp; readonly length: number };
  /** Reasoning comes inside the text between `<think>` and `</think>`. */
  readonly thinkTags?: boolean;
  /** `reasoning_details` repeat what earlier chunks said. */
  readonly cumulativeReasoning?: boolean;
  /**
   * The media that the vendor fetches by address; images and videos when absent. `file_data` holds
   * bytes, not an address.
   */
  readonly readsAddresses?: readonly MediaReference['kind'][];
  /**
   * The vendor takes `usage: {include: true}`, with which clients ask for the cost. Others do not
   * get it: the gateway tells the cost by itself.
   */
  readonly takesCostWish?: boolean;
  /**
   * The upstream ids whose tool messages may hold media. For the others the media stand in a user's
   * message after them: "For tool messages, only type `text` is supported" (openai-openapi.yaml,
   * 2026-08; CommandCodeAI/command-code#795: 400).
   */
  readonly mediaInResults?: RegExp;
  /** The user and the assistant speak in turns, and system messages come first. */
  readonly alternates?: true;
  readonly faults?: readonly FaultRule[];
}
