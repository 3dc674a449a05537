import { refuse } from '../../base/refusal.ts';
import type { Ask, Call } from '../adapter.ts';
import { countOf, isObject, type JsonObject, listOf, objectOf, textOf } from './json.ts';
import { inputItems } from './openai-responses-chat-input.ts';
import { reasoningItems } from './openai-responses-reasoning.ts';
import { refuseDearTier } from './dear-tier.ts';
import { unsignedCalls, withSignatures } from './signatures.ts';

/** Models that never stop thinking, and the least that they take instead. */
export interface EffortFloor {
  readonly models: RegExp;
  readonly refused: readonly string[];
  readonly least: string;
}

const headers = { 'content-type': 'application/json' } as const;
/** The least that the endpoint takes (developers.openai.com/api/docs/api-reference/responses/create, 2026-08). */
const outputTokensLeast = 16;

/** Members that both endpoints know by the same name and meaning. */
const carried = [
  'metadata',
  'parallel_tool_calls',
  'service_tier',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'user',
] as const;

/**
 * A chat request as one of `/responses` (wire-formats §5.2). Nothing is kept at the vendor; reasoning comes sealed instead, for the client to
 * bring back. Sampling is left out: where this way is taken, the model reasons and refuses it (row 62c).
 */
export function askResponses(call: Call, floors: readonly EffortFloor[]): Ask {
  const { body } = call;
  refuseDearTier(call);
  if ((countOf(body['n']) ?? 1) > 1)
    refuse('invalid_value', {
      param: 'n',
      why: 'this model gives one answer at a time when it has tools.',
    });
  if (listOf(body['modalities']).includes('audio'))
    refuse('invalid_value', { param: 'modalities', why: 'this model answers with text only.' });
  const effort = effortOf(call, floors);
  const text = textMembers(body);
  const choice = toolChoice(body['tool_choice'] ?? body['function_call']);
  const limit = limitOf(call);
  const sent: JsonObject = {
    model: call.upstreamModel,
    input: inputItems(withSignatures(body['messages'], call.signatures)),
    tools: [
      ...listOf(body['tools']).map(tool),
      ...listOf(body['functions']).map((fn) => tool({ type: 'function', function: fn })),
    ],
    ...(choice === undefined ? {} : { tool_choice: choice }),
    ...(effort === undefined ? {} : { reasoning: { effort } }),
    ...(Object.keys(text).length ? { text } : {}),
    ...(limit === undefined ? {} : { max_output_tokens: limit }),
    ...Object.fromEntries(
      carried.filter((name) => body[name] != null).map((name) => [name, body[name]]),
    ),
    store: false,
    include: ['reasoning.encrypted_content'],
    ...(call.streamUpstream ? { stream: true } : {}),
  };
  return { path: '/responses', headers, body: Buffer.from(JSON.stringify(sent)) };
}

/** Calls that came back without the sealed reasoning before them. */
export const unsignedResponses = ({ body }: Call): readonly string[] =>
  unsignedCalls(body['messages'], (message) => reasoningItems(message).length > 0);

function effortOf(
  { body, upstreamModel }: Call,
  floors: readonly EffortFloor[],
): string | undefined {
  const asked = textOf(body['reasoning_effort']);
  const floor =
    asked === undefined
      ? undefined
      : floors.find(({ models, refused }) => models.test(upstreamModel) && refused.includes(asked));
  return floor?.least ?? asked;
}

/** Of two limits `max_completion_tokens` wins (row 16); money may be the tighter one. */
function limitOf({ body, outputTokensMax }: Call): number | undefined {
  const asked = countOf(body['max_completion_tokens']) ?? countOf(body['max_tokens']);
  const limit = asked === undefined ? outputTokensMax : Math.min(asked, outputTokensMax ?? asked);
  return limit === undefined ? undefined : Math.max(outputTokensLeast, limit);
}

function textMembers(body: JsonObject): JsonObject {
  const asked = objectOf(body['response_format']);
  const format =
    asked?.['type'] === 'json_schema'
      ? { type: 'json_schema', ...objectOf(asked['json_schema']) }
      : asked;
  const verbosity = textOf(body['verbosity']);
  return { ...(format ? { format } : {}), ...(verbosity ? { verbosity } : {}) };
}

/** Tools lie flat here; chat keeps them in a member of their type's name. */
function tool(value: unknown): unknown {
  if (!isObject(value)) return value;
  const type = textOf(value['type']) ?? 'function';
  const inner = objectOf(value[type]);
  if (!inner) return value;
  // Chat takes a function as it is unless told to be strict; here it is the other way round.
  if (type === 'function') return { type, strict: false, parameters: {}, ...inner };
  const format = objectOf(inner['format']);
  const grammar = objectOf(format?.['grammar']);
  return { type, ...inner, ...(grammar ? { format: { type: 'grammar', ...grammar } } : {}) };
}

function toolChoice(value: unknown): unknown {
  if (!isObject(value)) return value ?? undefined;
  const type = textOf(value['type']) ?? 'function';
  const inner = objectOf(value[type]);
  if (type === 'allowed_tools' && inner)
    return {
      type,
      mode: inner['mode'],
      tools: listOf(inner['tools']).map((one) => toolChoice(one)),
    };
  return { type, name: textOf(inner?.['name']) ?? textOf(value['name']) ?? '' };
}
