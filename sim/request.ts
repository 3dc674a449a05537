import { type Json, list, number, object, text } from './json.ts';

export interface Message {
  readonly role: string;
  /** The text parts, joined. */
  readonly text: string;
  /** URLs of the image parts. */
  readonly images: readonly string[];
  /** The content of its file parts: `data:` URLs, addresses or ids. */
  readonly files: readonly string[];
  readonly raw: Json;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly schema: Json;
}

/**
 * A chat request as a vendor reads it. Members of a wrong type count as absent; the vendor's rules
 * check `raw`.
 */
export interface ChatRequest {
  readonly raw: Json;
  readonly model: string;
  readonly messages: readonly Message[];
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly tools: readonly Tool[];
  /** `named`: the tool that the model must call. */
  readonly toolChoice: {
    readonly mode: 'none' | 'auto' | 'required';
    readonly named: string | undefined;
  };
  readonly parallelToolCalls: boolean;
  readonly outputTokensMax: number | undefined;
  readonly stop: readonly string[];
  readonly n: number;
  readonly seed: number;
  readonly topLogprobs: number | undefined;
  readonly format: { readonly type: 'text' | 'json_object' | 'json_schema'; readonly schema: Json };
}

export function readRequest(raw: Json, model: string): ChatRequest {
  return {
    raw,
    model,
    messages: list(raw['messages']).map(readMessage),
    stream: raw['stream'] === true,
    includeUsage: object(raw['stream_options'])['include_usage'] === true,
    tools: list(raw['tools']).map(readTool),
    toolChoice: readToolChoice(raw['tool_choice']),
    parallelToolCalls: raw['parallel_tool_calls'] !== false,
    outputTokensMax: number(raw['max_completion_tokens']) ?? number(raw['max_tokens']),
    stop:
      typeof raw['stop'] === 'string'
        ? [raw['stop']]
        : list(raw['stop']).filter((s) => typeof s === 'string'),
    n: number(raw['n']) ?? 1,
    seed: number(raw['seed']) ?? number(raw['random_seed']) ?? 0,
    topLogprobs: raw['logprobs'] === true ? (number(raw['top_logprobs']) ?? 0) : undefined,
    format: readFormat(object(raw['response_format'])),
  };
}

export function lastMessage(request: ChatRequest): Message | undefined {
  return request.messages[request.messages.length - 1];
}

/** The user's last message; the system's when there is none. */
export function lastPrompt(request: ChatRequest): string {
  const user = request.messages.findLast((message) => message.role === 'user');
  return (user ?? lastMessage(request))?.text ?? '';
}

function readMessage(value: unknown): Message {
  const raw = object(value);
  const parts = list(raw['content']).map(object);
  const content = parts.map((part) => text(part['text']) ?? '').join('');
  return {
    role: text(raw['role']) ?? '',
    text: text(raw['content']) ?? content,
    images: parts.filter((part) => part['type'] === 'image_url').map(imageUrl),
    files: parts.filter((part) => part['type'] === 'file').map(fileUrl),
    raw,
  };
}

function imageUrl(part: Json): string {
  return text(object(part['image_url'])['url']) ?? text(part['image_url']) ?? '';
}

function fileUrl(part: Json): string {
  const { file_data: data, file_url: url, file_id: id } = object(part['file']);
  return text(data) ?? text(url) ?? text(id) ?? '';
}

function readTool(value: unknown): Tool {
  const tool = object(object(value)['function']);
  return {
    name: text(tool['name']) ?? '',
    description: text(tool['description']) ?? '',
    schema: object(tool['parameters']),
  };
}

function readToolChoice(value: unknown): ChatRequest['toolChoice'] {
  if (value === 'none' || value === 'auto') return { mode: value, named: undefined };
  if (value === 'required' || value === 'any') return { mode: 'required', named: undefined };
  const named = text(object(object(value)['function'])['name']);
  return named === undefined ? { mode: 'auto', named } : { mode: 'required', named };
}

function readFormat(format: Json): ChatRequest['format'] {
  if (format['type'] === 'json_object') return { type: 'json_object', schema: {} };
  if (format['type'] !== 'json_schema') return { type: 'text', schema: {} };
  return { type: 'json_schema', schema: object(object(format['json_schema'])['schema']) };
}
