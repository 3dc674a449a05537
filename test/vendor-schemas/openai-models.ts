import {
  isObject,
  listOf,
  memberAt,
  objectsOf,
  refuses,
  rule,
  takes,
  type Request,
  type Rule,
} from './shape.ts';

// What each family of OpenAI's models takes, for chat and for Responses. Also Azure's, whose
// deployments carry the model's name.

const parameters =
  'OpenAI, recorded openai-0281, openai-0698; vercel/ai packages/openai capabilities, 2026-08-22';
const compatibility =
  'OpenAI, guides/latest-model#gpt-5-1-parameter-compatibility, by vercel/ai 2026-08-22; vercel/ai#10932';
const efforts =
  'OpenAI, guides/reasoning; recorded openai-0436; anomalyco/opencode#4451; wire-formats §5.2, 2026-11-21';

/** The o series. */
const series = /^o\d/;
/** gpt-5 itself, which always reasons. Its chat variant does not. */
const gpt5 = /^gpt-5(?:-(?!chat)|$)/;
const older = /^(?:gpt-3|gpt-4|chatgpt-4o|gpt-5-chat)/;
/** Where nothing is said they do not reason (5.1 to 5.4). */
const seldom = /^gpt-5\.[1-4](?:-(?!chat|codex|pro)|$)/;
/** Where nothing is said they reason (5.5 and later). */
const mostly = /^gpt-(?:5\.(?:[5-9]|\d\d)|[6-9])(?![\d-]*-?(?:chat|codex|pro))/;
export const reasoning = /^(?:o\d|gpt-5(?:-(?!chat)|$)|gpt-5\.\d|gpt-[6-9])/;

export const sampling = [
  'temperature',
  'top_p',
  'logprobs',
  'top_logprobs',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
];

/** The value that means as much as nothing is not refused. */
const neutral: Readonly<Record<string, unknown>> = {
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  logprobs: false,
};

const sampled = ({ body }: Request): string[] =>
  sampling.filter(
    (name) => body[name] !== undefined && body[name] !== null && body[name] !== neutral[name],
  );

const complain = (names: readonly string[], why: string): string[] =>
  names.map((name) => `${name}: ${why}`);

/** `effort` is where this endpoint has it. */
export function samplingRules(effort: string): readonly Rule[] {
  return [
    rule(parameters, series, (request) =>
      complain(sampled(request), 'this model refuses another value than its default'),
    ),
    rule(parameters, gpt5, (request) =>
      complain(sampled(request), 'this model refuses another value than its default'),
    ),
    rule(compatibility, seldom, (request) =>
      [undefined, null, 'none'].includes(memberAt(request.body, effort) as undefined)
        ? []
        : complain(sampled(request), 'taken with effort none alone'),
    ),
    rule(compatibility, mostly, (request) =>
      memberAt(request.body, effort) === 'none'
        ? []
        : complain(sampled(request), 'taken with effort none alone'),
    ),
  ];
}

export function effortRules(effort: string): readonly Rule[] {
  return [
    takes(series, efforts, effort, 'low', 'medium', 'high'),
    takes(gpt5, efforts, effort, 'minimal', 'low', 'medium', 'high'),
    takes(/^gpt-5\.1/, efforts, effort, 'none', 'low', 'medium', 'high'),
    takes(/^gpt-5\.[2-5]/, efforts, effort, 'none', 'low', 'medium', 'high', 'xhigh'),
    takes(/^gpt-5\.6/, efforts, effort, 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
    takes(
      /^gpt-(?:6-(?:sol|luna)|6$)/,
      efforts,
      effort,
      'none',
      'minimal',
      'low',
      'medium',
      'high',
      'xhigh',
      'max',
    ),
    takes(/^gpt-6(?:-astra|\.[12])/, efforts, effort, 'low', 'medium', 'high', 'xhigh', 'max'),
    refuses(
      older,
      'OpenAI: "Unrecognized request argument supplied: reasoning_effort"; openai/openai-openapi 2026-08-21',
      effort,
    ),
  ];
}

/** `verbosity` has one value with models before gpt-5. */
export const verbosityRule = (member: string): Rule =>
  takes(
    older,
    'OpenAI, api-reference/chat verbosity: low and high from gpt-5 on',
    member,
    'medium',
  );

/** A strict function or format is a closed object all of whose members are required. */
export const strictSchemas = (
  found: (request: Request) => readonly (readonly [at: string, schema: unknown])[],
): Rule =>
  rule(
    'OpenAI, guides/structured-outputs; recorded openai-0435, openai-0753',
    undefined,
    (request) => found(request).flatMap(([at, schema]) => openObjects(schema, at)),
  );

function openObjects(schema: unknown, at: string): string[] {
  if (Array.isArray(schema))
    return schema.flatMap((one, index) => openObjects(one, `${at}[${index}]`));
  if (schema === undefined || schema === null)
    return at.endsWith('parameters') ? [`${at}: strict, and there is no schema`] : [];
  if (!isObject(schema)) return [];
  const own: string[] = [];
  const properties = isObject(schema['properties']) ? Object.keys(schema['properties']) : [];
  if (schema['type'] === 'object' && schema['additionalProperties'] !== false)
    own.push(`${at}: strict, and additionalProperties is not false`);
  const missing = properties.filter((name) => !listOf(schema['required']).includes(name));
  if (missing.length > 0) own.push(`${at}: strict, and ${missing.join(', ')} not required`);
  const below = ['items', 'anyOf'].flatMap((name) => openObjects(schema[name], `${at}.${name}`));
  const named = ['properties', '$defs', 'definitions'].flatMap((name) =>
    isObject(schema[name])
      ? Object.entries(schema[name]).flatMap(([key, one]) =>
          openObjects(one, `${at}.${name}.${key}`),
        )
      : [],
  );
  return [...own, ...below, ...named];
}

export const strictFunctions = ({ body }: Request): (readonly [string, unknown])[] =>
  objectsOf(body['tools']).flatMap((tool, index) => {
    const made = isObject(tool['function']) && tool['name'] === undefined ? tool['function'] : tool;
    return made['strict'] === true
      ? [[`tools[${index}].parameters`, made['parameters']] as const]
      : [];
  });
