import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Measure, measures, type Quantities } from '../src/base/quantities.ts';
import { Refusal } from '../src/base/refusal.ts';
import type { PricingFacts } from '../src/providers/adapter.ts';
import { billableFeatures } from '../src/providers/billable-features.ts';
import { anthropicNative } from '../src/providers/formats/anthropic-messages/native.ts';
import { isFault } from '../src/providers/formats/fault.ts';
import { openaiResponses } from '../src/providers/formats/openai-responses/adapter.ts';
import { type Recording, recordingsAt, recordingsFolder } from './recorded-traffic.ts';
import { callAs, play } from './replay.ts';

/**
 * Every member by which a request can say something is known: free (it changes no price but by the
 * tokens that are counted), priced (it has its own price, and is refused without one) or refused
 * (whatever the price says). Each priced and refused one has a sample.
 */
type Known = 'free' | { readonly priced: unknown } | { readonly refused: unknown };
type Kinds = Readonly<Record<string, Known>>;

const free = (names: string): Kinds =>
  Object.fromEntries(names.split(/\s+/).map((name) => [name, 'free' as const]));
const priced = (sample: unknown): Known => ({ priced: sample });
const refused = (sample: unknown): Known => ({ refused: sample });
const search = [{ type: 'web_search' }];

const known: Readonly<
  Record<'chat' | 'completions' | 'responses' | 'compact' | 'messages', Kinds>
> = {
  chat: {
    ...free(
      `model messages metadata temperature top_p top_logprobs logprobs user safety_identifier prompt_cache_key prompt_cache_retention
       prompt_cache_options modalities verbosity reasoning_effort max_completion_tokens max_tokens frequency_penalty presence_penalty
       response_format audio store moderation stream stream_options stop logit_bias n prediction seed tool_choice parallel_tool_calls
       function_call functions echo grammar include_reasoning json_schema min_p random_seed reasoning reasoning_format
       repetition_penalty safe_prompt safety_model thinking top_k transforms usage`,
    ),
    // Which of a model's hosts serves it: the operator's price is that of the dearest that the
    // channel's account allows.
    provider: 'free',
    // Whether and where Groq's compound models search; they always may, and their price has it.
    search_settings: 'free',
    service_tier: priced('priority'),
    tools: priced(search),
    web_search_options: priced({}),
    search_context_size: priced('high'),
    venice_parameters: priced({ enable_web_search: 'on' }),
    models: refused(['another']),
  },
  completions: {
    ...free(
      `model prompt best_of echo frequency_penalty logit_bias logprobs max_tokens n presence_penalty seed stop stream stream_options
       suffix temperature top_p user agent_id max_tokens_to_sample messages min_p repetition_penalty response_format safety_model
       tool_choice top_k variables`,
    ),
    // The endpoint's models call no tools; Mistral's agents bring their own.
    tools: 'free',
  },
  responses: {
    ...free(
      `model metadata top_logprobs temperature top_p user safety_identifier prompt_cache_key prompt_cache_retention
       prompt_cache_options previous_response_id background max_tool_calls text tool_choice truncation reasoning input include
       parallel_tool_calls store instructions moderation stream stream_options max_output_tokens provider`,
    ),
    // Counted in the response's own usage.
    context_management: 'free',
    // Refused by the endpoint itself: nothing is kept at the vendor.
    conversation: 'free',
    service_tier: priced('priority'),
    tools: priced(search),
    prompt: refused({ id: 'pmpt_1' }),
  },
  compact: {
    ...free(
      'model input previous_response_id instructions prompt_cache_key prompt_cache_retention prompt_cache_options',
    ),
    service_tier: priced('priority'),
  },
  messages: {
    ...free(
      `model messages cache_control max_tokens metadata output_config output_format stop_sequences stream system temperature thinking
       tool_choice top_k top_p user_profile_id anthropic_version role content`,
    ),
    context_management: priced({ edits: [{ type: 'compact_20260112' }] }),
    inference_geo: priced('us'),
    mcp_servers: priced([{ type: 'url', url: 'https://example.com', name: 'x' }]),
    service_tier: priced('priority'),
    speed: priced('fast'),
    tools: priced([{ type: 'web_search_20250305', name: 'web_search' }]),
    container: refused('container_1'),
  },
};
type Capability = keyof typeof known;

/** How a request that says this is taken. */
function taken(
  capability: string,
  body: Readonly<Record<string, unknown>>,
): 'free' | 'priced' | 'refused' {
  try {
    return billableFeatures(capability, body, 'm') === undefined ? 'free' : 'priced';
  } catch (error) {
    if (error instanceof Refusal) return 'refused';
    throw error;
  }
}

describe('each member that is known', () => {
  const rows = Object.entries(known).flatMap(([capability, kinds]) =>
    Object.entries(kinds).map(([name, kind]) => [capability, name, kind] as const),
  );
  it.each(rows)('of %s is taken as what it is: %s', (capability, name, kind) => {
    if (kind === 'free')
      return expect(taken(capability, { model: 'm', [name]: 'anything' })).toBe('free');
    const [[word, sample] = ['', undefined]] = Object.entries(kind);
    return expect(taken(capability, { model: 'm', [name]: sample })).toBe(word);
  });
});

const specs = fileURLToPath(new URL('../../shared/specs/', import.meta.url));

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
}

function open(file: string): Readonly<Record<string, Schema>> {
  const description: {
    readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  } = parse(readFileSync(specs + file, 'utf8'));
  return description.components.schemas;
}

const nameOf = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

function propertiesOf(
  schemas: Readonly<Record<string, Schema>>,
  schema: Schema,
): Readonly<Record<string, Schema>> {
  if (schema.$ref !== undefined) return propertiesOf(schemas, schemas[nameOf(schema.$ref)] ?? {});
  return Object.assign(
    {},
    ...(schema.allOf ?? []).map((part) => propertiesOf(schemas, part)),
    schema.properties,
  );
}

/** The values of `type` of everything that stands in a list of tools. */
function toolTypes(
  schemas: Readonly<Record<string, Schema>>,
  schema: Schema,
  seen = new Set<string>(),
): readonly string[] {
  if (schema.$ref !== undefined) {
    if (seen.has(schema.$ref)) return [];
    seen.add(schema.$ref);
    return toolTypes(schemas, schemas[nameOf(schema.$ref)] ?? {}, seen);
  }
  const { type } = propertiesOf(schemas, schema);
  const own = [
    type?.const,
    ...(type?.enum ?? []),
    ...(type?.anyOf ?? []).flatMap((one) => [one.const, ...(one.enum ?? [])]),
  ];
  const inner = [
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...(schema.items ? [schema.items] : []),
  ];
  return [
    ...own.filter((value) => typeof value === 'string'),
    ...inner.flatMap((one) => toolTypes(schemas, one, seen)),
  ];
}

const definitions: readonly (readonly [Capability, string, string])[] = [
  ['chat', 'openai-openapi.yaml', 'CreateChatCompletionRequest'],
  ['completions', 'openai-openapi.yaml', 'CreateCompletionRequest'],
  ['responses', 'openai-openapi.yaml', 'CreateResponse'],
  ['compact', 'openai-openapi.yaml', 'CompactResponseMethodPublicBody'],
  ['messages', 'anthropic-openapi.yaml', 'CreateMessageParams'],
  ['messages', 'anthropic-openapi.yaml', 'BetaCreateMessageParams'],
];

/**
 * Tools of the definitions: what runs at the client or only holds others is free; the rest has a
 * price.
 */
const freeTools =
  /^(function|custom|apply_patch|local_shell|computer(_use(_preview)?)?|tool_search|namespace)$|^(bash|text_editor|computer|memory)_\d+$|^tool_search_tool_/;

describe.skipIf(!existsSync(specs))('the vendors’ definitions', () => {
  const read = new Map<string, Readonly<Record<string, Schema>>>();
  const schemasOf = (file: string) => {
    const schemas = read.get(file) ?? open(file);
    read.set(file, schemas);
    return schemas;
  };

  it.each(definitions)(
    'name no member of %s (%s, %s) that is not known',
    (capability, file, name) => {
      const schemas = schemasOf(file);
      const members = Object.keys(propertiesOf(schemas, schemas[name] ?? {}));
      expect(members.length).toBeGreaterThan(5);
      expect(members.filter((member) => known[capability][member] === undefined)).toEqual([]);
    },
    120_000,
  );

  it.each(
    definitions.filter(([capability]) => capability !== 'completions' && capability !== 'compact'),
  )(
    'name no tool of %s (%s, %s) that is taken for another',
    (capability, file, name) => {
      const schemas = schemasOf(file);
      const tools = propertiesOf(schemas, schemas[name] ?? {})['tools'] ?? {};
      const types = [...new Set(toolTypes(schemas, tools))];
      expect(types.length).toBeGreaterThan(0);
      for (const type of types) {
        const tool = { type, name: 'x', model: 'another', mcp_server_name: 'x' };
        expect(taken(capability, { model: 'm', tools: [tool] }), type).toBe(
          freeTools.test(type) ? 'free' : 'priced',
        );
      }
    },
    120_000,
  );

  it('name no service tier that passes as the standard one unless it is', () => {
    const tiers = (schemasOf('openai-openapi.yaml')['ServiceTier']?.anyOf ?? []).flatMap(
      (one) => one.enum ?? [],
    );
    expect(tiers).toContain('flex');
    for (const tier of tiers)
      expect(taken('chat', { service_tier: tier }), String(tier)).toBe(
        tier === 'auto' || tier === 'default' ? 'free' : 'priced',
      );
  }, 120_000);
});

const endpoints = {
  chat: 'chat',
  completion: 'completions',
  responses: 'responses',
  messages: 'messages',
} as const;

describe.skipIf(recordingsFolder === undefined)('all recordings', () => {
  const recorded = (endpoint: string): readonly Recording[] =>
    recordingsFolder === undefined ? [] : recordingsAt(recordingsFolder, endpoint);

  it.each(Object.entries(endpoints))(
    'of %s say nothing that is not known, and nothing by accident',
    (endpoint, capability) => {
      const unknown = new Set<string>();
      for (const { request } of recorded(endpoint)) {
        for (const member of Object.keys(request ?? {}))
          if (known[capability][member] === undefined) unknown.add(member);
        if (request !== undefined) taken(capability, request);
      }
      expect([...unknown]).toEqual([]);
    },
  );

  it('of messages are charged for all that their usage tells, iteration by iteration', () => {
    const adapter = anthropicNative();
    let judged = 0;
    for (const recording of recorded('messages')) {
      if (
        recording.status >= 400 ||
        recording.vendor === 'openai' ||
        !Array.isArray(recording.request?.['messages'])
      )
        continue;
      const got = readBy(adapter, recording);
      if (got === undefined) continue;
      const usage = lastUsage(recording.reply.toString('utf8'));
      expect(sumOf(got, tokensOnly), recording.id).toEqual(messagesTold(usage));
      expect(got.quantities.web_search ?? 0, recording.id).toBe(
        Number(objectOf(usage['server_tool_use'])['web_search_requests'] ?? 0),
      );
      judged += 1;
    }
    expect(judged).toBeGreaterThan(400);
  });

  it('of responses are charged for all that their usage and the usage of their tools tell', () => {
    const adapter = openaiResponses();
    let [judged, searches, painted] = [0, 0, 0];
    for (const recording of recorded('responses')) {
      if (recording.status >= 400) continue;
      const got = readBy(adapter, recording);
      const response = lastResponse(recording.reply.toString('utf8'));
      const usage = objectOf(response['usage']);
      if (got === undefined || usage['input_tokens'] === undefined) continue;
      const image = objectOf(objectOf(response['tool_usage'])['image_gen']);
      const of = (name: string): number => Number(usage[name] ?? 0) + Number(image[name] ?? 0);
      const total = Object.values(sumOf(got, tokensOnly)).reduce((sum, count) => sum + count, 0);
      // xAI leaves reasoning out of its output on some models: never less than it tells.
      expect(total, recording.id).toBeGreaterThanOrEqual(of('input_tokens') + of('output_tokens'));
      const told = Number(
        objectOf(objectOf(response['tool_usage'])['web_search'])['num_requests'] ?? 0,
      );
      expect(got.quantities.web_search ?? 0, recording.id).toBeGreaterThanOrEqual(told);
      judged += 1;
      searches += got.quantities.web_search ?? 0;
      painted += got.told?.items?.length ?? 0;
    }
    expect(judged).toBeGreaterThan(500);
    expect(searches).toBeGreaterThan(10);
    expect(painted).toBeGreaterThan(0);
  });
});

interface Got {
  readonly quantities: Quantities;
  readonly told: PricingFacts | undefined;
}

/** What an adapter tells of a recorded answer; undefined where it is none, or has no usage. */
function readBy(
  adapter: ReturnType<typeof anthropicNative>,
  recording: Recording,
): Got | undefined {
  const call = callAs(recording, { ...recording.request, model: 'm' }, 'up');
  if (recording.streamed) {
    const { meter } = play(adapter, call, [recording.reply]);
    return meter.fault !== undefined || meter.quantities === undefined
      ? undefined
      : { quantities: meter.quantities, told: meter.pricingFacts };
  }
  const answer = adapter.read(recording.reply, 'application/json', call);
  return isFault(answer) || answer.quantities === undefined
    ? undefined
    : { quantities: answer.quantities, told: answer.pricingFacts };
}

const tokensOnly: readonly Measure[] = measures.slice(0, measures.indexOf('image'));

/**
 * What is charged: the items where there are some, else the answer's own. Pieces beside tokens are
 * left out.
 */
function sumOf({ quantities, told }: Got, of: readonly Measure[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const item of told?.items?.map((one) => one.quantities) ?? [quantities])
    for (const measure of of)
      if ((item[measure] ?? 0) > 0) sum[measure] = (sum[measure] ?? 0) + (item[measure] ?? 0);
  for (const measure of of)
    expect(quantities[measure] ?? 0, 'the record tells what is charged').toBe(sum[measure] ?? 0);
  return sum;
}

const objectOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {};

/**
 * Anthropic's usage, read once more and otherwise: all iterations where they are told, else the
 * top.
 */
function messagesTold(usage: Readonly<Record<string, unknown>>): Record<string, number> {
  const iterations = Array.isArray(usage['iterations']) ? usage['iterations'].map(objectOf) : [];
  const parts = iterations.length > 1 ? iterations : [usage];
  const sum: Record<string, number> = {};
  const add = (measure: Measure, count: number): void => {
    if (count > 0) sum[measure] = (sum[measure] ?? 0) + count;
  };
  for (const part of parts) {
    const hour = Number(objectOf(part['cache_creation'])['ephemeral_1h_input_tokens'] ?? 0);
    add('input', Number(part['input_tokens'] ?? 0));
    add('cached_input', Number(part['cache_read_input_tokens'] ?? 0));
    add('cache_write_1h', hour);
    add('cache_write_5m', Number(part['cache_creation_input_tokens'] ?? 0) - hour);
    add('output', Number(part['output_tokens'] ?? 0));
  }
  const thought = Number(objectOf(usage['output_tokens_details'])['thinking_tokens'] ?? 0);
  add('reasoning', thought);
  if (thought > 0) sum['output'] = (sum['output'] ?? 0) - thought;
  if (sum['output'] === 0) delete sum['output'];
  return sum;
}

const dataOf = (text: string): readonly Readonly<Record<string, unknown>>[] =>
  [...text.matchAll(/^data: ?(\{.*\})\r?$/gm)].map(([, json = '{}']) => objectOf(JSON.parse(json)));

/** The usage of a whole message, or of a stream's start and its last word together. */
function lastUsage(text: string): Readonly<Record<string, unknown>> {
  if (text.trimStart().startsWith('{')) return objectOf(objectOf(JSON.parse(text))['usage']);
  const all = dataOf(text).map((data) =>
    objectOf(data['usage'] ?? objectOf(data['message'])['usage']),
  );
  return all.reduce(
    (sum, one) => ({
      ...sum,
      ...Object.fromEntries(Object.entries(one).filter(([, value]) => value !== null)),
    }),
    {},
  );
}

function lastResponse(text: string): Readonly<Record<string, unknown>> {
  if (text.trimStart().startsWith('{')) return objectOf(JSON.parse(text));
  return objectOf(
    dataOf(text).findLast(({ response }) => objectOf(response)['usage'] != null)?.['response'],
  );
}
