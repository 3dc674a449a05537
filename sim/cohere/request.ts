import { type Json, list, object, text } from '../json.ts';

/** A `/v2/chat` request as OpenAI's chat request, which the simulator's models read. */
export function asChat(raw: Json): Json {
  const format = object(raw['response_format']);
  const schema = format['json_schema'] ?? format['schema'];
  return {
    model: raw['model'],
    stream: raw['stream'] === true,
    messages: list(raw['messages']).map(object).map(messageOf),
    tools: list(raw['tools']),
    tool_choice:
      raw['tool_choice'] === 'REQUIRED'
        ? 'required'
        : raw['tool_choice'] === 'NONE'
          ? 'none'
          : 'auto',
    max_tokens: raw['max_tokens'],
    stop: list(raw['stop_sequences']),
    seed: raw['seed'],
    ...(format['type'] === 'json_object' && {
      response_format:
        schema === undefined
          ? { type: 'json_object' }
          : { type: 'json_schema', json_schema: { schema } },
    }),
  };
}

function messageOf({ role, content, tool_call_id: id, tool_calls: calls }: Json): Json {
  const parts = typeof content === 'string' ? content : list(content).map(object).flatMap(partOf);
  return {
    role,
    content: parts,
    ...(id !== undefined && { tool_call_id: id }),
    ...(calls !== undefined && { tool_calls: calls }),
  };
}

function partOf(part: Json): Json[] {
  if (part['type'] !== 'document') return part['type'] === 'thinking' ? [] : [part];
  const { data } = object(part['document']);
  return [{ type: 'text', text: text(data) ?? JSON.stringify(data) }];
}
