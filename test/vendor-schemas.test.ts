import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { recordedRequests, recordingsFolder, type RecordedRequest } from './recorded-traffic.ts';
import { endpointOf, vendorsHeld, violations } from './vendor-schemas/index.ts';
import { chatMembers } from './vendor-schemas/openai.ts';
import { responsesMembers } from './vendor-schemas/responses.ts';
import { messagesMembers } from './vendor-schemas/anthropic.ts';

// The strict tables of what vendors take, held against what vendors took: a table that refuses what
// was accepted is wrong, and so is one that lets pass what was refused for a member's sake.

/**
 * A refusal that says nothing of the request's members: another key, an unknown model, too much
 * text, a file that cannot be had.
 */
const otherCauses =
  /model_not_found|decommissioned|does not exist|not supported with the Responses API|API[ _]key|is not a valid model|not found|Invalid model|model identifier is invalid|supported API model names|Test error|maximum length|too (?:long|many tokens)|size limit|exceeds the available context|downloading|fetch content|unsupported_file|Invalid file data|on-demand throughput|tool_use_failed|end of its life/i;

/** Refused by the model behind the house, for reasons of its own that no document tells. */
const undocumented = new Set(['azure-0191', 'bedrock-0229', 'bedrock-0233', 'gemini-0565']);

const modelOf = ({ url, body }: RecordedRequest): string =>
  /\/models?\/([^/:]+(?::\d)?)[:/]/.exec(decodeURIComponent(url))?.[1] ??
  (typeof body['model'] === 'string' ? body['model'] : '');

const told = (one: RecordedRequest): string[] =>
  violations(one.vendor, one.url, modelOf(one), one.headers, one.body);

const recorded = recordingsFolder === undefined ? [] : recordedRequests(recordingsFolder);
const covered = recorded.filter(({ vendor, url }) => endpointOf(vendor, url) !== undefined);

describe.skipIf(recordingsFolder === undefined)(
  'the tables of what vendors take, and recorded requests',
  () => {
    it.each(vendorsHeld)('hold every recorded request that %s accepted', (vendor) => {
      const accepted = covered.filter((one) => one.vendor === vendor && one.status < 300);
      expect(
        accepted.flatMap((one) => told(one).map((complaint) => `${one.id} ${complaint}`)),
      ).toEqual([]);
    });

    it('see what is wrong with each recorded request that was refused for a member’s sake', () => {
      const refused = covered.filter(
        ({ id, status, reply }) =>
          (status === 400 || status === 422) && !otherCauses.test(reply) && !undocumented.has(id),
      );
      expect(refused.length).toBeGreaterThan(30);
      expect(
        refused
          .filter((one) => told(one).length === 0)
          .map(({ id, reply }) => `${id} ${reply.slice(0, 160)}`),
      ).toEqual([]);
    });

    it('know each member of a request that another vendor’s client adds', () => {
      const missed = vendorsHeld.flatMap((vendor) => {
        const one = covered.find(
          (request) =>
            request.vendor === vendor && request.status < 300 && told(request).length === 0,
        );
        if (one === undefined) return [];
        const more = { ...one.body, member_of_another_vendor: 1 };
        return violations(vendor, one.url, modelOf(one), one.headers, more).length === 0
          ? [vendor]
          : [];
      });
      expect(missed).toEqual([]);
    });

    it('find each corruption of an accepted request', () => {
      const kinds: Record<string, (body: Record<string, unknown>) => Record<string, unknown>> = {
        'a limit that is no number': (body) => ({
          ...body,
          max_tokens: 'many',
          max_output_tokens: 'many',
          generationConfig: { maxOutputTokens: 'many' },
          inferenceConfig: { maxTokens: 'many' },
        }),
        'messages that are no list': (body) => ({
          ...body,
          messages: 'hello',
          input: 7,
          contents: 'hello',
        }),
        'a role of nobody': (body) => ({
          ...body,
          ...(Array.isArray(body['messages']) && {
            messages: [{ role: 'narrator', content: 'x' }],
          }),
          ...(body['input'] !== undefined && { input: [{ role: 'narrator', content: 'x' }] }),
          ...(Array.isArray(body['contents']) && {
            contents: [{ role: 'narrator', parts: [{ text: 'x' }] }],
          }),
        }),
      };
      const sample = covered.filter(
        (one, index) => one.status < 300 && index % 7 === 0 && !/embed/i.test(one.url),
      );
      const missed = sample.flatMap((one) =>
        Object.entries(kinds).flatMap(([kind, spoilt]) =>
          told({ ...one, body: spoilt({ ...one.body }) }).length === 0
            ? [`${one.id}: ${kind}`]
            : [],
        ),
      );
      expect(missed).toEqual([]);
    });
  },
);

const chat = (vendor: string, model: string, more: object): string[] =>
  violations(
    vendor,
    '/v1/chat/completions',
    model,
    {},
    { model, messages: [{ role: 'user', content: 'Hi' }], ...more },
  );
const afterReasoning = (member: string): object => ({
  messages: [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'a', [member]: 'b' },
    { role: 'user', content: 'So?' },
  ],
});

describe('what one model of a vendor takes and another does not', () => {
  it.each<[string, string, object, object]>([
    ['openai', 'o3', { stop: ['x'] }, { max_completion_tokens: 5 }],
    ['openai', 'o4-mini', { tools: [], parallel_tool_calls: false }, { reasoning_effort: 'low' }],
    ['openai', 'gpt-5', { temperature: 0.2 }, { temperature: 1 }],
    ['openai', 'gpt-5', { reasoning_effort: 'none' }, { reasoning_effort: 'minimal' }],
    ['openai', 'gpt-5.4', { temperature: 0.2, reasoning_effort: 'low' }, { temperature: 0.2 }],
    ['openai', 'gpt-5.5', { temperature: 0.2 }, { temperature: 0.2, reasoning_effort: 'none' }],
    ['openai', 'gpt-4o', { reasoning_effort: 'low' }, { temperature: 0.2, stop: 'x' }],
    ['openai', 'gpt-4o', { stop: ['a', 'b', 'c', 'd', 'e'] }, { stop: ['a', 'b', 'c', 'd'] }],
    ['groq', 'qwen/qwen3-32b', { reasoning_effort: 'low' }, { reasoning_effort: 'default' }],
    ['groq', 'openai/gpt-oss-120b', { reasoning_effort: 'none' }, { reasoning_effort: 'low' }],
    [
      'groq',
      'llama-3.3-70b-versatile',
      { response_format: { type: 'json_schema', json_schema: { name: 'a', schema: {} } } },
      { response_format: { type: 'json_object' } },
    ],
    [
      'groq',
      'openai/gpt-oss-120b',
      afterReasoning('reasoning_content'),
      afterReasoning('reasoning'),
    ],
    ['cerebras', 'gpt-oss-120b', afterReasoning('reasoning_content'), afterReasoning('reasoning')],
    [
      'mistral',
      'magistral-medium-latest',
      afterReasoning('reasoning_content'),
      { reasoning_effort: 'high' },
    ],
    [
      'deepseek',
      'deepseek-v4-flash',
      { response_format: { type: 'json_schema', json_schema: { name: 'a', schema: {} } } },
      { response_format: { type: 'json_object' } },
    ],
    ['xai', 'grok-4.3', { stop: ['x'] }, { reasoning_effort: 'none' }],
    ['xai', 'grok-4-fast', { reasoning_effort: 'low' }, { temperature: 0.2 }],
    ['moonshot', 'kimi-k2.6', { temperature: 0.6 }, { max_tokens: 9 }],
    [
      'zhipu',
      'glm-5',
      { response_format: { type: 'json_schema', json_schema: { name: 'a', schema: {} } } },
      { thinking: { type: 'disabled' } },
    ],
    [
      'perplexity',
      'sonar',
      { tools: [{ type: 'function', function: { name: 'f' } }] },
      { search_mode: 'web' },
    ],
  ])('%s %s refuses %j and takes %j', (vendor, model, refused, taken) => {
    expect(chat(vendor, model, refused)).not.toEqual([]);
    expect(chat(vendor, model, taken)).toEqual([]);
  });
});

const specs = fileURLToPath(new URL('../../shared/specs/', import.meta.url));

describe.skipIf(!existsSync(specs))(
  'the tables and the definitions that lie beside recorded traffic',
  () => {
    interface Described {
      readonly $ref?: string;
      readonly allOf?: readonly Described[];
      readonly properties?: Readonly<Record<string, unknown>>;
    }
    const definition = (file: string): Readonly<Record<string, Described>> =>
      parse(readFileSync(specs + file, 'utf8'), { maxAliasCount: -1 }).components.schemas;
    const members = (
      all: Readonly<Record<string, Described>>,
      one: Described | undefined,
    ): string[] => {
      const whole = one?.$ref === undefined ? one : all[one.$ref.split('/').at(-1) ?? ''];
      return [
        ...Object.keys(whole?.properties ?? {}),
        ...(whole?.allOf ?? []).flatMap((part) => members(all, part)),
      ];
    };
    /** Documented elsewhere since the definitions were written. */
    const newer = new Set(['fallbacks']);
    it.each([
      ['openai-openapi.yaml', 'CreateChatCompletionRequest', chatMembers, []],
      ['openai-openapi.yaml', 'CreateResponse', responsesMembers, []],
      ['anthropic-openapi.yaml', 'BetaCreateMessageParams', messagesMembers, ['model']],
    ] as const)('have the same members: %s %s', (file, name, table, elsewhere) => {
      const all = definition(file);
      expect(
        Object.keys(table)
          .filter((member) => !newer.has(member))
          .toSorted(),
      ).toEqual(
        [...new Set(members(all, all[name]))]
          .filter((member) => !(elsewhere as readonly string[]).includes(member))
          .toSorted(),
      );
    });
  },
);
