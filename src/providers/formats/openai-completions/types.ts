/** A request's members that are read (developers.openai.com/api/reference/completions, 2026-08). */
export interface TextCompletionRequest {
  readonly prompt?: string | readonly unknown[];
  readonly n?: number;
  readonly best_of?: number;
  readonly logprobs?: number;
}

/**
 * `Completion`: a whole answer, or an event of a stream
 * (developers.openai.com/api/reference/completions, 2026-08).
 */
export interface TextCompletion {
  readonly created: number;
  readonly choices: readonly CompletionChoice[];
  readonly usage: unknown;
}

/** One text of an answer, or the next piece of it (same section). */
export interface CompletionChoice {
  readonly index: number;
  readonly text: string;
  readonly finish_reason: string;
}
