import type { Answer, Usage } from './answer.ts';
import type { Json } from './json.ts';
import type { ChatRequest } from './request.ts';

/** Why a vendor says no. */
export type ProblemKind =
  | 'missing_key'
  | 'wrong_key'
  | 'unknown_url'
  | 'unknown_model'
  | 'bad_request'
  | 'context'
  | 'policy'
  | 'rate'
  | 'quota'
  | 'server'
  | 'overloaded';

/** What a rule finds wrong with a request. Without `kind` it is a `bad_request`. */
export interface Complaint {
  readonly message: string;
  readonly param?: string;
  readonly code?: string;
  readonly kind?: ProblemKind;
  readonly status?: number;
}

export type Rule = (request: ChatRequest) => Complaint | undefined;

/** One no, with all that a vendor may put into its words. */
export interface Problem {
  readonly kind: ProblemKind;
  readonly model: string;
  readonly promptTokens: number;
  /** The refused key, masked. */
  readonly key: string;
  readonly path: string;
  readonly complaint: Complaint | undefined;
  /** When to come back, where a scenario says so. */
  readonly retryAfterS?: number | undefined;
}

/** An answer that needs no model, most of them refusals. */
export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent as it is. */
  readonly body: Json | string;
}

/** A chunk or an answer while it is written; a vendor's hooks add and take members. */
export type Draft = Record<string, unknown>;

/**
 * What one chunk brings. `text` and `tokens`: all that was said until here, this chunk included.
 */
export interface Moment {
  readonly kind: 'role' | 'reasoning' | 'text' | 'call' | 'finish' | 'usage';
  readonly answer: Answer;
  readonly piece: string;
  readonly text: string;
  readonly tokens: number;
}

/** How a vendor writes its answers and streams, where vendors differ. */
export interface Style {
  readonly id: (random: string) => string;
  /**
   * Where reasoning goes: a member of that name, `parts` of the content, `details` beside
   * `reasoning`, `inline` as `<think>`, or nowhere.
   */
  readonly reasoning: 'hidden' | 'reasoning_content' | 'reasoning' | 'parts' | 'details' | 'inline';
  /**
   * The chunk that carries usage: its own with empty `choices`, the finish chunk, both, its own
   * with a choice once more, or every chunk.
   */
  readonly usageAt: 'own' | 'finish' | 'finish and own' | 'own with choice' | 'every';
  /** Usage is streamed although nobody asked. */
  readonly usageUnasked: boolean;
  readonly toolCalls: 'pieces' | 'whole';
  /** Chunks before the last carry `finish_reason: null`. */
  readonly finishNull: boolean;
  /** The stream ends with `[DONE]`. */
  readonly done: boolean;
  readonly usage: (usage: Usage) => Json;
  /** Written before the first chunk. */
  readonly preamble?: (answer: Answer) => string;
  readonly chunk?: (
    draft: Draft,
    choice: Draft | undefined,
    moment: Moment,
    request: ChatRequest,
  ) => void;
  readonly whole?: (
    draft: Draft,
    choices: readonly Draft[],
    answer: Answer,
    request: ChatRequest,
  ) => void;
}

/** One vendor, as its own documents describe it. */
export interface Dialect {
  readonly vendor: string;
  /** Where its `/chat/completions` and `/models` are, in the simulator. */
  readonly prefix: string;
  readonly key: 'bearer' | 'api-key' | 'optional';
  /** It has `/responses` beside `/chat/completions`, and `all`: what OpenAI has beside that. */
  readonly responses?: 'create' | 'all';
  readonly reasons: (request: ChatRequest) => boolean;
  readonly callId: () => string;
  readonly rules: readonly Rule[];
  readonly refuse: (problem: Problem) => Reply;
  /** An error inside a stream that began with 200. */
  readonly refuseInStream?: (problem: Problem, answer: Answer) => string;
  readonly style: Style;
}

/** Members of a message or delta that a hook wants to change. */
export function part(choice: Draft | undefined, name: 'delta' | 'message'): Draft {
  const value = choice?.[name];
  return isDraft(value) ? value : {};
}

function isDraft(value: unknown): value is Draft {
  return typeof value === 'object' && value !== null;
}
