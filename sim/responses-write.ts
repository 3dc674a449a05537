import type { Answer, Choice } from './answer.ts';
import type { Dialect } from './dialect.ts';
import { type Json, list, object } from './json.ts';
import { searchIn } from './responses-request.ts';
import type { StreamEvent } from './write.ts';

type Item = Record<string, unknown>;

/** The beginning of what the vendor seals; OpenAI's begins with the version and a time. */
export const sealHeadOf = ({ sealHead = 'gAAAA' }: Dialect): string => sealHead;

/** The answer as a response object. */
export function responseBody(answer: Answer, raw: Json, dialect: Dialect): Json {
  const [choice] = answer.choices;
  return frame(
    answer,
    raw,
    choice === undefined ? [] : itemsOf(choice, answer, raw, sealHeadOf(dialect)),
    choice?.finish === 'length' ? 'incomplete' : 'completed',
  );
}

function frame(answer: Answer, raw: Json, output: readonly Item[], status: string): Json {
  const { prompt, cached, completion, reasoning } = answer.usage;
  const ended = status !== 'in_progress';
  return {
    id: `resp_${answer.id}`,
    object: 'response',
    created_at: answer.created,
    status,
    background: false,
    billing: { payer: 'developer' },
    completed_at: status === 'completed' ? answer.created : null,
    error: null,
    frequency_penalty: 0,
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    instructions: raw['instructions'] ?? null,
    max_output_tokens: raw['max_output_tokens'] ?? null,
    max_tool_calls: null,
    model: answer.model,
    output,
    parallel_tool_calls: raw['parallel_tool_calls'] ?? true,
    presence_penalty: 0,
    previous_response_id: null,
    prompt_cache_key: raw['prompt_cache_key'] ?? null,
    reasoning: {
      effort: object(raw['reasoning'])['effort'] ?? null,
      summary: object(raw['reasoning'])['summary'] ?? null,
    },
    safety_identifier: raw['safety_identifier'] ?? null,
    service_tier: 'default',
    store: raw['store'] ?? true,
    temperature: raw['temperature'] ?? 1,
    text: {
      verbosity: 'medium',
      ...object(raw['text']),
      format: format(object(object(raw['text'])['format'])),
    },
    tool_choice: raw['tool_choice'] ?? 'auto',
    tools: list(raw['tools']).map((tool) => ({ description: null, strict: true, ...object(tool) })),
    top_logprobs: 0,
    top_p: raw['top_p'] ?? 1,
    truncation: 'disabled',
    usage:
      ended && answer.usageReported
        ? {
            input_tokens: prompt,
            input_tokens_details: { cached_tokens: cached },
            output_tokens: completion,
            output_tokens_details: { reasoning_tokens: reasoning },
            total_tokens: prompt + completion,
          }
        : null,
    user: null,
    metadata: raw['metadata'] ?? {},
  };
}

function itemsOf(choice: Choice, answer: Answer, raw: Json, sealHead: string): Item[] {
  const items: Item[] = [];
  const id = (kind: string): string => `${kind}_${answer.id}${items.length}`;
  const status = choice.finish === 'length' ? 'incomplete' : 'completed';
  if (choice.reasoning.length > 0) {
    const summarized = object(raw['reasoning'])['summary'] != null;
    const sealed = list(raw['include']).includes('reasoning.encrypted_content');
    items.push({
      id: id('rs'),
      type: 'reasoning',
      summary: summarized ? [{ type: 'summary_text', text: choice.reasoning.join('') }] : [],
      ...(sealed
        ? {
            encrypted_content: `${sealHead}${Buffer.from(choice.reasoning.join('')).toString('base64url')}`,
          }
        : {}),
    });
  }
  const search = choice.calls.length === 0 ? searchIn(raw) : undefined;
  if (search !== undefined)
    items.push({
      id: id('ws'),
      type: 'web_search_call',
      status: 'completed',
      action: { type: 'search', query: search },
    });
  if (choice.calls.length === 0)
    items.push({
      id: id('msg'),
      type: 'message',
      status,
      content: [
        {
          type: 'output_text',
          annotations: citations(search, choice),
          logprobs: [],
          text: choice.text.join(''),
        },
      ],
      role: 'assistant',
    });
  for (const call of choice.calls)
    items.push({
      id: id('fc'),
      type: 'function_call',
      status,
      arguments: call.arguments.join(''),
      call_id: call.id,
      name: call.name,
    });
  return items;
}

/** A citation of the page that the search found, on the first word. */
function citations(search: string | undefined, { text }: Choice): Json[] {
  const end = text.join('').search(/\s|$/);
  return search === undefined
    ? []
    : [
        {
          type: 'url_citation',
          start_index: 0,
          end_index: end,
          title: 'Example',
          url: 'https://example.com/',
        },
      ];
}

/** The answer as a stream, in recorded order. */
export function* responseEvents(
  answer: Answer,
  raw: Json,
  dialect: Dialect,
): Generator<StreamEvent> {
  let number = 0;
  const event = (type: string, members: Json, flags: Partial<StreamEvent> = {}): StreamEvent => ({
    text: `event: ${type}\ndata: ${JSON.stringify({ type, ...members, sequence_number: number++ })}\n\n`,
    piece: false,
    ends: false,
    ...flags,
  });
  yield event('response.created', { response: frame(answer, raw, [], 'in_progress') });
  yield event('response.in_progress', { response: frame(answer, raw, [], 'in_progress') });
  const whole = responseBody(answer, raw, dialect);
  const [choice] = answer.choices;
  let calls = 0;
  for (const [index, value] of list(whole['output']).entries()) {
    const item = object(value);
    const at = { item_id: item['id'], output_index: index };
    const bare = {
      ...item,
      ...(item['type'] === 'reasoning' ? { summary: [] } : { status: 'in_progress' }),
    };
    const empty =
      item['type'] === 'message'
        ? { content: [] }
        : item['type'] === 'function_call'
          ? { arguments: '' }
          : {};
    yield event('response.output_item.added', { item: { ...bare, ...empty }, output_index: index });
    if (item['type'] === 'reasoning')
      for (const [type, members, piece] of summaryEvents(item, choice))
        yield event(type, { ...at, summary_index: 0, ...members }, { piece });
    if (item['type'] === 'web_search_call')
      for (const step of ['in_progress', 'searching', 'completed'])
        yield event(`response.web_search_call.${step}`, at);
    if (item['type'] === 'message')
      for (const [type, members, piece] of textEvents(
        choice,
        object(list(item['content'])[0])['annotations'],
      ))
        yield event(type, { ...at, content_index: 0, ...members }, { piece });
    if (item['type'] === 'function_call') {
      for (const delta of choice?.calls[calls++]?.arguments ?? [])
        yield event(
          'response.function_call_arguments.delta',
          { ...at, delta, obfuscation: 'ab' },
          { piece: true },
        );
      yield event('response.function_call_arguments.done', {
        ...at,
        arguments: item['arguments'],
        name: item['name'],
      });
    }
    yield event('response.output_item.done', { item, output_index: index });
  }
  yield event(`response.${String(whole['status'])}`, { response: whole }, { ends: true });
}

type Written = readonly [type: string, members: Json, piece: boolean];

function* summaryEvents(item: Json, choice: Choice | undefined): Generator<Written> {
  const part = object(list(item['summary'])[0]);
  if (part['text'] === undefined) return;
  yield [
    'response.reasoning_summary_part.added',
    { part: { type: 'summary_text', text: '' } },
    false,
  ];
  for (const delta of choice?.reasoning ?? [])
    yield ['response.reasoning_summary_text.delta', { delta, obfuscation: 'abc' }, true];
  yield ['response.reasoning_summary_text.done', { text: part['text'] }, false];
  yield ['response.reasoning_summary_part.done', { part }, false];
}

function* textEvents(choice: Choice | undefined, cited: unknown): Generator<Written> {
  const part = { type: 'output_text', annotations: [], logprobs: [] };
  const text = choice?.text.join('') ?? '';
  yield ['response.content_part.added', { part: { ...part, text: '' } }, false];
  for (const delta of choice?.text ?? [])
    yield ['response.output_text.delta', { delta, logprobs: [], obfuscation: 'a' }, true];
  for (const [i, annotation] of list(cited).entries())
    yield ['response.output_text.annotation.added', { annotation_index: i, annotation }, false];
  yield ['response.output_text.done', { text, logprobs: [] }, false];
  yield ['response.content_part.done', { part: { ...part, annotations: cited, text } }, false];
}

/** Recorded: the response fills in members that the request's format left out. */
const format = (requested: Json): Json =>
  requested['type'] === 'json_schema'
    ? { description: null, strict: false, ...requested }
    : { type: 'text', ...requested };
