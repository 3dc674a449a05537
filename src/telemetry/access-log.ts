import { memoize } from '../base/memoize.ts';

/** The log line of one finished request. No prompt, no answer, no secret. */
export interface AccessLine {
  readonly id: string;
  readonly userId: string;
  readonly keyId: string;
  readonly model: string;
  readonly group: string;
  readonly channel: string | undefined;
  readonly stream: boolean;
  /** HTTP status, or 499 for a client that left before its answer began. */
  readonly status: number;
  /** `ok`, `cut`, `left`, `length`, or the name of the refusal or fault. */
  readonly outcome: string;
  readonly attempts: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Nano-yuan, as a decimal string. */
  readonly cost: string;
  readonly firstByteMs: number | undefined;
  readonly durationMs: number;
  /**
   * The part of `durationMs` in which a vendor attempt was under way; absent where it was not
   * measured.
   */
  readonly vendorMs?: number;
}

/** A name as JSON text. Names come from the catalogue and recur, so the text is kept. */
const quote = memoize((name) => JSON.stringify(name));

/**
 * The line's members as JSON text, without the braces. Written by hand, because every request makes
 * one. Ids and outcomes are our own values.
 */
export function accessText(line: AccessLine): string {
  const channel = line.channel === undefined ? '' : `,"channel":${quote(line.channel)}`;
  const firstByte =
    line.firstByteMs === undefined ? '' : `,"firstByteMs":${line.firstByteMs.toFixed(1)}`;
  return (
    `"id":"${line.id}","user":"${line.userId}","key":"${line.keyId}","model":${quote(line.model)},"group":${quote(line.group)}${channel}` +
    `,"stream":${line.stream},"status":${line.status},"outcome":${quote(line.outcome)},"attempts":${line.attempts},"inputTokens":${line.inputTokens}` +
    `,"outputTokens":${line.outputTokens},"costNano":"${line.cost}"${firstByte},"durationMs":${line.durationMs.toFixed(1)}`
  );
}
