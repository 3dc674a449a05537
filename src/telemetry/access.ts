/** What is told of one request when it is over: one line in the log. No prompt, no answer, no secret. */
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
}
