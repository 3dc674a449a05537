import { isJson, type Json, list, object } from './json.ts';

/**
 * A response, for tests: the body, parsed when it is JSON, and the JSON of each event when it is a
 * stream.
 */
export interface TestReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Json;
  readonly events: readonly Json[];
}

export async function ask(
  base: string,
  body: Json | string,
  headers: Readonly<Record<string, string>> = { authorization: 'Bearer sk-sim' },
): Promise<TestReply> {
  const response = await fetch(`${base}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const events = [...text.matchAll(/^data: (.*)$/gm)].map((match) => parsed(match[1] ?? ''));
  return { status: response.status, headers: response.headers, text, json: parsed(text), events };
}

export function prompt(text: string): readonly Json[] {
  return [{ role: 'user', content: text }];
}

/**
 * The text of a whole answer, or of all deltas of a stream's first choice, without thinking parts.
 */
export function answerText({ json, events }: TestReply): string {
  const messages =
    events.length > 0
      ? events.map((event) => firstChoice(event)['delta'])
      : [firstChoice(json)['message']];
  return messages.map((message) => textOf(object(message)['content'])).join('');
}

export function finish({ json, events }: TestReply): unknown {
  const reasons = (events.length > 0 ? events : [json]).map(
    (event) => firstChoice(event)['finish_reason'],
  );
  return reasons.find((reason) => reason !== undefined && reason !== null);
}

/** The last usage in the response. */
export function usage({ json, events }: TestReply): Json | undefined {
  return (events.length > 0 ? events : [json]).map((event) => event['usage']).findLast(isJson);
}

export function firstChoice(answer: Json | undefined): Json {
  return object(list(answer?.['choices'])[0]);
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return list(content)
    .map((part) => object(part)['text'])
    .filter((text) => typeof text === 'string')
    .join('');
}

function parsed(text: string): Json {
  try {
    const value: unknown = JSON.parse(text);
    return isJson(value) ? value : {};
  } catch {
    return {};
  }
}
