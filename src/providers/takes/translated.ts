import type { JsonObject } from '../wire/json.ts';
import type { MemberRule } from './contract.ts';
import { isAmong, refuseMember } from './rules.ts';
import { refuse, untakenInChat, untakenInResponses } from './untaken.ts';

/**
 * A request that is written anew in another format holds the members that the translation reads,
 * and no others. Each other member is dropped or refused: by the translation's own `rules`, else by
 * `untaken.ts`. A member that neither knows is dropped and named in `x-tollgate-dropped`.
 */
export interface Translation {
  /** The members that are carried over, all of their values or those that the code looks at. */
  readonly reads: ReadonlySet<string>;
  readonly rules?: Readonly<Record<string, MemberRule>>;
}

/** Members that every translation of a chat request reads. */
const readByAll = [
  ...['model', 'messages', 'stream', 'stream_options', 'max_tokens', 'max_completion_tokens'],
  ...[
    'tools',
    'tool_choice',
    'functions',
    'response_format',
    'temperature',
    'top_p',
    'top_k',
    'stop',
  ],
  ...['reasoning_effort', 'reasoning', 'thinking', 'enable_thinking'],
];

/**
 * A translation of chat requests. `more`: the members that it reads beside those that all
 * translations read.
 */
export const translationOf = (
  more: readonly string[],
  rules: Translation['rules'] = {},
): Translation => ({
  reads: new Set([...readByAll, ...more]),
  rules,
});

/**
 * The members of a request to `/v1/messages` that chat has a word for. The bridge itself refuses
 * MCP servers and containers.
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
const othersOwn: Readonly<Record<string, MemberRule>> = {
  safety_settings: refuse('it has no safety settings.', []),
  safetySettings: refuse('it has no safety settings.', []),
  // aws.amazon.com/bedrock/pricing, 2026-08: a guardrail has a price of its own, and belongs to one
  // account.
  guardrailConfig: refuse('guardrails are not available.'),
  guardrail_config: refuse('guardrails are not available.'),
  mcp_servers: refuse('it connects to no MCP servers by itself.', []),
  container: refuse('it runs no containers.'),
  plugins: refuse('it has no plugins.', []),
  search_parameters: refuse('it does not search the web by itself.', { mode: 'off' }),
  enable_search: refuse('it does not search the web by itself.', false),
  web_search: refuse('it does not search the web by itself.', false),
  speed: refuse('it has one speed.', 'standard'),
  inference_geo: refuse('its region cannot be chosen.', 'global'),
};

/**
 * The members of a request to `/v1/responses` that chat has a word for, and those that the gateway
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
    // It limits tools that OpenAI runs, and these are refused themselves.
    max_tool_calls: { otherwise: 'drop' },
    // An input that is too long is refused for its length.
    truncation: { takes: ['disabled'], otherwise: 'drop' },
    prompt: untakenInResponses.prompt,
    context_management: untakenInResponses.context_management,
  },
};

/**
 * The members that are left out, to be named in `x-tollgate-dropped`; undefined when there are
 * none. Throws the Refusal of a member that changes the meaning. `model` is the client's name of
 * the model.
 */
export function leftOut(
  body: JsonObject,
  model: string,
  { reads, rules }: Translation,
): string[] | undefined {
  let dropped: string[] | undefined;
  for (const name in body) {
    const value = body[name];
    if (reads.has(name) || value === undefined || value === null) continue;
    const rule = rules?.[name] ?? untakenInChat[name] ?? othersOwn[name];
    if (isAmong(rule?.takes ?? [], value) || isAmong(rule?.idle ?? [], value)) continue;
    const { otherwise = 'drop' } = rule ?? {};
    if (otherwise !== 'drop') refuseMember(name, model, otherwise.refuse);
    (dropped ??= []).push(name);
  }
  return dropped;
}

/** Both lists of members that are left out as one; undefined when both are empty. */
export function andDropped(
  dropped: readonly string[] | undefined,
  more: readonly string[],
): readonly string[] | undefined {
  return more.length === 0 ? dropped : [...(dropped ?? []), ...more];
}
