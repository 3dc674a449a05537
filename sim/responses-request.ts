import { type Json, list, object, text } from './json.ts';

/** CreateResponse of the OpenAPI description, 2026-08-21. */
export const responsesParameters = [
  'background context_management conversation include input instructions max_output_tokens max_tool_calls metadata model moderation parallel_tool_calls',
  'previous_response_id prompt prompt_cache_key prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier store stream',
  'stream_options temperature text tool_choice tools top_logprobs top_p truncation user',
].flatMap((line) => line.split(' '));

/** What a model is asked, whichever endpoint it is asked at: the request in chat's words. */
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
      : { tools: list(raw['tools']).map((tool) => ({ type: 'function', function: tool })) }),
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
  return { type: 'text', text: raw['text'] ?? raw['refusal'] };
}

const choice = (value: unknown): unknown =>
  typeof value === 'string'
    ? value
    : { type: 'function', function: { name: object(value)['name'] } };
