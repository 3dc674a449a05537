import { type Json, list, object, text } from '../json.ts';

/** A Messages request as a chat request. */
export function chatOf(raw: Json, model: string): Json {
  const choice = object(raw['tool_choice']);
  // Its beta named it `output_format`, which the API still takes (vercel/ai#12298, 2026-02).
  const format = object(object(raw['output_config'])['format'] ?? raw['output_format']);
  return {
    model,
    messages: [...systemOf(raw['system']), ...list(raw['messages']).flatMap(messagesOf)],
    stream: raw['stream'] === true,
    max_tokens: raw['max_tokens'],
    stop: list(raw['stop_sequences']),
    tools: list(raw['tools'])
      .map(object)
      .filter(({ input_schema: schema }) => schema !== undefined)
      .map(({ name, description, input_schema: parameters }) => ({
        type: 'function',
        function: { name, description, parameters },
      })),
    tool_choice: choiceOf(choice),
    parallel_tool_calls: choice['disable_parallel_tool_use'] !== true,
    ...(format['type'] === 'json_schema' && {
      response_format: { type: 'json_schema', json_schema: { schema: format['schema'] } },
    }),
  };
}

function choiceOf({ type, name }: Json): unknown {
  if (type === 'any') return 'required';
  return type === 'tool' ? { type: 'function', function: { name } } : (type ?? 'auto');
}

function systemOf(system: unknown): Json[] {
  const content = typeof system === 'string' ? system : list(system).map(textOf).join('\n');
  return content === '' ? [] : [{ role: 'system', content }];
}

const textOf = (block: unknown): string => text(object(block)['text']) ?? '';

function messagesOf(value: unknown): Json[] {
  const { role, content } = object(value);
  if (typeof content === 'string') return [{ role, content }];
  const blocks = list(content).map(object);
  const results = blocks.filter(({ type }) => type === 'tool_result').map(resultOf);
  const calls = blocks
    .filter(({ type }) => type === 'tool_use')
    .map(({ id, name }) => ({ id, type: 'function', function: { name } }));
  const parts = blocks.flatMap(partOf);
  const message =
    parts.length > 0 || calls.length > 0
      ? [{ role, content: parts, ...(calls.length > 0 && { tool_calls: calls }) }]
      : [];
  return [...results, ...message];
}

function resultOf({ tool_use_id: id, content }: Json): Json {
  return {
    role: 'tool',
    tool_call_id: id,
    content:
      typeof content === 'string' ? content : list(content).flatMap((part) => partOf(object(part))),
  };
}

function partOf(block: Json): Json[] {
  const { type, text: content, source } = block;
  if (type === 'text') return [{ type, text: content }];
  const { type: kind, media_type: media, data, url } = object(source);
  if (type === 'image')
    return [
      {
        type: 'image_url',
        image_url: {
          url: kind === 'base64' ? `data:${String(media)};base64,${String(data)}` : url,
        },
      },
    ];
  if (type !== 'document') return [];
  if (kind === 'text') return [{ type: 'text', text: data }];
  return [
    {
      type: 'file',
      file:
        kind === 'base64'
          ? { file_data: `data:${String(media)};base64,${String(data)}` }
          : { file_url: url },
    },
  ];
}
