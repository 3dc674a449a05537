import type { Answer, Choice, ToolCall } from '../answer.ts';
import type { Json } from '../json.ts';
import { eventStream, type Writer } from '../play.ts';
import type { StreamEvent } from '../write.ts';
import { thinksByItself } from './model.ts';

/** Tokens of the vendor's own preamble, which it reads before each prompt and does not bill. */
const preambleTokens = 496;
/** Tokens around each answer, which it does not bill either. */
const frameTokens = 3;

/** The writer of answers as recorded in 2026. `failure`: the body of the vendor's own error. */
export function cohereWriter(model: string, failure: () => Json): Writer {
  return {
    ...eventStream,
    streamType: 'text/event-stream',
    end: 'data: [DONE]\n\n',
    broken:
      'event: content-delta\ndata: {"type":"content-delta","index":0,"delta":{"message":{"content":{"text":\n\n',
    headers: { 'access-control-expose-headers': 'X-Debug-Trace-ID' },
    events: (answer) => events(answer, model),
    whole: (answer) => whole(answer, model),
    // docs.cohere.com/v2/docs/streaming, 2026-08: the stream ends with the error as its reason.
    error: () =>
      event('message-end', {
        delta: { finish_reason: 'ERROR', error: String(failure()['message']) },
      }).text,
  };
}

const finishes = {
  stop: 'COMPLETE',
  length: 'MAX_TOKENS',
  tool_calls: 'TOOL_CALL',
  content_filter: 'ERROR',
} as const;

const finishOf = ({ finish, stop }: Choice): string =>
  stop === undefined ? finishes[finish] : 'STOP_SEQUENCE';
const firstOf = ({ choices }: Answer): Choice =>
  choices[0] ?? { reasoning: [], text: [], calls: [], finish: 'stop' };

/** `12345678-…`, made of the answer's id. */
function idOf({ id }: Answer): string {
  const hex = Buffer.from(id).toString('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20, 32),
  ].join('-');
}

function usageOf({ usage: { prompt, cached, completion, reasoning } }: Answer): Json {
  return {
    billed_units: { input_tokens: prompt, output_tokens: completion },
    tokens: {
      input_tokens: prompt + preambleTokens,
      output_tokens: completion + frameTokens,
      ...(reasoning > 0 && { reasoning_tokens: reasoning }),
    },
    cached_tokens: cached,
  };
}

function whole(answer: Answer, model: string): Json {
  const choice = firstOf(answer);
  const { plan, thinking } = thoughtOf(choice, model);
  const answerText = choice.text.join('');
  const content = [
    ...(thinking.length > 0 ? [{ type: 'thinking', thinking: thinking.join('') }] : []),
    ...(answerText !== '' || choice.calls.length === 0 ? [{ type: 'text', text: answerText }] : []),
  ];
  return {
    id: idOf(answer),
    message: {
      role: 'assistant',
      ...(content.length > 0 && { content }),
      ...(plan.length > 0 && { tool_plan: plan.join('') }),
      ...(choice.calls.length > 0 && {
        tool_calls: choice.calls.map((call) => callOf(call, call.arguments.join(''))),
      }),
    },
    finish_reason: finishOf(choice),
    ...(answer.usageReported && { usage: usageOf(answer) }),
  };
}

/** Reasoning of models that reason, a plan before the calls of others. */
function thoughtOf(
  { reasoning, calls }: Choice,
  model: string,
): { readonly plan: readonly string[]; readonly thinking: readonly string[] } {
  if (thinksByItself(model)) return { plan: [], thinking: reasoning };
  return calls.length === 0 ? { plan: [], thinking: [] } : { plan: planFor(calls), thinking: [] };
}

const planFor = (calls: readonly ToolCall[]): string[] => [
  'I',
  ' will',
  ' use',
  ' the',
  ...calls.flatMap(({ name }, i) => [`${i === 0 ? ' ' : ' and '}${name}`]),
  ' tool',
  '.',
];

const callOf = ({ id, name }: ToolCall, json: string): Json => ({
  id: `${name}_${id}`,
  type: 'function',
  function: { name, arguments: json },
});

function event(type: string, members: Json, piece = false): StreamEvent {
  return {
    text: `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`,
    piece,
    ends: type === 'message-end',
  };
}

function* events(answer: Answer, model: string): Generator<StreamEvent> {
  const choice = firstOf(answer);
  const { plan, thinking } = thoughtOf(choice, model);
  const message = { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] };
  yield event('message-start', { id: idOf(answer), delta: { message } });
  for (const piece of plan)
    yield event('tool-plan-delta', { delta: { message: { tool_plan: piece } } }, true);
  let index = 0;
  if (thinking.length > 0) yield* block('thinking', thinking, index++);
  if (choice.text.length > 0 || choice.calls.length === 0) yield* block('text', choice.text, index);
  for (const [i, call] of choice.calls.entries()) yield* callEvents(call, i);
  yield event('message-end', {
    delta: {
      finish_reason: finishOf(choice),
      ...(answer.usageReported && { usage: usageOf(answer) }),
    },
  });
}

function* block(
  type: 'thinking' | 'text',
  pieces: readonly string[],
  index: number,
): Generator<StreamEvent> {
  yield event('content-start', { index, delta: { message: { content: { type, [type]: '' } } } });
  for (const piece of pieces)
    yield event(
      'content-delta',
      { index, delta: { message: { content: { [type]: piece } } } },
      true,
    );
  yield event('content-end', { index });
}

function* callEvents(call: ToolCall, index: number): Generator<StreamEvent> {
  yield event(
    'tool-call-start',
    { index, delta: { message: { tool_calls: callOf(call, '') } } },
    true,
  );
  for (const piece of call.arguments)
    yield event(
      'tool-call-delta',
      { index, delta: { message: { tool_calls: { function: { arguments: piece } } } } },
      true,
    );
  yield event('tool-call-end', { index });
}
