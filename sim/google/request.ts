import { isJson, type Json, list, object, text } from '../json.ts';

/** A generateContent request as a chat request, which the simulator's models read. */
export function asChat(raw: Json, model: string, stream: boolean): Json {
  const config = object(raw['generationConfig']);
  const { tools, choice } = toolsOf(raw);
  return {
    model,
    stream,
    messages: [...systemOf(raw), ...list(raw['contents']).map(object).flatMap(messagesOf)],
    ...(tools.length > 0 && { tools, tool_choice: choice }),
    max_tokens: config['maxOutputTokens'],
    stop: config['stopSequences'],
    n: config['candidateCount'],
    seed: config['seed'],
    ...(config['responseLogprobs'] === true && {
      logprobs: true,
      top_logprobs: config['logprobs'] ?? 0,
    }),
    response_format: formatOf(config),
  };
}

function systemOf(raw: Json): Json[] {
  const content = textOf(list(object(raw['systemInstruction'])['parts']).map(object));
  return content === '' ? [] : [{ role: 'system', content }];
}

const textOf = (parts: readonly Json[]): string =>
  parts.map((part) => text(part['text']) ?? '').join('');

function messagesOf({ role, parts }: Json): Json[] {
  const all = list(parts).map(object);
  const results = all.flatMap((part) =>
    isJson(part['functionResponse']) ? [resultOf(part['functionResponse'])] : [],
  );
  const calls = all.flatMap((part) => (isJson(part['functionCall']) ? [part['functionCall']] : []));
  const content = all.filter((part) => part['thought'] !== true).flatMap(partOf);
  if (role === 'model')
    return [
      {
        role: 'assistant',
        content,
        ...(calls.length > 0 && {
          tool_calls: calls.map((call, i) => ({
            id: call['id'] ?? String(i),
            type: 'function',
            function: call,
          })),
        }),
      },
    ];
  return [...results, ...(content.length > 0 ? [{ role: 'user', content }] : [])];
}

function resultOf({ id, name, response }: Json): Json {
  const result = object(response);
  const content = ['output', 'result', 'error']
    .map((member) => text(result[member]))
    .find((one) => one !== undefined);
  return { role: 'tool', tool_call_id: id ?? name, content: content ?? JSON.stringify(result) };
}

function partOf(part: Json): Json[] {
  if (text(part['text']) !== undefined) return [{ type: 'text', text: part['text'] }];
  const { mimeType, data } = object(part['inlineData']);
  const uri = object(part['fileData'])['fileUri'];
  if (uri !== undefined && /^application\/pdf$/i.test(String(object(part['fileData'])['mimeType'])))
    return [{ type: 'file', file: { file_url: uri } }];
  if (uri !== undefined) return [{ type: 'image_url', image_url: { url: uri } }];
  if (mimeType === 'application/pdf')
    return [
      {
        type: 'file',
        file: { file_data: `data:${mimeType};base64,${standardBase64(String(data))}` },
      },
    ];
  return String(mimeType).startsWith('image/')
    ? [{ type: 'image_url', image_url: { url: `data:${String(mimeType)};base64,${String(data)}` } }]
    : [];
}

/** Converts the URL-safe alphabet of base64 to the standard one. */
export const standardBase64 = (base64: string): string =>
  base64.replaceAll('-', '+').replaceAll('_', '/');

function toolsOf(raw: Json): { readonly tools: readonly Json[]; readonly choice: unknown } {
  const declared = list(raw['tools'])
    .flatMap((tool) => list(object(tool)['functionDeclarations']))
    .map(object);
  const { mode, allowedFunctionNames } = object(object(raw['toolConfig'])['functionCallingConfig']);
  const allowed = list(allowedFunctionNames);
  const left =
    allowed.length > 0 ? declared.filter((one) => allowed.includes(one['name'])) : declared;
  const tools = left.map(({ name, parameters, parametersJsonSchema }) => ({
    type: 'function',
    function: {
      name,
      parameters: lowered(parametersJsonSchema ?? parameters ?? { type: 'object' }),
    },
  }));
  return { tools, choice: mode === 'NONE' ? 'none' : mode === 'ANY' ? 'required' : 'auto' };
}

function formatOf(config: Json): Json | undefined {
  if (config['responseMimeType'] !== 'application/json') return undefined;
  const schema = config['responseJsonSchema'] ?? config['responseSchema'];
  return schema === undefined
    ? { type: 'json_object' }
    : { type: 'json_schema', json_schema: { schema: lowered(schema) } };
}

/** A `Schema` message as JSON Schema, which writes its types in lower case. */
function lowered(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(lowered);
  if (!isJson(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [
      name,
      name === 'type' && typeof value === 'string' ? value.toLowerCase() : lowered(value),
    ]),
  );
}
