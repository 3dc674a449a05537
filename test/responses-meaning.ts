import type { Meaning } from './chat-meaning.ts';

type Json = Readonly<Record<string, unknown>>;
const object = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.map(object) : []);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const count = (value: unknown): number => (typeof value === 'number' ? value : 0);

export interface ResponseMeaning {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
  readonly status: string;
  readonly usage: { readonly input: number; readonly output: number } | undefined;
  readonly failed: boolean;
}

/** What a whole response says. */
export function responseMeaning(response: unknown): ResponseMeaning {
  const body = object(response);
  const output = list(body['output']);
  const usage = object(body['usage']);
  const reasoning = output
    .filter((item) => item['type'] === 'reasoning')
    .flatMap((item) =>
      list(item['summary']).length > 0 ? list(item['summary']) : list(item['content']),
    );
  return {
    text: output
      .filter((item) => item['type'] === 'message')
      .flatMap((item) => list(item['content']))
      .map((part) => text(part['text']))
      .join(''),
    reasoning: reasoning
      .map((part) => text(part['text']))
      .join('')
      .replaceAll('\n', ''),
    calls: output
      .filter((item) => item['type'] === 'function_call')
      .map((item) => ({ name: text(item['name']), arguments: text(item['arguments']) })),
    status: text(body['status']),
    usage:
      'input_tokens' in usage
        ? { input: count(usage['input_tokens']), output: count(usage['output_tokens']) }
        : undefined,
    failed: body['status'] === 'failed' || Object.keys(object(body['error'])).length > 0,
  };
}

export interface ResponseEvent {
  readonly name: string;
  readonly data: Json;
}

export function eventsOf(stream: string): ResponseEvent[] {
  return stream
    .split(/\r?\n\r?\n/)
    .map((event) => ({
      name: /^event: ?(.*)$/m.exec(event)?.[1]?.trim() ?? '',
      data: /^data: ?(.*)$/m.exec(event)?.[1] ?? '',
    }))
    .filter(({ data }) => data.startsWith('{'))
    .map(({ name, data }) => ({ name, data: object(JSON.parse(data)) }));
}

/**
 * The response of a stream's last event; undefined when it has none. Items come from their own
 * events where the last one lacks them.
 */
export function lastResponse(stream: string): Json | undefined {
  const events = eventsOf(stream);
  const last = events.findLast(({ data }) =>
    /^response\.(completed|incomplete|failed)$/.test(text(data['type'])),
  );
  if (last === undefined) return undefined;
  const response = object(last.data['response']);
  if (list(response['output']).length > 0) return response;
  return {
    ...response,
    output: events
      .filter(({ data }) => data['type'] === 'response.output_item.done')
      .map(({ data }) => data['item']),
  };
}

/** Chat's meaning in the same words. */
export function asResponse({
  text: said,
  reasoning,
  calls,
  finish,
  usage,
  error,
}: Meaning): ResponseMeaning {
  return {
    text: said,
    reasoning: reasoning.replaceAll('\n', ''),
    calls: calls.map(({ name, args }) => ({ name, arguments: args })),
    status: finish === 'length' || finish === 'content_filter' ? 'incomplete' : 'completed',
    usage: usage && { input: usage.prompt, output: usage.completion },
    failed: error !== undefined,
  };
}
