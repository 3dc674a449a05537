import type { Adapter, Beside, Call } from '../adapter.ts';
import { refuseMember } from '../takes/rules.ts';
import { andDropped, leftOut, messagesToChat } from '../takes/translated.ts';
import { countOf, isObject, type JsonObject, listOf, objectOf, textOf } from '../wire/json.ts';
import { isToolSearch, claudeTool } from './claude-tools.ts';
import { blocksLeftOut, chatMessages, markOf } from './messages-over-chat-turns.ts';
import { refuseTiers } from '../wire/tiers.ts';

/**
 * A request to `/v1/messages` as a chat completion. What tunes only Claude is left out (marks of
 * the cache but where `marks` are read); what would change the answer and cannot be said is
 * refused. For the rest see `besideChat` and `leftOutOfChat`.
 */
export function chatBodyFrom(call: Call, marks: boolean): JsonObject {
  const { body } = call;
  refuseTiers(call);
  const tools = listOf(body['tools']).flatMap((tool, i) =>
    isObject(tool) && !isToolSearch(tool)
      ? [{ ...chatTool(tool, i, call.publicModel), ...markOf(tool, marks) }]
      : [],
  );
  return {
    model: call.publicModel,
    messages: chatMessages(body, call.publicModel, marks),
    // Whoever asks how many tokens a request has says nothing of the answer's.
    ...(body['max_tokens'] === undefined
      ? {}
      : { max_tokens: Math.max(1, countOf(body['max_tokens']) ?? 1) }),
    ...(call.outputTokensMax === undefined ? {} : { max_tokens: call.outputTokensMax }),
    ...(call.stream ? { stream: true } : {}),
    ...given('temperature', body['temperature']),
    ...given('top_p', body['top_p']),
    ...stops(body),
    ...(tools.length ? { tools, ...toolChoice(objectOf(body['tool_choice'])) } : {}),
    ...given('reasoning_effort', effortOf(body)),
    ...given('response_format', formatOf(body)),
  };
}

const given = (member: string, value: unknown): JsonObject =>
  value === undefined || value === null ? {} : { [member]: value };

/** What chat has no word for, for adapters that read it. */
export function besideChat({ body, clientHeaders }: Call): Beside | undefined {
  const topK = countOf(body['top_k']);
  const budget = isOff(body['thinking'])
    ? undefined
    : countOf(objectOf(body['thinking'])?.['budget_tokens']);
  const betas = betasIn(clientHeaders?.['anthropic-beta']);
  return topK === undefined && budget === undefined && betas === undefined
    ? undefined
    : { topK, budget, betas };
}

function betasIn(header: string | string[] | undefined): readonly string[] | undefined {
  if (header === undefined) return undefined;
  const betas = String(header)
    .split(',')
    .map((beta) => beta.trim());
  return betas.filter((beta) => beta !== '');
}

/**
 * The names of the members that chat has no word for. A budget that the adapter does not read
 * becomes an effort. Throws the Refusal of a member that changes the meaning.
 */
export function leftOutOfChat(
  { body, publicModel }: Call,
  beside: Beside | undefined,
  reads: Adapter['reads'] = [],
): readonly string[] | undefined {
  const unread = [
    ...(beside?.topK === undefined || reads.includes('topK') ? [] : ['top_k']),
    ...(beside?.betas === undefined || reads.includes('betas') ? [] : ['anthropic-beta']),
    ...blocksLeftOut(body['messages']),
    ...new Set(
      listOf(body['tools']).flatMap((tool) =>
        isObject(tool) && isToolSearch(tool) ? [`tools[].${String(tool['type'])}`] : [],
      ),
    ),
  ];
  return andDropped(leftOut(body, publicModel, messagesToChat), unread);
}

function stops(body: JsonObject): JsonObject {
  const stop = listOf(body['stop_sequences']);
  return stop.length ? { stop } : {};
}

/** Tools that only Anthropic runs have no schema of their own. */
function chatTool(tool: JsonObject, i: number, model: string): JsonObject {
  const { name, description, input_schema: parameters, strict } = tool;
  const taught = isObject(parameters) ? undefined : claudeTool(tool['type']);
  if (taught !== undefined)
    return {
      type: 'function',
      function: { name, description: taught.description, parameters: taught.schema },
    };
  if (!isObject(parameters))
    refuseMember(`tools[${i}].type`, model, `it knows no tools of type '${String(tool['type'])}'.`);
  return {
    type: 'function',
    function: {
      name,
      ...given('description', description),
      parameters,
      ...given('strict', strict),
    },
  };
}

function toolChoice(choice: JsonObject | undefined): JsonObject {
  if (choice === undefined) return {};
  const named = { type: 'function', function: { name: choice['name'] } };
  const said: Readonly<Record<string, unknown>> = {
    auto: 'auto',
    any: 'required',
    none: 'none',
    tool: named,
  };
  return {
    ...given('tool_choice', said[textOf(choice['type']) ?? '']),
    ...(choice['disable_parallel_tool_use'] === true ? { parallel_tool_calls: false } : {}),
  };
}

const isOff = (thinking: unknown): boolean => objectOf(thinking)?.['type'] === 'disabled';

/**
 * Budgets as efforts, and thinking that is off as none: what the model takes of them is told by its
 * vendor's table.
 */
function effortOf(body: JsonObject): string | undefined {
  const thinking = objectOf(body['thinking']);
  if (isOff(thinking)) return 'none';
  const effort = textOf(objectOf(body['output_config'])?.['effort']);
  if (effort !== undefined) return effort;
  if (thinking === undefined) return undefined;
  const budget = countOf(thinking['budget_tokens']);
  if (budget === undefined) return 'medium';
  return budget > 16_000 ? 'high' : budget > 4_000 ? 'medium' : 'low';
}

function formatOf(body: JsonObject): JsonObject | undefined {
  const format =
    objectOf(objectOf(body['output_config'])?.['format']) ?? objectOf(body['output_format']);
  if (format?.['type'] !== 'json_schema') return undefined;
  const { schema } = format;
  return { type: 'json_schema', json_schema: { name: 'output', schema, strict: isStrict(schema) } };
}

/**
 * Whether a schema may be held to strictly in OpenAI's sense: closed objects whose members are all
 * required (platform.openai.com/docs/guides/structured-outputs, 2026-08).
 */
function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (!isObject(schema)) return true;
  const properties = objectOf(schema['properties']);
  if (properties !== undefined) {
    const required = new Set(listOf(schema['required']));
    if (
      schema['additionalProperties'] !== false ||
      !Object.keys(properties).every((name) => required.has(name))
    )
      return false;
    if (!Object.values(properties).every(isStrict)) return false;
  }
  return [schema['items'], schema['anyOf'], Object.values(objectOf(schema['$defs']) ?? {})].every(
    isStrict,
  );
}
