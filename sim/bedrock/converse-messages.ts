import { type Json, list, object } from '../json.ts';

/**
 * A Converse request as an Anthropic message, as Bedrock itself passes it on to Claude.
 * `outputMax`: the limit when the request sets none.
 */
export function messagesOf(raw: Json, outputMax: number): Json {
  const inference = object(raw['inferenceConfig']);
  const tooling = object(raw['toolConfig']);
  // `reasoning_config` is Bedrock's older name for `thinking` (recorded).
  const {
    anthropic_beta: _,
    reasoning_config: config,
    thinking = config,
    ...fields
  } = object(raw['additionalModelRequestFields']);
  const output = outputOf(object(raw['outputConfig']));
  return {
    max_tokens: inference['maxTokens'] ?? outputMax,
    messages: list(raw['messages']).map((message) => ({
      role: object(message)['role'],
      content: blocksOf(object(message)['content']),
    })),
    ...(list(raw['system']).length > 0 && { system: blocksOf(raw['system']) }),
    ...(inference['temperature'] !== undefined && { temperature: inference['temperature'] }),
    ...(inference['topP'] !== undefined && { top_p: inference['topP'] }),
    ...(list(inference['stopSequences']).length > 0 && {
      stop_sequences: inference['stopSequences'],
    }),
    ...(list(tooling['tools']).length > 0 && { tools: toolsOf(tooling['tools']) }),
    ...(tooling['toolChoice'] !== undefined && {
      tool_choice: choiceOf(object(tooling['toolChoice'])),
    }),
    ...(output !== undefined && { output_config: output }),
    ...(thinking !== undefined && { thinking }),
    ...fields,
  };
}

/** A cache point marks the block before it. */
function blocksOf(content: unknown): Json[] {
  const blocks: Json[] = [];
  for (const value of list(content).map(object)) {
    const point = value['cachePoint'];
    const marked = blocks.at(-1);
    if (point === undefined) blocks.push(...blockOf(value));
    else if (marked !== undefined)
      blocks[blocks.length - 1] = { ...marked, cache_control: markOf(point) };
  }
  return blocks;
}

const markOf = (point: unknown): Json => {
  const { ttl } = object(point);
  return { type: 'ephemeral', ...(ttl !== undefined && { ttl }) };
};

function blockOf(block: Json): Json[] {
  if (typeof block['text'] === 'string') return [{ type: 'text', text: block['text'] }];
  if (block['image'] !== undefined) {
    const { format, source } = object(block['image']);
    return [
      {
        type: 'image',
        source: {
          type: 'base64',
          media_type: `image/${String(format)}`,
          data: object(source)['bytes'],
        },
      },
    ];
  }
  const { format, source } = object(block['document']);
  // Documents may also come from a bucket, or as text.
  const { bytes } = object(source);
  if (format === 'pdf' && typeof bytes === 'string')
    return [
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: bytes } },
    ];
  if (block['toolUse'] !== undefined) {
    const { toolUseId: id, name, input } = object(block['toolUse']);
    return [{ type: 'tool_use', id: String(id).replace(/[.:]/g, '_'), name, input }];
  }
  if (block['toolResult'] !== undefined) return [resultOf(object(block['toolResult']))];
  return block['reasoningContent'] === undefined
    ? []
    : [thoughtOf(object(block['reasoningContent']))];
}

function resultOf({ toolUseId: id, content, status }: Json): Json {
  const parts = list(content)
    .map(object)
    .flatMap((part) =>
      part['json'] === undefined
        ? blockOf(part)
        : [{ type: 'text', text: JSON.stringify(part['json']) }],
    );
  return {
    type: 'tool_result',
    tool_use_id: String(id).replace(/[.:]/g, '_'),
    content: parts,
    ...(status === 'error' && { is_error: true }),
  };
}

function thoughtOf({ reasoningText, redactedContent }: Json): Json {
  if (typeof redactedContent === 'string')
    return { type: 'redacted_thinking', data: Buffer.from(redactedContent, 'base64').toString() };
  const { text: thinking, signature } = object(reasoningText);
  return { type: 'thinking', thinking, signature };
}

function toolsOf(tools: unknown): Json[] {
  const written: Json[] = [];
  for (const tool of list(tools).map(object)) {
    const { name, description, inputSchema, strict } = object(tool['toolSpec']);
    const marked = written.at(-1);
    if (tool['toolSpec'] !== undefined)
      written.push({
        name,
        ...(description !== undefined && { description }),
        input_schema: object(inputSchema)['json'],
        ...(strict === true && { strict }),
      });
    else if (tool['cachePoint'] !== undefined && marked !== undefined)
      written[written.length - 1] = { ...marked, cache_control: markOf(tool['cachePoint']) };
  }
  return written;
}

function choiceOf(choice: Json): Json {
  if (choice['tool'] !== undefined) return { type: 'tool', name: object(choice['tool'])['name'] };
  return { type: choice['any'] === undefined ? 'auto' : 'any' };
}

function outputOf(config: Json): Json | undefined {
  const { effort, textFormat } = config;
  const schema = object(object(object(textFormat)['structure'])['jsonSchema'])['schema'];
  if (effort === undefined && schema === undefined) return undefined;
  return {
    ...(effort !== undefined && { effort }),
    ...(schema !== undefined && { format: { type: 'json_schema', schema: parsed(schema) } }),
  };
}

function parsed(schema: unknown): unknown {
  try {
    return JSON.parse(String(schema));
  } catch {
    return undefined;
  }
}
