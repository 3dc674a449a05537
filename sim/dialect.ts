import type { Answer, Usage } from './answer.ts';
import type { Json } from './json.ts';
import type { ChatRequest } from './request.ts';

/** The kinds of refusal. */
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

/** The error that a rule finds in a request. Without `kind` it is a `bad_request`. */
export interface Complaint {
  readonly message: string;
  readonly param?: string;
  readonly code?: string;
  readonly kind?: ProblemKind;
  readonly status?: number;
}

export type Rule = (request: ChatRequest) => Complaint | undefined;

/** One refusal, with everything that a vendor may put into its text. */
export interface Problem {
  readonly kind: ProblemKind;
  readonly model: string;
  readonly promptTokens: number;
  /** The refused key, masked. */
  readonly key: string;
  readonly path: string;
  readonly complaint: Complaint | undefined;
  /** The seconds for `retry-after`, where a scenario sets them. */
  readonly retryAfterS?: number | undefined;
}

/** A response that needs no model, mostly a refusal. */
export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent as it is. */
  readonly body: Json | string;
}

/** A chunk or response while it is built; a vendor's hooks add and remove members. */
export type Draft = Record<string, unknown>;

/** The content of one chunk. `text` and `tokens` count everything up to and including it. */
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
   * The place of reasoning: a member of that name, `parts` of the content, `details` beside
   * `reasoning`, `inline` as `<think>`, or nowhere.
   */
  readonly reasoning: 'hidden' | 'reasoning_content' | 'reasoning' | 'parts' | 'details' | 'inline';
  /**
   * The chunk with usage: its own with empty `choices`, the finish chunk, both, its own with a
   * repeated choice, or every chunk.
   */
  readonly usageAt: 'own' | 'finish' | 'finish and own' | 'own with choice' | 'every';
  /** Streams usage although the request did not ask for it. */
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
  /**
   * It has `/responses` besides `/chat/completions`; `all`: with OpenAI's further endpoints below
   * it.
   */
  readonly responses?: 'create' | 'all';
  /** The beginning of its sealed reasoning there. Absent: OpenAI's. */
  readonly sealHead?: string;
  readonly reasons: (request: ChatRequest) => boolean;
  readonly callId: () => string;
  readonly rules: readonly Rule[];
  readonly refuse: (problem: Problem) => Reply;
  /** An error inside a stream that began with 200. */
  readonly refuseInStream?: (problem: Problem, answer: Answer) => string;
  readonly style: Style;
}

/** The message or delta of a choice, for a hook that changes it. */
export function part(choice: Draft | undefined, name: 'delta' | 'message'): Draft {
  const value = choice?.[name];
  return isDraft(value) ? value : {};
}

function isDraft(value: unknown): value is Draft {
  return typeof value === 'object' && value !== null;
}
