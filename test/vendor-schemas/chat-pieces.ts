import {
  anything,
  either,
  flag,
  type Json,
  list,
  map,
  type Members,
  number,
  object,
  objectsOf,
  one,
  type Request,
  type Rule,
} from './shape.ts';
import { rule, type Shape, strings, tagged, text, whole } from './shape.ts';

// The pieces of OpenAI's chat format, of which each vendor that speaks it takes some
// (openai-openapi.yaml, 2026-08-21: ChatCompletionRequest*Message, ChatCompletionTool,
// ResponseFormat*).

export const cacheMark = object({ type: one('ephemeral'), ttl: one('5m', '1h') }, 'type');

const data = /^data:[\w.+/-]+(?:;[\w=-]+)*;base64,/;

/** Kinds of content by the name of their part. */
export const part = {
  text: (more: Members = {}): Shape => object({ type: anything, text: text(), ...more }, 'text'),
  image_url: (more: Members = {}): Shape =>
    object(
      {
        type: anything,
        image_url: object(
          {
            url: text({ pattern: /^(?:https?:\/\/|data:)/ }),
            detail: one('auto', 'low', 'high', 'original'),
          },
          'url',
        ),
        ...more,
      },
      'image_url',
    ),
  input_audio: (...formats: readonly string[]): Shape =>
    object(
      {
        type: anything,
        input_audio: object({ data: text(), format: one(...formats) }, 'data', 'format'),
      },
      'input_audio',
    ),
  file: (more: Members = {}): Shape =>
    object(
      {
        type: anything,
        file: object({ filename: text(), file_data: text(), file_id: text() }),
        ...more,
      },
      'file',
    ),
  video_url: object(
    { type: anything, video_url: object({ url: text(), detail: text(), fps: number() }, 'url') },
    'video_url',
  ),
  refusal: object({ type: anything, refusal: text() }, 'refusal'),
} as const;

/** An address of a picture that only holds bytes, for vendors that fetch nothing. */
export const bytesOnly: Shape = object(
  { type: anything, image_url: object({ url: text({ pattern: data }), detail: text() }, 'url') },
  'image_url',
);

type Parts = Readonly<Record<string, Shape>>;
const content = (parts: Parts): Shape => either(text(), list(tagged('type', parts)));

const words: Parts = { text: part.text() };

export interface MessageTable {
  readonly roles: readonly ('system' | 'developer' | 'user' | 'assistant' | 'tool' | 'function')[];
  /** What a user's message may hold beside text. */
  readonly user?: Parts;
  readonly system?: Parts;
  readonly tool?: Parts;
  readonly assistantParts?: Parts;
  /** Members of assistant messages beside content and tool_calls. */
  readonly assistant?: Members;
  /** Members of every message. */
  readonly all?: Members;
  /** Members of tool messages beside content and tool_call_id. */
  readonly toolMembers?: Members;
  readonly callId?: Shape;
  /** Members of a call beside id, type and function. */
  readonly call?: Members;
  readonly callNeeds?: readonly string[];
  readonly toolNeeds?: readonly string[];
}

export function messages(table: MessageTable): Shape {
  const id = table.callId ?? text({ min: 1 });
  const call = object(
    {
      id,
      type: one('function'),
      function: object({ name: text({ min: 1 }), arguments: text() }, 'name', 'arguments'),
      ...table.call,
    },
    ...(table.callNeeds ?? ['id', 'function']),
  );
  const all = { role: anything, ...table.all };
  const kinds: Record<string, Shape> = {
    system: object({ ...all, content: content(table.system ?? words) }, 'content'),
    developer: object({ ...all, content: content(table.system ?? words) }, 'content'),
    user: object({ ...all, content: content({ ...words, ...table.user }) }, 'content'),
    assistant: object({
      ...all,
      content: content(table.assistantParts ?? words),
      tool_calls: list(call),
      ...table.assistant,
    }),
    tool: object(
      { ...all, content: content(table.tool ?? words), tool_call_id: id, ...table.toolMembers },
      ...(table.toolNeeds ?? ['content', 'tool_call_id']),
    ),
    function: object({ ...all, content: text(), name: text() }, 'name'),
  };
  const taken = Object.fromEntries(table.roles.map((role) => [role, kinds[role] ?? anything]));
  return list(tagged('role', taken), { min: 1 });
}

export const functionName = text({ pattern: /^[\w-]{1,64}$/ });

export const functionTool = (
  members: Members = { strict: flag },
  { name = functionName, tool = {} }: { readonly name?: Shape; readonly tool?: Members } = {},
): Shape =>
  object(
    {
      type: one('function'),
      function: object({ name, description: text(), parameters: map(), ...members }, 'name'),
      ...tool,
    },
    'function',
  );

export const named = object(
  { type: one('function'), function: object({ name: functionName }, 'name') },
  'type',
  'function',
);

export const jsonSchema = object(
  { name: functionName, description: text(), schema: map(), strict: flag },
  'name',
);

/** The formats of an answer by name. */
export const format = (...types: readonly ('text' | 'json_object' | 'json_schema')[]): Shape =>
  tagged(
    'type',
    Object.fromEntries(
      types.map((type) => [
        type,
        type === 'json_schema'
          ? object({ type: anything, json_schema: jsonSchema }, 'json_schema')
          : object({ type: anything }),
      ]),
    ),
  );

export const stop = (max: number): Shape => either(text(), strings(max));

export const streamOptions = object({ include_usage: flag });

/** Members that nearly every vendor of this format takes. */
export const usual: Members = {
  model: text({ min: 1 }),
  max_tokens: whole(1),
  temperature: number(0, 2),
  top_p: number(0, 1),
  stream: flag,
};

export const penalties: Members = {
  frequency_penalty: number(-2, 2),
  presence_penalty: number(-2, 2),
};

/**
 * Each call of an assistant is answered before anything else is said, and no result comes without
 * its call.
 */
export const answeredCalls = (source: string, models?: RegExp): Rule =>
  rule(source, models, ({ body }) => {
    const complaints: string[] = [];
    let open = new Set<unknown>();
    for (const [index, message] of objectsOf(body['messages']).entries()) {
      if (message['role'] === 'tool') {
        if (!open.delete(message['tool_call_id']))
          complaints.push(`messages[${index}]: answers no call that is open`);
        continue;
      }
      if (open.size > 0)
        complaints.push(`messages[${index}]: ${open.size} calls before it are not answered`);
      open = new Set(objectsOf(message['tool_calls']).map((call) => call['id']));
    }
    if (open.size > 0) complaints.push(`messages: the last ${open.size} calls are not answered`);
    return complaints;
  });

export const anyMessage = (body: Json, found: (message: Json) => boolean): boolean =>
  objectsOf(body['messages']).some(found);

export const lastRole = ({ body }: Request): unknown =>
  objectsOf(body['messages']).at(-1)?.['role'];
