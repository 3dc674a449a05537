import type { Answer, Choice, ToolCall, Usage } from './answer.ts';
import type { Dialect, Draft, Moment, Style } from './dialect.ts';
import type { ChatRequest } from './request.ts';
import { shown } from './json.ts';
import { hash } from './tokens.ts';

/** One event of a stream, as bytes or text. */
export interface StreamEvent {
  readonly text: string | Buffer;
  /** It carries content of the model. */
  readonly piece: boolean;
  /** It carries a finish reason. */
  readonly ends: boolean;
}

/** The answer as one response body. */
export function wholeBody(answer: Answer, request: ChatRequest, { style }: Dialect): Draft {
  const choices = answer.choices.map((choice, index) => wholeChoice(choice, index, request, style));
  const draft: Draft = { ...frame(answer, style, 'chat.completion'), choices };
  if (answer.usageReported) draft['usage'] = style.usage(answer.usage);
  style.whole?.(draft, choices, answer, request);
  return draft;
}

/** The answer as a stream, event by event, without its closing `[DONE]`. */
export function* streamEvents(
  answer: Answer,
  request: ChatRequest,
  { style }: Dialect,
): Generator<StreamEvent> {
  const preamble = style.preamble?.(answer);
  if (preamble !== undefined) yield { text: preamble, piece: false, ends: false };
  const reportsUsage = answer.usageReported && (request.includeUsage || style.usageUnasked);
  let tokens = 0;
  for (const [index, choice] of answer.choices.entries()) {
    let text = '';
    for (const { kind, delta, piece, weight, finish } of steps(choice, style)) {
      tokens += weight;
      if (typeof delta['content'] === 'string') text += delta['content'];
      const draft: Draft = { index, delta };
      if (kind === 'text' && request.topLogprobs !== undefined)
        draft['logprobs'] = { content: [logprob(piece, request.topLogprobs)], refusal: null };
      if (finish !== undefined || style.finishNull) draft['finish_reason'] = finish ?? null;
      const last = kind === 'finish' && index === answer.choices.length - 1;
      const usage = reportsUsage ? usageHere(style, answer.usage, tokens, last) : undefined;
      yield event(draft, usage, { kind, answer, piece, text, tokens }, request, style);
    }
  }
  if (!reportsUsage || style.usageAt === 'finish' || style.usageAt === 'every') return;
  const again =
    style.usageAt === 'own with choice'
      ? {
          index: 0,
          delta: { role: 'assistant', content: '' },
          finish_reason: answer.choices[0]?.finish ?? null,
        }
      : undefined;
  yield event(
    again,
    answer.usage,
    { kind: 'usage', answer, piece: '', text: '', tokens },
    request,
    style,
  );
}

function event(
  choice: Draft | undefined,
  usage: Usage | undefined,
  moment: Moment,
  request: ChatRequest,
  style: Style,
): StreamEvent {
  const draft: Draft = {
    ...frame(moment.answer, style, 'chat.completion.chunk'),
    choices: choice === undefined ? [] : [choice],
  };
  if (usage !== undefined) draft['usage'] = style.usage(usage);
  style.chunk?.(draft, choice, moment, request);
  return {
    text: `data: ${JSON.stringify(draft)}\n\n`,
    piece: moment.piece !== '',
    ends: moment.kind === 'finish',
  };
}

function usageHere(style: Style, whole: Usage, tokens: number, last: boolean): Usage | undefined {
  if (last && style.usageAt.startsWith('finish')) return whole;
  if (style.usageAt !== 'every') return undefined;
  return last
    ? whole
    : { ...whole, completion: tokens, reasoning: Math.min(tokens, whole.reasoning) };
}

function frame(answer: Answer, style: Style, object: string): Draft {
  return { id: style.id(answer.id), object, created: answer.created, model: answer.model };
}

interface Step {
  readonly kind: Moment['kind'];
  readonly delta: Draft;
  readonly piece: string;
  /** Tokens that this step adds. */
  readonly weight: number;
  readonly finish?: string;
}

function* steps(choice: Choice, style: Style): Generator<Step> {
  yield {
    kind: 'role',
    delta: { role: 'assistant', content: choice.calls.length > 0 ? null : '' },
    piece: '',
    weight: 0,
  };
  for (const [index, piece] of choice.reasoning.entries()) {
    const delta = reasoningDelta(piece, index, choice.reasoning.length, style);
    if (delta !== undefined) yield { kind: 'reasoning', delta, piece, weight: 1 };
  }
  for (const piece of choice.text)
    yield { kind: 'text', delta: { content: piece }, piece, weight: 1 };
  for (const [index, call] of choice.calls.entries()) yield* callSteps(call, index, style);
  yield { kind: 'finish', delta: {}, piece: '', weight: 0, finish: choice.finish };
}

function reasoningDelta(
  piece: string,
  index: number,
  count: number,
  { reasoning }: Style,
): Draft | undefined {
  switch (reasoning) {
    case 'hidden':
      return undefined;
    case 'parts':
      return { content: [{ type: 'thinking', thinking: [{ type: 'text', text: piece }] }] };
    case 'details':
      return {
        reasoning: piece,
        reasoning_details: [{ type: 'reasoning.text', text: piece, format: 'unknown', index: 0 }],
      };
    case 'inline':
      return {
        content: `${index === 0 ? '<think>\n' : ''}${piece}${index === count - 1 ? '\n</think>\n\n' : ''}`,
      };
    default:
      return { [reasoning]: piece };
  }
}

function* callSteps(call: ToolCall, index: number, style: Style): Generator<Step> {
  const head = { index, id: call.id, type: 'function' };
  const json = call.arguments.join('');
  if (style.toolCalls === 'whole') {
    yield {
      kind: 'call',
      delta: { tool_calls: [{ ...head, function: { name: call.name, arguments: json } }] },
      piece: json,
      weight: call.arguments.length + 1,
    };
    return;
  }
  yield {
    kind: 'call',
    delta: { tool_calls: [{ ...head, function: { name: call.name, arguments: '' } }] },
    piece: call.name,
    weight: 1,
  };
  for (const piece of call.arguments)
    yield {
      kind: 'call',
      delta: { tool_calls: [{ index, function: { arguments: piece } }] },
      piece,
      weight: 1,
    };
}

function wholeChoice(choice: Choice, index: number, request: ChatRequest, style: Style): Draft {
  const calls = choice.calls.map(({ id, name, arguments: json }) => ({
    id,
    type: 'function',
    function: { name, arguments: json.join('') },
  }));
  const message: Draft = {
    role: 'assistant',
    content: calls.length > 0 ? null : choice.text.join(''),
  };
  if (choice.reasoning.length > 0) addReasoning(message, choice.reasoning.join(''), style);
  if (calls.length > 0) message['tool_calls'] = calls;
  const draft: Draft = { index, message, finish_reason: choice.finish };
  const top = request.topLogprobs;
  if (top !== undefined)
    draft['logprobs'] = { content: choice.text.map((piece) => logprob(piece, top)), refusal: null };
  return draft;
}

function addReasoning(message: Draft, thought: string, { reasoning }: Style): void {
  if (reasoning === 'hidden') return;
  const content = message['content'] ?? '';
  if (reasoning === 'inline')
    message['content'] = `<think>\n${thought}\n</think>\n\n${shown(content)}`;
  else if (reasoning === 'parts')
    message['content'] = [
      { type: 'thinking', thinking: [{ type: 'text', text: thought }], closed: true },
      { type: 'text', text: content },
    ];
  else if (reasoning === 'details')
    Object.assign(message, {
      reasoning: thought,
      reasoning_details: [{ type: 'reasoning.text', text: thought, format: 'unknown', index: 0 }],
    });
  else message[reasoning] = thought;
}

function logprob(token: string, top: number): Draft {
  const own = { token, logprob: -(hash(token) % 1000) / 1000, bytes: [...Buffer.from(token)] };
  const others = Array.from({ length: Math.max(0, top - 1) }, (_, i) => ({
    token: `${token}${i}`,
    logprob: own.logprob - i - 1,
    bytes: [...Buffer.from(`${token}${i}`)],
  }));
  return { ...own, top_logprobs: top === 0 ? [] : [own, ...others] };
}
