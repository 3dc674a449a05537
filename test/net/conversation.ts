import type { Json, Recording } from './recordings.ts';

// The content of a recorded request, and the same in each of the three client formats. It need not
// be complete: it has to send conversations with tools, media and settings through the gateway.

interface Part {
  readonly kind: 'text' | 'image' | 'file' | 'audio' | 'call' | 'result';
  /** A text, a result, or a call's arguments; of media the address, which may be `data:`. */
  readonly text: string;
  readonly name?: string;
  readonly id?: string;
}

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly parts: Part[];
}

interface Conversation {
  readonly system: string;
  readonly turns: readonly Turn[];
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly schema: Json;
  }[];
  /** `auto`, `none`, `required`, or a tool's name. */
  readonly choice: string | undefined;
  readonly tokensMax: number | undefined;
  readonly temperature: number | undefined;
  readonly stop: readonly string[];
  readonly schema: Json;
  readonly effort: string | undefined;
}

const list = (value: Json): Json[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
const textOf = (value: Json): string =>
  typeof value === 'string'
    ? value
    : list(value)
        .map((one) => one?.text ?? '')
        .join('');
const said = (value: Json): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? '');
const data = (type: Json, base64: Json): string => `data:${type};base64,${base64}`;

/** Merges consecutive turns of one role. */
function joined(turns: readonly Turn[]): readonly Turn[] {
  const all: Turn[] = [];
  for (const { role, parts: given } of turns) {
    const last = all.at(-1);
    const parts = given.filter(
      ({ kind, text }) => text !== '' || kind === 'call' || kind === 'result',
    );
    if (last !== undefined && last.role === role) last.parts.push(...parts);
    else if (parts.length > 0) all.push({ role, parts: [...parts] });
  }
  return all;
}

function chatPart(part: Json): Part[] {
  if (typeof part === 'string') return [{ kind: 'text', text: part }];
  if (part?.type === 'image_url')
    return [{ kind: 'image', text: part.image_url?.url ?? said(part.image_url) }];
  if (part?.type === 'input_audio')
    return [
      { kind: 'audio', text: data(`audio/${part.input_audio?.format}`, part.input_audio?.data) },
    ];
  if (part?.type === 'file')
    return [{ kind: 'file', text: part.file?.file_data ?? '', name: part.file?.filename }];
  return typeof part?.text === 'string' ? [{ kind: 'text', text: part.text }] : [];
}

function chatTurns(messages: Json): Turn[] {
  return list(messages)
    .filter(({ role }) => role !== 'system' && role !== 'developer')
    .map(({ role, content, tool_calls: calls, tool_call_id: id }) => {
      if (role === 'tool')
        return {
          role: 'user',
          parts: [
            { kind: 'result', id, text: typeof content === 'string' ? content : textOf(content) },
          ],
        };
      const made = list(calls).map((call) => ({
        kind: 'call' as const,
        id: call.id,
        name: call.function?.name,
        text: said(call.function?.arguments),
      }));
      return {
        role: role === 'assistant' ? 'assistant' : 'user',
        parts: [...list(content).flatMap(chatPart), ...made],
      };
    });
}

function fromChat(body: Json): Conversation {
  const { messages, tools, tool_choice: choice, response_format: format } = body;
  const told = list(messages).filter(({ role }) => role === 'system' || role === 'developer');
  return {
    system: told.map(({ content }) => textOf(content)).join('\n'),
    turns: joined(chatTurns(messages)),
    tools: list(tools).flatMap(({ function: made }) =>
      made === undefined ? [] : [{ ...made, schema: made.parameters }],
    ),
    choice: typeof choice === 'string' ? choice.toLowerCase() : choice?.function?.name,
    tokensMax: body.max_completion_tokens ?? body.max_tokens,
    temperature: body.temperature,
    stop: list(body.stop ?? body.stop_sequences),
    schema: format?.json_schema?.schema ?? format?.schema,
    effort: body.reasoning_effort,
  };
}

function messagesPart(block: Json): Part[] {
  const { type, source, id, name, input, tool_use_id: of, content } = block;
  const address =
    source?.type === 'base64' ? data(source.media_type, source.data) : (source?.url ?? '');
  if (type === 'image' || type === 'document')
    return [{ kind: type === 'image' ? 'image' : 'file', text: address, name: block.title }];
  if (type === 'tool_use') return [{ kind: 'call', id, name, text: said(input) }];
  if (type === 'tool_result') return [{ kind: 'result', id: of, text: textOf(content) }];
  return typeof block.text === 'string' ? [{ kind: 'text', text: block.text }] : [];
}

function fromMessages(body: Json): Conversation {
  const blocks = (content: Json) =>
    typeof content === 'string' ? [{ type: 'text', text: content }] : list(content);
  const choice = body.tool_choice;
  return {
    system: textOf(body.system),
    turns: joined(
      list(body.messages).map(({ role, content }) => ({
        role,
        parts: blocks(content).flatMap(messagesPart),
      })),
    ),
    tools: list(body.tools).flatMap((tool) =>
      tool.input_schema ? [{ ...tool, schema: tool.input_schema }] : [],
    ),
    choice: choice?.type === 'any' ? 'required' : (choice?.name ?? choice?.type),
    tokensMax: body.max_tokens,
    temperature: body.temperature,
    stop: list(body.stop_sequences),
    schema: (body.output_config?.format ?? body.output_format)?.schema,
    effort: body.output_config?.effort ?? (body.thinking?.budget_tokens ? 'low' : undefined),
  };
}

function responsesTurn(item: Json): Turn {
  const { type, role, content, call_id: id, name } = item;
  if (type === 'function_call')
    return { role: 'assistant', parts: [{ kind: 'call', id, name, text: said(item.arguments) }] };
  if (type === 'function_call_output')
    return { role: 'user', parts: [{ kind: 'result', id, text: said(item.output) }] };
  const parts = list(content).flatMap((part): Part[] => {
    if (part?.type === 'input_image') return [{ kind: 'image', text: said(part.image_url) }];
    if (part?.type === 'input_file')
      return [{ kind: 'file', text: part.file_data ?? part.file_url ?? '', name: part.filename }];
    return chatPart(part);
  });
  return { role: role === 'assistant' ? 'assistant' : 'user', parts };
}

function fromResponses(body: Json): Conversation {
  const { input, tools, tool_choice: choice, text, reasoning } = body;
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : list(input);
  const told = items.filter(({ role }) => role === 'system' || role === 'developer');
  return {
    system: [body.instructions ?? '', ...told.map(({ content }) => textOf(content))]
      .filter(Boolean)
      .join('\n'),
    turns: joined(items.filter((item) => !told.includes(item)).map(responsesTurn)),
    tools: list(tools).flatMap((tool) =>
      tool.type === 'function' ? [{ ...tool, schema: tool.parameters }] : [],
    ),
    choice: typeof choice === 'string' ? choice : choice?.name,
    tokensMax: body.max_output_tokens,
    temperature: body.temperature,
    stop: [],
    schema: text?.format?.schema,
    effort: reasoning?.effort,
  };
}

/** Gemini's members come in camelCase and in snake_case. */
const either = (value: Json, name: string): Json =>
  value?.[name] ?? value?.[name.replace(/[A-Z]/g, (sign) => `_${sign.toLowerCase()}`)];

function geminiPart(part: Json): Part[] {
  const [call, result, inline, file] = [
    'functionCall',
    'functionResponse',
    'inlineData',
    'fileData',
  ].map((name) => either(part, name));
  if (call)
    return [
      {
        kind: 'call',
        id: call.id ?? `call_${call.name}`,
        name: call.name,
        text: said(call.args ?? {}),
      },
    ];
  if (result)
    return [
      { kind: 'result', id: result.id ?? `call_${result.name}`, text: said(result.response) },
    ];
  const type: string = either(inline ?? file, 'mimeType') ?? '';
  const kind = type.startsWith('image/') ? 'image' : type.startsWith('audio/') ? 'audio' : 'file';
  if (inline) return [{ kind, text: data(type, inline.data) }];
  if (file) return [{ kind, text: either(file, 'fileUri') ?? '' }];
  return typeof part?.text === 'string' && part.thought !== true
    ? [{ kind: 'text', text: part.text }]
    : [];
}

function fromGemini(body: Json): Conversation {
  const config = either(body, 'generationConfig');
  const calling = either(either(body, 'toolConfig'), 'functionCallingConfig');
  const declared = list(body.tools).flatMap((tool) => list(either(tool, 'functionDeclarations')));
  const mode = String(calling?.mode ?? '').toLowerCase();
  const system = either(body, 'systemInstruction');
  return {
    system: typeof system === 'string' ? system : textOf(system?.parts),
    turns: joined(
      list(body.contents).map(({ role, parts }) => ({
        role: role === 'model' ? 'assistant' : 'user',
        parts: list(parts).flatMap(geminiPart),
      })),
    ),
    tools: declared.map((tool) => ({
      ...tool,
      schema: either(tool, 'parametersJsonSchema') ?? tool.parameters,
    })),
    choice: mode === 'any' ? 'required' : mode === 'none' || mode === 'auto' ? mode : undefined,
    tokensMax: either(config, 'maxOutputTokens'),
    temperature: config?.temperature,
    stop: list(either(config, 'stopSequences')),
    schema: either(config, 'responseJsonSchema') ?? either(config, 'responseSchema'),
    effort: either(config, 'thinkingConfig') ? 'low' : undefined,
  };
}

function conversePart(part: Json): Part[] {
  const { toolUse, toolResult, image, document } = part;
  if (toolUse)
    return [{ kind: 'call', id: toolUse.toolUseId, name: toolUse.name, text: said(toolUse.input) }];
  if (toolResult)
    return [
      {
        kind: 'result',
        id: toolResult.toolUseId,
        text: list(toolResult.content)
          .map((one) => one.text ?? said(one.json))
          .join(''),
      },
    ];
  if (image) return [{ kind: 'image', text: data(`image/${image.format}`, image.source?.bytes) }];
  if (document)
    return [
      {
        kind: 'file',
        text: data(`application/${document.format}`, document.source?.bytes),
        name: document.name,
      },
    ];
  return typeof part.text === 'string' ? [{ kind: 'text', text: part.text }] : [];
}

function fromConverse(body: Json): Conversation {
  const { inferenceConfig: config = {}, toolConfig } = body;
  const choice = toolConfig?.toolChoice;
  const specs = list(toolConfig?.tools).flatMap(({ toolSpec }) => toolSpec ?? []);
  return {
    system: textOf(body.system),
    turns: joined(
      list(body.messages).map(({ role, content }) => ({
        role,
        parts: list(content).flatMap(conversePart),
      })),
    ),
    tools: specs.map((tool) => ({ ...tool, schema: tool.inputSchema?.json })),
    choice: choice?.any ? 'required' : (choice?.tool?.name ?? (choice?.auto ? 'auto' : undefined)),
    tokensMax: config.maxTokens,
    temperature: config.temperature,
    stop: list(config.stopSequences),
    schema: undefined,
    effort: body.additionalModelRequestFields?.thinking ? 'low' : undefined,
  };
}

const readers: Readonly<Record<string, (body: Json) => Conversation>> = {
  chat: fromChat,
  nativechat: fromChat,
  messages: fromMessages,
  responses: fromResponses,
  gemini: fromGemini,
  converse: fromConverse,
};

/** Undefined: the request was not recorded, or is no conversation. */
export function conversationOf({ endpoint, request }: Recording): Conversation {
  const read = readers[endpoint];
  const found =
    read !== undefined && typeof request === 'object' && request !== null
      ? read(request)
      : undefined;
  if (found !== undefined && found.turns.length > 0) return found;
  return { ...fromChat({}), turns: [{ role: 'user', parts: [{ kind: 'text', text: 'Go on.' }] }] };
}

const schemaOf = (schema: Json): Json => schema ?? { type: 'object', properties: {} };
const wordOf = (choice: string): boolean => ['auto', 'none', 'required'].includes(choice);
const base64Of = (address: string): string => address.slice(address.indexOf(',') + 1);
const typeOf = (address: string): string => /^data:([^;,]*)/.exec(address)?.[1] ?? '';
const isData = (address: string): boolean => address.startsWith('data:');

function toChatPart({ kind, text, name }: Part): Json {
  if (kind === 'image') return { type: 'image_url', image_url: { url: text } };
  if (kind === 'audio')
    return {
      type: 'input_audio',
      input_audio: { data: base64Of(text), format: /mpeg|mp3/.test(typeOf(text)) ? 'mp3' : 'wav' },
    };
  if (kind === 'file')
    return { type: 'file', file: { filename: name ?? 'a.pdf', file_data: text } };
  return { type: 'text', text };
}

function toChat(talk: Conversation): Json {
  const messages = talk.turns.flatMap(({ role, parts }): Json[] => {
    const results = parts.filter(({ kind }) => kind === 'result');
    const calls = parts.filter(({ kind }) => kind === 'call');
    const rest = parts.filter((part) => !results.includes(part) && !calls.includes(part));
    const made = calls.map(({ id, name, text }) => ({
      id,
      type: 'function',
      function: { name, arguments: text },
    }));
    const content = rest.every(({ kind }) => kind === 'text')
      ? rest.map(({ text }) => text).join('')
      : rest.map(toChatPart);
    const own =
      rest.length + calls.length === 0
        ? []
        : [{ role, content, ...(made.length > 0 && { tool_calls: made }) }];
    return [
      ...results.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text })),
      ...own,
    ];
  });
  const { system, tools, choice, schema, effort } = talk;
  return {
    messages: [...(system === '' ? [] : [{ role: 'system', content: system }]), ...messages],
    tools: tools.map(({ name, description, schema: parameters }) => ({
      type: 'function',
      function: { name, description, parameters: schemaOf(parameters) },
    })),
    tool_choice:
      choice === undefined || wordOf(choice)
        ? choice
        : { type: 'function', function: { name: choice } },
    max_tokens: talk.tokensMax,
    temperature: talk.temperature,
    stop: talk.stop,
    response_format: schema && { type: 'json_schema', json_schema: { name: 'answer', schema } },
    reasoning_effort: effort,
  };
}

function toMessagesBlock({ kind, text, id, name }: Part): Json {
  const source = isData(text)
    ? { type: 'base64', media_type: typeOf(text), data: base64Of(text) }
    : { type: 'url', url: text };
  if (kind === 'call') return { type: 'tool_use', id, name, input: object(text) };
  if (kind === 'result') return { type: 'tool_result', tool_use_id: id, content: text };
  return kind === 'text'
    ? { type: 'text', text }
    : { type: kind === 'image' ? 'image' : 'document', source };
}

function object(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function toMessages({
  system,
  turns,
  tools,
  choice,
  tokensMax,
  temperature,
  stop,
  schema,
  effort,
}: Conversation): Json {
  return {
    system: system === '' ? undefined : system,
    messages: turns.map(({ role, parts }) => ({ role, content: parts.map(toMessagesBlock) })),
    tools: tools.map(({ name, description, schema: parameters }) => ({
      name,
      description,
      input_schema: schemaOf(parameters),
    })),
    tool_choice:
      choice &&
      (wordOf(choice)
        ? { type: choice === 'required' ? 'any' : choice }
        : { type: 'tool', name: choice }),
    max_tokens: tokensMax ?? 1_000,
    temperature: temperature !== undefined && temperature > 1 ? 1 : temperature,
    stop_sequences: stop,
    output_config: schema && { format: { type: 'json_schema', schema } },
    thinking: effort && effort !== 'none' && { type: 'enabled', budget_tokens: 1_024 },
  };
}

function toResponsesItem(role: Turn['role'], { kind, text, id, name }: Part): Json {
  if (kind === 'call') return { type: 'function_call', call_id: id, name, arguments: text };
  if (kind === 'result') return { type: 'function_call_output', call_id: id, output: text };
  if (kind === 'text')
    return { role, content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }] };
  const part =
    kind === 'image'
      ? { type: 'input_image', image_url: text }
      : { type: 'input_file', filename: name ?? 'a.pdf', file_data: text };
  return { role, content: [part] };
}

function toResponses({
  system,
  turns,
  tools,
  choice,
  tokensMax,
  temperature,
  schema,
  effort,
}: Conversation): Json {
  return {
    instructions: system === '' ? undefined : system,
    input: turns.flatMap(({ role, parts }) => parts.map((part) => toResponsesItem(role, part))),
    tools: tools.map(({ name, description, schema: parameters }) => ({
      type: 'function',
      name,
      description,
      parameters: schemaOf(parameters),
      strict: false,
    })),
    tool_choice:
      choice === undefined || wordOf(choice) ? choice : { type: 'function', name: choice },
    max_output_tokens: tokensMax && Math.max(16, tokensMax),
    temperature,
    text: schema && { format: { type: 'json_schema', name: 'answer', schema } },
    reasoning: effort && { effort, summary: 'auto' },
  };
}

/** The client formats, each with its path and the writer of conversations. */
export const formats = {
  chat: { path: '/v1/chat/completions', write: toChat },
  responses: { path: '/v1/responses', write: toResponses },
  messages: { path: '/v1/messages', write: toMessages },
} as const;
export type Format = keyof typeof formats;

/** The conversation as a client request, without empty members. */
export function bodyIn(format: Format, conversation: Conversation, more: Json): Json {
  const written = Object.entries<Json>(formats[format].write(conversation));
  const says = written.filter(
    ([, value]) =>
      value !== undefined && value !== null && (!Array.isArray(value) || value.length > 0),
  );
  const without = Object.fromEntries(says);
  if (without.tools === undefined) delete without.tool_choice;
  return { ...more, ...without };
}
