/**
 * A vendor's models take the members that the rows of one table allow. A row holds for the models
 * that it names. A later row adds to the earlier ones, and wins where both set the same member.
 *
 * The paths of members are those of the wire format that the row is about: `verbosity`,
 * `text.verbosity`. A member that no row names is sent unchanged.
 */
export interface SupportRow {
  /**
   * The vendor's page, or the public issue, and the month in which it was read:
   * `docs.x.ai/…, 2026-08`.
   */
  readonly source: string;
  /** The upstream ids that the row is about. Absent: every model of the vendor. */
  readonly models?: RegExp;
  /**
   * The row holds only while the model reasons (its `lacks`, `members`, `forced` and `schema`),
   * only while it does not (its `lacks` and `members`), or only where the request has no tools (its
   * `members`, which no other row may name).
   */
  readonly while?: 'reasoning' | 'silent' | 'toolless';
  /**
   * Members of OpenAI's format that are not taken. `unsupported.ts` says for all vendors which of
   * them are dropped (ids and hints) and which are refused (members that change the meaning).
   */
  readonly lacks?: readonly string[];
  /**
   * The vendor itself refuses what this row refuses. Other channels of the model get the request
   * first. Where none takes it, this vendor gets it: the client gets the vendor's message, or an
   * answer if the row is out of date. Absent: the vendor would ignore the member, so that the
   * request is refused before it is sent.
   */
  readonly refusesItself?: true;
  /**
   * Lacking members are left out with default values, too (`logprobs: false`, `n: 1`): the vendor
   * refuses all members that its page does not list.
   */
  readonly closed?: true;
  /**
   * Members that are taken with some values only, under another name, or by a rule of this vendor.
   */
  readonly members?: Readonly<Record<string, MemberRule>>;
  /** How the effort is sent. */
  readonly effort?: EffortRule;
  /** The types of tools that are taken. Others are refused. Absent: not checked. */
  readonly tools?: readonly string[];
  /**
   * `tool_choice: allowed_tools` is taken. Absent: the tools that are not allowed are left out
   * instead.
   */
  readonly allowedTools?: true;
  /** Members that a tool must not have beside its function, such as hints for other vendors. */
  readonly toolsLack?: readonly string[];
  /** A tool without `type` is taken. Absent: `"type": "function"` is added to it. */
  readonly untypedTools?: true;
  /**
   * Kinds of `tool_choice` beside OpenAI's that are taken (`any`, `tool`). Absent: they are written
   * in OpenAI's form.
   */
  readonly choices?: readonly string[];
  /** `tool_choice: none` is not taken: the tools are left out instead. */
  readonly lacksNone?: true;
  /** There is no `tool_choice` at all: it is left out, and the model chooses by itself. */
  readonly lacksChoice?: true;
  /**
   * `strict` is taken only with a closed schema that requires all of its members. With another
   * schema it is left out.
   */
  readonly strict?: 'closed';
  /** How a forced `tool_choice` (`required`, or a tool's name) is sent. Absent: it is taken. */
  readonly forced?: ForcedRule;
  /** How `response_format: json_schema` is sent. Absent: it is taken. */
  readonly schema?: SchemaRule;
  /** The vendor refuses `response_format` beside tools: it is sent as a sentence. */
  readonly formatBesideTools?: 'words';
  /**
   * The number of `stop` texts that the vendor takes. For more of them, the gateway itself watches
   * the answer. Absent: not checked.
   */
  readonly stops?: number;
  /** The name of the output limit, and whether the vendor takes the other name as well. */
  readonly limit?: LimitRule;
  /** The role that replaces `developer`. Absent: `developer` is taken. */
  readonly developer?: 'system';
  /**
   * The types of content parts that are taken. Others that are known are refused. Absent: not
   * checked.
   */
  readonly parts?: readonly string[];
  /** The rules of the messages. */
  readonly messages?: MessagesRule;
}

/** How one member of a request is sent. */
export interface MemberRule {
  /** The values that are taken; absent: every value, or none where `otherwise` is given. */
  readonly takes?: readonly unknown[];
  /** Values without an effect. The member is left out with them, and is not named as dropped. */
  readonly idle?: readonly unknown[];
  /** The value that is sent in place of another, by the client's value. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** The least and the greatest number that are taken: any other is sent as the nearer one. */
  readonly within?: readonly [number, number];
  /** The vendor's name of the member. */
  readonly as?: string;
  /** A value that is neither taken nor mapped is dropped or refused. */
  readonly otherwise?: UnsupportedRule;
}

/**
 * A member that is not taken is left out and named in `x-tollgate-dropped`, or the request is
 * refused with this reason.
 */
type UnsupportedRule = 'drop' | { readonly refuse: string; readonly byVendor?: true | undefined };

/** Efforts from the least to the most, as OpenAI names them. */
export const reasoningEfforts = [
  'none',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
] as const;
export type ReasoningEffort = (typeof reasoningEfforts)[number];

/**
 * How much a model thinks. The client's effort becomes the greatest of `takes` that is not above
 * it, or the least of `takes`, unless `map` has another.
 */
export interface EffortRule {
  /** The efforts that the model takes. Empty: it refuses the member, which is left out. */
  readonly takes: readonly string[];
  /** Exceptions: the client's effort to the vendor's. */
  readonly map?: Readonly<Partial<Record<ReasoningEffort, string>>>;
  /** The effort without the member. Absent: the model reasons. */
  readonly usual?: 'none';
  /** The member that turns thinking on and off, where an effort cannot. */
  readonly switch?: ThinkingSwitch;
  /**
   * Other vendors' members for thinking (`thinking`, `enable_thinking`, `reasoning`) that this
   * vendor reads, too. The rest become an effort.
   */
  readonly reads?: readonly string[];
}

/** The vendor's switch of thinking. */
export interface ThinkingSwitch {
  /** The name of its member. A value that the client has set stays, and decides. */
  readonly member: string;
  /**
   * The value for effort `none`. Absent: thinking cannot be turned off, and the member is not sent.
   */
  readonly off?: unknown;
  /** The value for every other effort. Absent: the member is not sent. */
  readonly on?: unknown;
  /** The member that limits thinking tokens, and the limits by effort. */
  readonly budget?: {
    readonly member: string;
    readonly tokens: Readonly<Partial<Record<ReasoningEffort, number>>>;
  };
}

/**
 * How a tool is forced where the vendor does not take every forced choice. `words`: `tool_choice`
 * is `auto`, and a sentence instructs the model to call the tool. `required`: a named tool is
 * taken, and `required` is sent as `words`. `named`: as `required`, but an only tool is named.
 * `silent`, in a row that holds while the model reasons: thinking is turned off by the switch of
 * `effort` if the client did not request thinking, else as `words`.
 */
type ForcedRule = 'words' | 'required' | 'named' | 'silent';

/**
 * How a schema is sent to a vendor that takes none. `object`: as `json_object`, with the schema in
 * a sentence. `words`: in a sentence alone.
 */
type SchemaRule = 'object' | 'words';

export interface LimitRule {
  readonly name: 'max_tokens' | 'max_completion_tokens';
  readonly takesBoth: boolean;
}

/**
 * Members that vendors' answers have beside role, content and calls. A client sends them back with
 * the conversation.
 */
export const answerMembers = [
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'reasoning_steps',
  'thinking_blocks',
  'thinking',
  'encrypted_content',
  'refusal',
  'parsed',
  'annotations',
  'citations',
  'audio',
  'images',
  'phase',
  'phases',
  'function_call',
  'provider_metadata',
  'provider_specific_fields',
  'provider',
  'token_id',
  'token_ids',
  'extra_content',
  'thought_signature',
  'reasoning_encrypted',
  'executed_tools',
  'channel',
  'padding',
  'tool_call_id',
] as const;
type AnswerMember = (typeof answerMembers)[number] | 'audio.id';

/** Which members messages may have. */
export interface MessagesRule {
  /**
   * The members of the assistant's messages that the vendor documents beside content and calls. All
   * others of `answerMembers` are left out. The text of reasoning is sent under the name for it
   * that is listed here. `audio.id`: of an audio answer, only the id is sent.
   */
  readonly assistant: readonly AnswerMember[];
  /**
   * A turn that called tools needs `reasoning_content` while the model thinks. A dot replaces it
   * where the client did not keep it.
   */
  readonly needsThoughts?: true;
  /**
   * The vendor refuses a system message after an assistant's message and at the end. After an
   * assistant's, its role becomes `user`. At the end, its text moves into the message before it.
   */
  readonly system?: 'before';
  /** Members that messages of these roles must not have. */
  readonly lacks?: Readonly<Record<string, readonly string[]>>;
  /** Members that parts of their content must not have. */
  readonly partsLack?: readonly string[];
  /**
   * Members that calls must not have, and that are left out without a notice (`index` repeats the
   * call's position).
   */
  readonly callsLack?: readonly string[];
  /**
   * The vendor's member that marks a last message of the assistant's, which the model is to
   * continue. Absent: it has none, and other vendors' marks are left out.
   */
  readonly prefix?: 'prefix' | 'partial';
  /** A last message of the assistant's is refused without this member. */
  readonly needsPrefix?: true;
  /**
   * The part for a document: OpenAI's `file` or Mistral's `document_url`. The other one is
   * rewritten as it. `instead`: documents are refused, with this list of parts that the model
   * reads. Absent: `document_url` is sent unchanged.
   */
  readonly documents?: 'file' | 'document_url' | { readonly instead: string };
}
