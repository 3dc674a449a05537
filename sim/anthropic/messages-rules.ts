import { isJson, type Json, list, number, object, text } from '../json.ts';
import { claudeNamed, type Claude } from './claude.ts';
import { type Complaints, dictionary, either, firstOf, members, oneOf } from './complaints.ts';
import { cacheComplaints } from './messages-cache.ts';
import { schemaComplaints, toolComplaints } from './messages-tools.ts';
import { turnComplaints } from './messages-turns.ts';
import { newestVersion } from './versions.ts';

/** The vendor and version that check a request in this format. */
export interface ServerTraits {
  readonly model: string;
  /** The newest version has no sampling parameters and reads documents only from users. */
  readonly version: string;
  readonly betas: readonly string[];
  /** The model is in the path, and the version in the body. */
  readonly hosted: boolean;
}

const optional =
  'cache_control container diagnostics inference_geo metadata output_config service_tier speed stop_sequences stream system temperature thinking ' +
  'tool_choice tools top_k top_p user_profile_id workspace_id';
/** Members that only betas have. */
const ofBetas = ' context_management mcp_servers output_format';
const counted = 'cache_control output_config system thinking tool_choice tools';
const consult =
  'Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking';

/**
 * The first error that Anthropic's API finds in a request
 * (platform.claude.com/docs/en/api/messages, 2026-11, and recorded refusals).
 */
export function messagesComplaint(raw: Json, server: ServerTraits): string | undefined {
  return firstOf(complaints(raw, server));
}

/** The same for a request to count its tokens. */
export function countComplaint(raw: Json, server: ServerTraits): string | undefined {
  return firstOf(counting(raw, server));
}

function* complaints(raw: Json, server: ServerTraits): Complaints {
  const claude = claudeNamed(server.model);
  yield* members(
    raw,
    '',
    `${server.hosted ? '' : 'model '}max_tokens messages`,
    optional + (server.betas.length > 0 ? ofBetas : ''),
  );
  yield* limit(raw, claude, server);
  yield* plain(raw);
  yield* sampling(raw, claude, server);
  yield* content(raw, server, claude);
  yield* thinking(raw, claude, server);
  yield* output(raw, claude, server);
}

function* counting(raw: Json, server: ServerTraits): Complaints {
  yield* members(raw, '', 'model messages', counted + (server.betas.length > 0 ? ofBetas : ''));
  yield* content(raw, server, claudeNamed(server.model));
}

function* content(raw: Json, server: ServerTraits, claude: Claude): Complaints {
  yield* toolComplaints(raw, claude);
  yield* turnComplaints(raw, server, claude);
  yield* cacheComplaints(raw);
}

function* limit(raw: Json, { outputMax }: Claude, { model }: ServerTraits): Complaints {
  const max = raw['max_tokens'];
  if (!Number.isInteger(max)) yield 'max_tokens: Input should be a valid integer';
  if (Number(max) < 0) yield 'max_tokens: Input should be greater than or equal to 0';
  if (Number(max) > outputMax)
    yield `max_tokens: ${String(max)} > ${outputMax}, which is the maximum allowed number of output tokens for ${model}`;
}

function* plain(raw: Json): Complaints {
  if (raw['stream'] !== undefined && typeof raw['stream'] !== 'boolean')
    yield 'stream: Input should be a valid boolean';
  yield* oneOf(raw['service_tier'], 'service_tier', ['auto', 'standard_only']);
  const { metadata } = raw;
  if (metadata !== undefined) {
    yield* dictionary(metadata, 'metadata');
    yield* members(object(metadata), 'metadata', '', 'user_id');
    if ((text(object(metadata)['user_id']) ?? '').length > 256)
      yield 'metadata.user_id: String should have at most 256 characters';
  }
  const stop = raw['stop_sequences'];
  if (stop !== undefined && !Array.isArray(stop))
    yield 'stop_sequences: Input should be a valid list';
  if (list(stop).some((sequence) => typeof sequence !== 'string' || sequence.trim() === ''))
    yield 'stop_sequences: each stop sequence must contain non-whitespace';
}

function* sampling(
  raw: Json,
  claude: Claude,
  { version, hosted, model }: ServerTraits,
): Complaints {
  const given = ['temperature', 'top_p', 'top_k'].filter(
    (name) => raw[name] !== undefined && raw[name] !== null,
  );
  if (version === newestVersion && !hosted)
    for (const name of given) yield `${name}: Extra inputs are not permitted`;
  for (const name of given)
    if (typeof raw[name] !== 'number') yield `${name}: Input should be a valid number`;
  for (const name of ['temperature', 'top_p'].filter((tuned) => given.includes(tuned)))
    if (Number(raw[name]) < 0 || Number(raw[name]) > 1) yield `${name}: range: 0..1`;
  if (claude.sampling === 'one' && given.includes('temperature') && given.includes('top_p'))
    yield '`temperature` and `top_p` cannot both be specified for this model. Please use only one.';
  if (claude.sampling !== 'defaults') return;
  if (raw['temperature'] !== undefined && raw['temperature'] !== 1)
    yield `\`temperature\` is deprecated for ${model}.`;
  if (Number(raw['top_p'] ?? 1) < 0.99) yield `\`top_p\` is deprecated for ${model}.`;
  if (given.includes('top_k')) yield `\`top_k\` is deprecated for ${model}.`;
}

/** Whether the model thinks: the request asks for it, or the model always does. */
export function thinks(raw: Json, model: string): boolean {
  const type = object(raw['thinking'])['type'];
  return type === undefined ? claudeNamed(model).alwaysThinks : type !== 'disabled';
}

const forced = (raw: Json): boolean =>
  ['any', 'tool'].includes(String(object(raw['tool_choice'])['type']));

/**
 * platform.claude.com/docs/en/build-with-claude/thinking, 2026-11: it shows the notes that newer
 * models write between tool calls, and no reasoning. Claude Code asks for it.
 */
const updatesBeta = 'thinking-display-updates-2026-08-18';

function* thinking(raw: Json, claude: Claude, { betas }: ServerTraits): Complaints {
  const settings = object(raw['thinking']);
  if (raw['thinking'] === undefined || raw['thinking'] === null) return;
  const type = String(settings['type']);
  const known = ['enabled', 'disabled', 'adaptive', 'between_tools'];
  if (!known.includes(type))
    yield `thinking: Input tag '${type}' found using 'type' does not match any of the expected tags: ${either(known)}`;
  if (!claude.thinking.some((taken) => taken === type)) yield notThat(type, claude);
  yield* members(
    settings,
    `thinking.${type}`,
    type === 'enabled' ? 'type budget_tokens' : 'type',
    /^(?:en|ad)/.test(type) ? 'display' : '',
  );
  const displays = ['summarized', 'omitted', ...(betas.includes(updatesBeta) ? ['updates'] : [])];
  yield* oneOf(settings['display'], `thinking.${type}.display`, displays);
  if (type === 'disabled' || type === 'between_tools') return;
  const budget = number(settings['budget_tokens']);
  if (budget !== undefined && budget < 1024)
    yield 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024';
  const interleaved =
    list(raw['tools']).length > 0 && betas.some((beta) => beta.startsWith('interleaved-thinking'));
  if (budget !== undefined && budget >= Number(raw['max_tokens']) && !interleaved)
    yield `\`max_tokens\` must be greater than \`thinking.budget_tokens\`. ${consult}#max-tokens-and-context-window-size`;
  if (raw['temperature'] !== undefined && raw['temperature'] !== 1)
    yield `\`temperature\` may only be set to 1 when thinking is enabled. ${consult}#important-considerations-when-using-extended-thinking`;
  if (Number(raw['top_p'] ?? 1) < 0.95)
    yield `\`top_p\` must be greater than or equal to 0.95 or unset when thinking is enabled. ${consult}#important-considerations-when-using-extended-thinking`;
  if (raw['top_k'] !== undefined)
    yield `\`top_k\` must be unset when thinking is enabled. ${consult}#important-considerations-when-using-extended-thinking`;
  if (forced(raw)) yield 'Thinking may not be enabled when tool_choice forces tool use.';
}

function notThat(type: string, { thinking: taken }: Claude): string {
  if (taken.length === 1 && taken[0] === 'disabled') return 'This model does not support thinking.';
  if (type === 'adaptive') return 'adaptive thinking is not supported on this model';
  return `"thinking.type.${type}" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`;
}

function* output(raw: Json, { efforts, structured }: Claude, { model }: ServerTraits): Complaints {
  const config = raw['output_config'];
  if (config === undefined || config === null) return;
  yield* dictionary(config, 'output_config');
  const { effort, format } = object(config);
  yield* members(object(config), 'output_config', '', 'effort format');
  if (typeof effort === 'string' && efforts.length === 0)
    yield 'This model does not support the effort parameter.';
  if (typeof effort === 'string' && !efforts.includes(effort))
    yield `This model does not support effort level '${effort}'. Supported levels: ${[...efforts].sort().join(', ')}.`;
  if (format === undefined || format === null) return;
  if (!structured) yield `'${model}' does not support output format.`;
  yield* members(object(format), 'output_config.format', 'type schema', '');
  if (!isJson(object(format)['schema']))
    yield 'output_config.format.schema: Input should be a valid dictionary';
  yield* schemaComplaints(object(object(format)['schema']), 'output_config.format.schema');
}
