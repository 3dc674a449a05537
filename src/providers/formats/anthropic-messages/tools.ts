import {
  type Documented,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  objectsOf,
  textOf,
} from '../../../base/json.ts';
import { refuse } from '../../../base/refusal.ts';
import type { VendorCall } from '../../adapter.ts';
import { jsonInstruction } from '../../support/fit.ts';
import { refuseParam } from '../../support/rules.ts';
import type { ChatRequest } from '../openai-chat/types.ts';
import type { ClaudeTraits } from './models.ts';

/**
 * The tool that stands for a requested JSON answer where the model has no structured outputs: its
 * input is the answer.
 */
export const hiddenTool = 'json_answer';

/**
 * The tools, the tool choice and the answer's format of a request
 * (platform.claude.com/docs/en/api/messages, 2026-11).
 */
export interface ToolPlan {
  readonly tools: readonly JsonObject[];
  readonly choice: JsonObject | undefined;
  /** The model must call a tool, and therefore may not think. */
  readonly forced: boolean;
  /** `output_config.format`. */
  readonly format: JsonObject | undefined;
  /** Instructions that stand for settings without a parameter. */
  readonly told: readonly string[];
  /** A JSON answer travels as the hidden tool's input. */
  readonly hidden: boolean;
}

interface Tool {
  readonly name: string;
  readonly description: string | undefined;
  readonly schema: JsonObject;
  readonly strict: boolean;
  readonly cache: JsonObject | undefined;
}

type Choice = 'auto' | 'none' | 'required' | { readonly name: string };

export function planTools(
  { body, publicModel }: Pick<VendorCall<ChatRequest>, 'body' | 'publicModel'>,
  traits: ClaudeTraits,
): ToolPlan {
  const { choice, allowed } = choiceOf(body.tool_choice);
  const all = toolsOf(body, publicModel);
  const own = allowed ? all.filter((tool) => allowed.has(tool.name)) : all;
  if (all.length > 0 && own.length === 0 && choice === 'required')
    refuse('invalid_value', { param: 'tool_choice', why: 'it names none of the `tools`.' });
  const wanted: Choice = own.length ? choice : 'auto';
  const format = formatOf(body, wanted, traits);
  const strict = traits.structured && mayBeStrict(own, format.schema);
  const tools = own.map((tool) => writeTool(tool, strict));
  if (format.hidden) return withHidden(tools, format.hidden, wanted);
  const forced = wanted === 'required' || typeof wanted === 'object';
  const told = forced && !traits.forcing ? [...format.told, obligation(wanted)] : format.told;
  const isGiven = body.tool_choice !== undefined && body.tool_choice !== null;
  const asked = forced && !traits.forcing ? 'auto' : wanted;
  return {
    tools,
    choice: tools.length
      ? writeChoice(asked, isGiven, body.parallel_tool_calls === false)
      : undefined,
    forced: forced && traits.forcing,
    format: format.native,
    told,
    hidden: false,
  };
}

/**
 * Makes the answer a tool's input. If the client has tools, the model must choose one of them or
 * the answer, and not both.
 */
function withHidden(tools: readonly JsonObject[], schema: JsonObject, wanted: Choice): ToolPlan {
  const either = tools.length > 0 && wanted !== 'none';
  return {
    tools: [...tools, { name: hiddenTool, description: hiddenDescription, input_schema: schema }],
    choice: either
      ? { type: 'any', disable_parallel_tool_use: true }
      : { type: 'tool', name: hiddenTool },
    forced: true,
    format: undefined,
    told: [],
    hidden: true,
  };
}

const hiddenDescription =
  'Gives the answer to the user. Call it once, with the whole answer as its input.';

/** The instruction that replaces a forced call. */
export const obligation = (choice: Choice): string =>
  typeof choice === 'object'
    ? `You must call the tool "${choice.name}" in your next answer.`
    : 'You must call at least one of your tools in your next answer.';

function toolsOf(body: Documented<ChatRequest>, model: string): Tool[] {
  if (listOf(body.functions).length)
    refuseParam('functions', model, 'it takes functions as `tools` only.');
  return listOf(body.tools).map((tool, i) => {
    const fn = objectOf(objectOf(tool)?.function);
    if (!isObject(tool) || !fn)
      return refuseParam(`tools[${i}].type`, model, 'it takes tools of type `function` only.');
    return {
      name: textOf(fn.name) ?? '',
      description: textOf(fn.description) || undefined,
      schema: objectOf(fn.parameters) ?? {},
      strict: fn.strict === true,
      cache: objectOf(tool.cache_control) ?? objectOf(fn.cache_control),
    };
  });
}

/**
 * Strict tools are compiled, too. If there are more than the compiler takes, none may be strict (20
 * tools, as of 2026-11).
 */
const strictMax = 20;
function mayBeStrict(tools: readonly Tool[], format: JsonObject | undefined): boolean {
  const strict = tools.filter((tool) => tool.strict).map((tool) => tool.schema);
  return (
    strict.length > 0 &&
    strict.length <= strictMax &&
    compiles(format ? [...strict, format] : strict)
  );
}

function writeTool(tool: Tool, strict: boolean): JsonObject {
  const { name, description, schema, cache } = tool;
  const compiled = strict && tool.strict;
  return {
    name,
    ...(description === undefined ? {} : { description }),
    input_schema: compiled ? compiledSchema(rooted(schema)) : rooted(schema),
    ...(compiled ? { strict: true } : {}),
    ...(cache ? { cache_control: cache } : {}),
  };
}

const combiners = ['oneOf', 'anyOf', 'allOf'] as const;

/**
 * Gives the root the form that the vendor requires. It must be an object (recorded:
 * "input_schema.type: Field required") and may not be composed ("input_schema does not support
 * oneOf, allOf, or anyOf at the top level"): a composed root becomes one object with the members of
 * all alternatives, and its description lists them.
 */
function rooted(schema: JsonObject): JsonObject {
  if (combiners.every((name) => schema[name] === undefined))
    return schema['type'] === 'object'
      ? schema
      : { ...schema, type: 'object', properties: objectOf(schema['properties']) ?? {} };
  const { oneOf, anyOf, allOf, ...rest } = schema;
  const all: JsonObject[] = [oneOf, anyOf, allOf].flatMap((branches) => objectsOf(branches));
  const properties = Object.assign(
    {},
    ...all.map((branch) => objectOf(branch['properties'])),
    objectOf(schema['properties']),
  );
  const told = JSON.stringify({ oneOf, anyOf, allOf });
  return {
    ...rest,
    type: 'object',
    properties,
    description: [textOf(schema['description']), `Valid by ${told}.`].filter(Boolean).join(' '),
  };
}

/** Reads chat's `tool_choice`. With a list of allowed tools, the others are left out. */
function choiceOf(value: Documented<ChatRequest>['tool_choice']): {
  choice: Choice;
  allowed?: ReadonlySet<string>;
} {
  if (value === 'none' || value === 'required') return { choice: value };
  const choice = objectOf(value);
  const name = textOf(objectOf(choice?.function)?.name);
  if (name !== undefined) return { choice: { name } };
  const list = objectOf(choice?.allowed_tools);
  if (!list) return { choice: 'auto' };
  const names = listOf(list.tools).map(
    (tool) => textOf(objectOf(objectOf(tool)?.function)?.name) ?? '',
  );
  return { choice: list.mode === 'required' ? 'required' : 'auto', allowed: new Set(names) };
}

function writeChoice(choice: Choice, said: boolean, single: boolean): JsonObject | undefined {
  if (choice === 'none') return { type: 'none' };
  const alone = single ? { disable_parallel_tool_use: true } : {};
  if (choice === 'required') return { type: 'any', ...alone };
  if (choice !== 'auto') return { type: 'tool', name: choice.name, ...alone };
  return said || single ? { type: 'auto', ...alone } : undefined;
}

interface Format {
  readonly native?: JsonObject;
  readonly hidden?: JsonObject;
  readonly told: readonly string[];
  /** The schema that the vendor compiles. */
  readonly schema?: JsonObject;
}

function formatOf(body: Documented<ChatRequest>, choice: Choice, traits: ClaudeTraits): Format {
  const format = objectOf(body.response_format);
  if (format?.type === 'json_object') return { told: [jsonInstruction(undefined)] };
  if (format?.type !== 'json_schema') return { told: [] };
  const schema = objectOf(objectOf(format.json_schema)?.schema);
  if (!schema) return { told: [jsonInstruction(undefined)] };
  if (traits.structured && compiles([schema])) {
    const compiled = compiledSchema(schema);
    return { native: { type: 'json_schema', schema: compiled }, told: [], schema };
  }
  const mayForce = traits.forcing && choice !== 'required' && typeof choice !== 'object';
  const isRootObject = schema['type'] === 'object' || schema['properties'] !== undefined;
  if (mayForce && isRootObject) return { hidden: rooted(schema), told: [] };
  return { told: [jsonInstruction(schema)] };
}

/**
 * The part of JSON Schema that the compiler of structured outputs takes, as of 2026-11
 * (platform.claude.com/docs/en/build-with-claude/structured-outputs). Everything else becomes text
 * in the description: the model still reads it.
 */
const kept = new Set([
  '$id',
  '$schema',
  '$ref',
  'title',
  'description',
  'default',
  'const',
  'enum',
  'type',
  'required',
]);
const formats = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
]);
const variants: Readonly<Record<string, string>> = {
  anyOf: 'anyOf',
  oneOf: 'anyOf',
  allOf: 'allOf',
};
const maps: Readonly<Record<string, string>> = {
  properties: 'properties',
  $defs: '$defs',
  definitions: '$defs',
};
/** Members that are expressed otherwise or mean nothing to a model. */
const dropped = new Set(['additionalProperties', 'nullable', '$comment', 'examples', 'strict']);

/**
 * The schema in the form that the compiler takes: every object closed, unsupported constraints
 * written into the description.
 */
function compiledSchema(schema: JsonObject): JsonObject {
  const out: Record<string, unknown> = {};
  const told: string[] = [];
  for (const [name, value] of Object.entries(schema)) {
    const list = variants[name];
    const map = maps[name];
    if (name === '$ref') out['$ref'] = String(value).replace('#/definitions/', '#/$defs/');
    else if (kept.has(name)) out[name] = value;
    else if (list !== undefined) out[list] = listOf(value).map(compiled);
    else if (map !== undefined)
      out[map] = Object.fromEntries(
        Object.entries(objectOf(value) ?? {}).map(([key, inner]) => [key, compiled(inner)]),
      );
    else if (name === 'items') out['items'] = compiled(value);
    else if (name === 'format' && formats.has(String(value))) out['format'] = value;
    else if (!dropped.has(name))
      told.push(`${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  }
  if (isObjectType(out)) out['additionalProperties'] = false;
  if (told.length)
    out['description'] = [textOf(out['description']), `(${told.join(', ')})`]
      .filter(Boolean)
      .join(' ');
  return out;
}

const compiled = (value: unknown): unknown => (isObject(value) ? compiledSchema(value) : value);
const typesOf = (schema: JsonObject): readonly unknown[] =>
  Array.isArray(schema['type']) ? schema['type'] : [schema['type']];
const isObjectType = (schema: JsonObject): boolean =>
  typesOf(schema).includes('object') || schema['properties'] !== undefined;

/** What the compiler limits over all schemas of a request. */
interface Weight {
  readonly optional: number;
  readonly unions: number;
}
const optionalMax = 24;
const unionsMax = 16;
/** A definition that lies behind more references than this is not compiled. */
const referencesDeepMax = 100;

/**
 * What the definitions of one schema weigh, by reference. Each is weighed once, however many
 * references lead to it. Undefined: it cannot be compiled, or is being weighed, which makes it
 * recursive.
 */
type Weighed = Map<string, Weight | undefined>;

/**
 * Whether the compiler takes these schemas without a change of meaning: no recursion, no objects
 * with free names, not too many choices.
 */
function compiles(schemas: readonly JsonObject[]): boolean {
  let optional = 0;
  let unions = 0;
  for (const schema of schemas) {
    const weight = weigh(schema, schema, new Map(), 0);
    if (weight === undefined) return false;
    optional += weight.optional;
    unions += weight.unions;
  }
  return optional <= optionalMax && unions <= unionsMax;
}

/** Undefined: the schema cannot be compiled. `deep`: how many references led here. */
function weigh(
  schema: unknown,
  root: JsonObject,
  weighed: Weighed,
  deep: number,
): Weight | undefined {
  if (!isObject(schema)) return typeof schema === 'boolean' ? undefined : weightless;
  const ref = textOf(schema['$ref']);
  if (ref !== undefined) {
    if (weighed.has(ref)) return weighed.get(ref);
    weighed.set(ref, undefined);
    const target = targetOf(ref, root);
    if (target === undefined || deep === referencesDeepMax) return undefined;
    const weight = weigh(target, root, weighed, deep + 1);
    weighed.set(ref, weight);
    return weight;
  }
  if (isObjectType(schema) && !closable(schema)) return undefined;
  const properties = Object.keys(objectOf(schema['properties']) ?? {}).length;
  let optional = Math.max(0, properties - listOf(schema['required']).length);
  let unions = isUnion(schema) ? 1 : 0;
  for (const inner of innerSchemas(schema)) {
    const weight = weigh(inner, root, weighed, deep);
    if (weight === undefined) return undefined;
    optional += weight.optional;
    unions += weight.unions;
  }
  return { optional, unions };
}

const weightless: Weight = { optional: 0, unions: 0 };

const isUnion = (schema: JsonObject): boolean =>
  typesOf(schema).length > 1 || schema['anyOf'] !== undefined || schema['oneOf'] !== undefined;

/**
 * Whether an object may be closed: it may if all its names are known; a map would lose its meaning.
 */
function closable(schema: JsonObject): boolean {
  const more = schema['additionalProperties'];
  if (isObject(more) || schema['patternProperties'] !== undefined) return false;
  return schema['properties'] !== undefined || more === false;
}

function innerSchemas(schema: JsonObject): readonly unknown[] {
  const lists = Object.keys(variants).flatMap((name) => listOf(schema[name]));
  const items = schema['items'] === undefined ? [] : [schema['items']];
  return [...Object.values(objectOf(schema['properties']) ?? {}), ...lists, ...items];
}

function targetOf(ref: string, root: JsonObject): unknown {
  if (!ref.startsWith('#')) return undefined;
  let at: unknown = root;
  for (const step of ref.slice(1).split('/').filter(Boolean))
    at = objectOf(at)?.[step.replace(/~1/g, '/').replace(/~0/g, '~')];
  return at;
}
