import { type Json, list, object, text } from './json.ts';

/** CreateResponse of the OpenAPI description, 2026-08-21. */
export const responsesParameters = [
  'background context_management conversation include input instructions max_output_tokens max_tool_calls metadata model moderation parallel_tool_calls',
  'previous_response_id prompt prompt_cache_key prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier store stream',
  'stream_options temperature text tool_choice tools top_logprobs top_p truncation user',
].flatMap((line) => line.split(' '));

/** A responses request as a chat request. */
export function asChat(raw: Json): Json {
  const format = object(object(raw['text'])['format']);
  return {
    model: raw['model'],
    messages: [...instructions(raw), ...messages(raw['input'])],
    stream: raw['stream'],
    ...(raw['max_output_tokens'] === undefined
      ? {}
      : { max_completion_tokens: raw['max_output_tokens'] }),
    ...(raw['tools'] === undefined
      ? {}
      : { tools: functions(raw).map((tool) => ({ type: 'function', function: tool })) }),
    ...(raw['tool_choice'] === undefined ? {} : { tool_choice: choice(raw['tool_choice']) }),
    ...(raw['parallel_tool_calls'] === undefined
      ? {}
      : { parallel_tool_calls: raw['parallel_tool_calls'] }),
    ...(format['type'] === undefined
      ? {}
      : { response_format: { type: format['type'], json_schema: { schema: format['schema'] } } }),
    ...(object(raw['reasoning'])['effort'] === undefined
      ? {}
      : { reasoning_effort: object(raw['reasoning'])['effort'] }),
  };
}

/** Tools that the client runs; the vendor runs the others. */
const functions = (raw: Json): Json[] =>
  list(raw['tools'])
    .map(object)
    .filter(({ name, type }) => (type ?? 'function') === 'function' || name !== undefined);

const searchTool = /^web_search(?:_preview)?(?:_\d{4}_\d{2}_\d{2})?$/;

/**
 * The model's web search query: it searches when it has the tool and the prompt or `tool_choice`
 * asks for it.
 */
export function searchIn(raw: Json): string | undefined {
  const has = list(raw['tools']).some((tool) => searchTool.test(text(object(tool)['type']) ?? ''));
  const last = messages(raw['input']).at(-1);
  if (!has || raw['tool_choice'] === 'none' || last?.['role'] !== 'user') return undefined;
  const content = last['content'];
  const prompt =
    text(content) ??
    list(content)
      .map((one) => text(object(one)['text']) ?? '')
      .join(' ');
  const forced =
    raw['tool_choice'] === 'required' ||
    searchTool.test(text(object(raw['tool_choice'])['type']) ?? '');
  return forced ||
    /\b(?:search|web|news|today|latest|current|weather)\b|搜索|今天|最新|新闻|天气/i.test(prompt)
    ? prompt
    : undefined;
}

const instructions = (raw: Json): Json[] =>
  text(raw['instructions']) === undefined ? [] : [{ role: 'system', content: raw['instructions'] }];

function messages(input: unknown): Json[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  return list(input).map(object).flatMap(message);
}

function message(item: Json): Json[] {
  switch (item['type'] ?? 'message') {
    case 'message':
      return [
        {
          role: item['role'],
          content:
            typeof item['content'] === 'string'
              ? item['content']
              : list(item['content']).map(object).map(part),
        },
      ];
    case 'function_call':
      return [
        {
          role: 'assistant',
          tool_calls: [
            {
              id: item['call_id'],
              type: 'function',
              function: { name: item['name'], arguments: item['arguments'] },
            },
          ],
        },
      ];
    case 'function_call_output':
      return [{ role: 'tool', tool_call_id: item['call_id'], content: item['output'] }];
    default:
      return [];
  }
}

function part(raw: Json): Json {
  if (raw['type'] === 'input_image')
    return { type: 'image_url', image_url: { url: raw['image_url'] } };
  if (raw['type'] === 'input_file')
    return {
      type: 'file',
      file: { file_data: raw['file_data'], file_url: raw['file_url'], file_id: raw['file_id'] },
    };
  return { type: 'text', text: raw['text'] ?? raw['refusal'] };
}

const choice = (value: unknown): unknown =>
  typeof value === 'string'
    ? value
    : { type: 'function', function: { name: object(value)['name'] } };
