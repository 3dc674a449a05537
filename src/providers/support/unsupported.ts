import type { JsonObject } from '../../base/json.ts';
import type { MemberRule } from './rows.ts';
import { includesValue, refuseParam } from './rules.ts';

/**
 * Whether a member of OpenAI's formats is dropped or refused where a vendor or a model does not
 * take it, the same for all vendors. A member is dropped, and named in `x-tollgate-dropped`, if the
 * answer stays what the client requested (ids, cache keys, tracing, hints). So is sampling, since
 * changing `model` alone has to work. A member that changes the meaning is refused.
 */
const drop: MemberRule = { takes: [], otherwise: 'drop' };
/** `idle`: values without an effect, which are not refused. */
const refuseRule = (why: string, ...idle: readonly unknown[]): MemberRule => ({
  takes: idle,
  otherwise: { refuse: why },
});

const unsupportedInBoth = {
  metadata: drop,
  // A vendor without this member stores no answers.
  store: { ...drop, idle: [false] },
  user: drop,
  safety_identifier: drop,
  prompt_cache_key: drop,
  prompt_cache_retention: drop,
  prompt_cache_options: drop,
  client_metadata: drop,
  service_tier: drop,
  stream_options: drop,
  temperature: drop,
  top_p: drop,
  top_logprobs: drop,
  // Several calls at once are usual; a sentence instructs the model to make one at a time
  // (`singleCallInstruction`).
  parallel_tool_calls: { ...drop, idle: [true] },
  moderation: refuseRule('it has no moderation beside its answer.'),
  tools: refuseRule('it calls no tools.', []),
  tool_choice: refuseRule('it calls no tools.', 'none', 'auto'),
} satisfies Readonly<Record<string, MemberRule>>;

/** For chat completions. */
export const unsupportedInChat: Readonly<Record<string, MemberRule>> = {
  ...unsupportedInBoth,
  verbosity: drop,
  prediction: drop,
  'stream_options.include_obfuscation': drop,
  reasoning_effort: drop,
  seed: drop,
  presence_penalty: drop,
  frequency_penalty: drop,
  logit_bias: drop,
  top_k: drop,
  min_p: drop,
  repetition_penalty: drop,
  // OpenRouter's own (openrouter.ai/docs/api-reference/parameters, 2026-08): its choice of a
  // provider. Its `usage` is answered by the gateway.
  provider: drop,
  models: drop,
  route: drop,
  transforms: drop,
  session_id: drop,
  trace: drop,
  plugins: refuseRule('it has no plugins.', []),
  // Other vendors' members for the amount of thinking.
  thinking_budget: drop,
  include_reasoning: drop,
  reasoning_format: drop,
  n: refuseRule('it gives one answer at a time.', 1),
  logprobs: { ...refuseRule('it does not tell the probabilities of its tokens.'), idle: [false] },
  modalities: refuseRule('it answers with text only.', ['text']),
  audio: refuseRule('it answers with text only.'),
  web_search_options: refuseRule('it does not search the web by itself.'),
  functions: refuseRule('it calls no tools.', []),
  function_call: refuseRule('it calls no tools.', 'none', 'auto'),
  response_format: refuseRule('it answers in no format but text.', { type: 'text' }),
};

/** For `/v1/responses`. */
export const unsupportedInResponses = {
  ...unsupportedInBoth,
  'text.verbosity': drop,
  'reasoning.summary': drop,
  'reasoning.effort': drop,
  reasoning: drop,
  max_tool_calls: refuseRule('it does not limit its calls of tools.'),
  truncation: refuseRule('it does not shorten its input by itself.', 'disabled'),
  context_management: refuseRule('it does not shorten its input by itself.', []),
  prompt: refuseRule('it knows no stored prompts.'),
  conversation: refuseRule('it keeps no conversations.'),
} satisfies Readonly<Record<string, MemberRule>>;

/** Members of chat that OpenAI has defined and that few other vendors document. */
const openaiOnly = [
  'metadata',
  'store',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'client_metadata',
  'stream_options.include_obfuscation',
  'verbosity',
  'prediction',
  'modalities',
  'audio',
  'web_search_options',
  'moderation',
] as const;

/** Members of chat that OpenRouter alone documents. */
export const openrouterOnly = [
  'provider',
  'models',
  'route',
  'transforms',
  'session_id',
  'trace',
  'plugins',
] as const;

/** Hints of Anthropic's format that clients write beside a tool's function in chat. */
export const toolHints = [
  'cache_control',
  'eager_input_streaming',
  'defer_loading',
  'input_examples',
] as const;

/** OpenAI's own members of chat, without those that the vendor's page lists, too. */
export const openaiOnlyExcept = (...listed: readonly (typeof openaiOnly)[number][]): string[] =>
  openaiOnly.filter((name) => !listed.includes(name));

/**
 * A request that is rewritten in another format holds the members that the translation reads, and
 * no others. Each other member is dropped or refused: by the translation's own `rules`, else by the
 * tables of this file. A member that none of them names is dropped and named in
 * `x-tollgate-dropped`.
 */
interface Translation {
  /**
   * The members that are carried over: with every value, or with those that the code of the
   * translation handles.
   */
  readonly reads: ReadonlySet<string>;
  readonly rules?: Readonly<Record<string, MemberRule>>;
}

/** Members that every translation of a chat request reads. */
const readByAll = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'tools',
  'tool_choice',
  'functions',
  'response_format',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'reasoning_effort',
  'reasoning',
  'thinking',
  'enable_thinking',
];

/**
 * A translation of chat requests. `more`: the members that it reads beside those that all
 * translations read.
 */
export const chatTranslation = (
  more: readonly string[],
  rules: Translation['rules'] = {},
): Translation => ({
  reads: new Set([...readByAll, ...more]),
  rules,
});

/**
 * The members of a request to `/v1/messages` that chat can express. The bridge itself refuses MCP
 * servers and containers.
 */
export const messagesToChat: Translation = {
  reads: new Set([
    'model',
    'messages',
    'system',
    'max_tokens',
    'stream',
    'tools',
    'tool_choice',
    'temperature',
    'top_p',
    'top_k',
    'stop_sequences',
    'thinking',
    'output_config',
    'output_format',
  ]),
  rules: {
    // platform.claude.com/docs/en/build-with-claude/context-editing, 2026-11: without it the model
    // reads all that the client sends.
    context_management: { otherwise: 'drop' },
    cache_control: { otherwise: 'drop' },
  },
};

/**
 * Members of vendors' own formats that clients of chat send, and that change the meaning of a
 * request.
 */
const otherVendorsOnly: Readonly<Record<string, MemberRule>> = {
  safety_settings: refuseRule('it has no safety settings.', []),
  safetySettings: refuseRule('it has no safety settings.', []),
  // aws.amazon.com/bedrock/pricing, 2026-08: a guardrail has a price of its own, and belongs to one
  // account.
  guardrailConfig: refuseRule('guardrails are not available.'),
  guardrail_config: refuseRule('guardrails are not available.'),
  mcp_servers: refuseRule('it connects to no MCP servers by itself.', []),
  container: refuseRule('it runs no containers.'),
  plugins: refuseRule('it has no plugins.', []),
  search_parameters: refuseRule('it does not search the web by itself.', { mode: 'off' }),
  enable_search: refuseRule('it does not search the web by itself.', false),
  web_search: refuseRule('it does not search the web by itself.', false),
  speed: refuseRule('it has one speed.', 'standard'),
  inference_geo: refuseRule('its region cannot be chosen.', 'global'),
};

/**
 * The members of a request to `/v1/responses` that chat can express, and those that the gateway
 * itself serves: it stores responses.
 */
export const responsesToChat: Translation = {
  reads: new Set([
    'model',
    'input',
    'instructions',
    'tools',
    'tool_choice',
    'parallel_tool_calls',
    'text',
    'reasoning',
    'max_output_tokens',
    'temperature',
    'top_p',
    'presence_penalty',
    'frequency_penalty',
    'top_logprobs',
    'include',
    'user',
    'safety_identifier',
    'prompt_cache_key',
    'prompt_cache_retention',
    'service_tier',
    'stream',
    'stream_options',
    'store',
    'metadata',
    'previous_response_id',
    'conversation',
    'background',
  ]),
  rules: {
    // It limits tools that OpenAI runs, which are refused by themselves.
    max_tool_calls: { otherwise: 'drop' },
    // An input that is too long is refused for its length.
    truncation: { takes: ['disabled'], otherwise: 'drop' },
    prompt: unsupportedInResponses.prompt,
    context_management: unsupportedInResponses.context_management,
  },
};

/**
 * The members that are left out, to be named in `x-tollgate-dropped`; undefined when there are
 * none. Throws the Refusal of a member that changes the meaning. `model` is the client's name of
 * the model.
 */
export function droppedMembers(
  body: JsonObject,
  model: string,
  { reads, rules }: Translation,
): string[] | undefined {
  let dropped: string[] | undefined;
  for (const name in body) {
    const value = body[name];
    if (reads.has(name) || value === undefined || value === null) continue;
    const rule = rules?.[name] ?? unsupportedInChat[name] ?? otherVendorsOnly[name];
    if (includesValue(rule?.takes ?? [], value) || includesValue(rule?.idle ?? [], value)) continue;
    const { otherwise = 'drop' } = rule ?? {};
    if (otherwise !== 'drop') refuseParam(name, model, otherwise.refuse);
    (dropped ??= []).push(name);
  }
  return dropped;
}

/** Both lists of members that are left out as one; undefined when both are empty. */
export function withDropped(
  dropped: readonly string[] | undefined,
  more: readonly string[],
): readonly string[] | undefined {
  return more.length === 0 ? dropped : [...(dropped ?? []), ...more];
}
