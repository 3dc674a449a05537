import type { MemberRule } from './contract.ts';

/**
 * Whether a member of OpenAI's formats is dropped or refused where a vendor or a model does not
 * take it, the same for all vendors. A member is dropped, and named in `x-tollgate-dropped`, if the
 * answer stays what the client asked for (ids, cache keys, tracing, hints). So is sampling, since
 * changing `model` alone has to work (wire-formats §7, row 62c). A member that changes the meaning
 * is refused.
 */
const drop: MemberRule = { takes: [], otherwise: 'drop' };
/** `idle`: values that ask for nothing, and are not refused. */
export const refuse = (why: string, ...idle: readonly unknown[]): MemberRule => ({
  takes: idle,
  otherwise: { refuse: why },
});

const both = {
  metadata: drop,
  store: drop,
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
  // Several calls at once are usual; one at a time is also asked for in words (`words.ts`).
  parallel_tool_calls: { ...drop, idle: [true] },
  moderation: refuse('it has no moderation beside its answer.'),
  tools: refuse('it calls no tools.', []),
  tool_choice: refuse('it calls no tools.', 'none', 'auto'),
} satisfies Readonly<Record<string, MemberRule>>;

/** Of chat completions. */
export const untakenInChat: Readonly<Record<string, MemberRule>> = {
  ...both,
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
  // provider, and what it reports.
  provider: drop,
  usage: drop,
  models: drop,
  route: drop,
  transforms: drop,
  session_id: drop,
  trace: drop,
  plugins: refuse('it has no plugins.', []),
  // Other vendors' ways to tell how much to think.
  thinking_budget: drop,
  include_reasoning: drop,
  reasoning_format: drop,
  n: refuse('it gives one answer at a time.', 1),
  logprobs: refuse('it does not tell the probabilities of its tokens.', false),
  modalities: refuse('it answers with text only.', ['text']),
  audio: refuse('it answers with text only.'),
  web_search_options: refuse('it does not search the web by itself.'),
  functions: refuse('it calls no tools.', []),
  function_call: refuse('it calls no tools.', 'none', 'auto'),
  response_format: refuse('it answers in no format but text.', { type: 'text' }),
};

/** Of responses. */
export const untakenInResponses = {
  ...both,
  'text.verbosity': drop,
  'reasoning.summary': drop,
  'reasoning.effort': drop,
  reasoning: drop,
  max_tool_calls: refuse('it does not limit its calls of tools.'),
  truncation: refuse('it does not shorten its input by itself.', 'disabled'),
  context_management: refuse('it does not shorten its input by itself.', []),
  prompt: refuse('it knows no stored prompts.'),
  conversation: refuse('it keeps no conversations.'),
} satisfies Readonly<Record<string, MemberRule>>;

/** Members of chat that OpenAI has defined and that few other vendors document. */
const openaisOwn = [
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
export const openroutersOwn = [
  'provider',
  'usage',
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
export const openaisOwnBut = (...listed: readonly (typeof openaisOwn)[number][]): string[] =>
  openaisOwn.filter((name) => !listed.includes(name));
