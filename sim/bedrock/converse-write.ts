import type { Answer, Choice, Usage } from '../answer.ts';
import { isRedacting, stopReason } from '../anthropic/messages-write.ts';
import { written } from '../anthropic/messages-cache.ts';
import { redact, sign } from '../anthropic/thought.ts';
import { argumentsOf, type Json } from '../json.ts';
import type { StreamEvent } from '../write.ts';
import { eventFrame } from './event-frame.ts';

/** The parts of a request that decide how its answer is written. */
export interface ConverseRequest {
  /** The request as an Anthropic message. */
  readonly messages: Json;
  readonly signs: boolean;
  readonly marks: boolean;
}

const latencyMs = 250;

/** Recorded, Converse. */
export function converseBody(answer: Answer, request: ConverseRequest): Json {
  const [choice] = answer.choices;
  return {
    metrics: { latencyMs },
    output: {
      message: {
        role: 'assistant',
        content: choice === undefined ? [] : blocksOf(choice, request).map(({ whole }) => whole),
      },
    },
    stopReason: stopReason(choice) ?? 'content_filtered',
    ...(answer.usageReported && { usage: usageOf(answer.usage, request) }),
  };
}

/** Recorded, ConverseStream: only tool calls have a block start event. */
export function* converseEvents(answer: Answer, request: ConverseRequest): Generator<StreamEvent> {
  const [choice] = answer.choices;
  yield event('messageStart', { role: 'assistant' });
  for (const [contentBlockIndex, { start, deltas }] of (choice === undefined
    ? []
    : blocksOf(choice, request)
  ).entries()) {
    if (start !== undefined) yield event('contentBlockStart', { contentBlockIndex, start });
    for (const { delta, piece } of deltas)
      yield event('contentBlockDelta', { contentBlockIndex, delta }, piece);
    yield event('contentBlockStop', { contentBlockIndex });
  }
  yield {
    ...event('messageStop', { stopReason: stopReason(choice) ?? 'content_filtered' }),
    ends: true,
  };
  yield event('metadata', {
    ...(answer.usageReported && { usage: usageOf(answer.usage, request) }),
    metrics: { latencyMs },
  });
}

const event = (type: string, data: Json, piece = false): StreamEvent => ({
  text: eventFrame(type, data),
  piece,
  ends: false,
});

/**
 * Recorded: cache counts stand outside `inputTokens`, twice each, and only where the model has a
 * cache.
 */
function usageOf(
  { prompt, cached, completion }: Usage,
  { messages, marks }: ConverseRequest,
): Json {
  const { minutes, hour } = written(messages, cached);
  const long = Math.min(hour, prompt - cached);
  const wrote = Math.min(minutes, prompt - cached - long) + long;
  const details = [
    ...(wrote > long ? [{ inputTokens: wrote - long, ttl: '5m' }] : []),
    ...(long > 0 ? [{ inputTokens: long, ttl: '1h' }] : []),
  ];
  const cache = {
    cacheReadInputTokens: cached,
    cacheReadInputTokenCount: cached,
    cacheWriteInputTokens: wrote,
    cacheWriteInputTokenCount: wrote,
    ...(details.length > 0 && { cacheDetails: details }),
  };
  return {
    inputTokens: prompt - cached - wrote,
    outputTokens: completion,
    totalTokens: prompt + completion,
    serverToolUsage: {},
    ...((marks || cached > 0) && cache),
  };
}

interface Block {
  readonly whole: Json;
  readonly start?: Json;
  readonly deltas: readonly { readonly delta: Json; readonly piece: boolean }[];
}

function blocksOf(choice: Choice, request: ConverseRequest): Block[] {
  const content = choice.text.join('');
  return [
    ...(choice.reasoning.length > 0 ? [thoughtBlock(choice.reasoning, request)] : []),
    ...(content === ''
      ? []
      : [
          {
            whole: { text: content },
            deltas: choice.text.map((text) => ({ delta: { text }, piece: true })),
          },
        ]),
    ...choice.calls.map(({ id: toolUseId, name, arguments: pieces }) => ({
      whole: { toolUse: { toolUseId, name, input: argumentsOf(pieces.join('')) } },
      start: { toolUse: { toolUseId, name } },
      deltas: pieces.map((input) => ({ delta: { toolUse: { input } }, piece: true })),
    })),
  ];
}

function thoughtBlock(pieces: readonly string[], { messages, signs }: ConverseRequest): Block {
  const text = pieces.join('');
  if (signs && isRedacting(messages)) {
    const redactedContent = Buffer.from(redact(text)).toString('base64');
    return {
      whole: { reasoningContent: { redactedContent } },
      deltas: [{ delta: { reasoningContent: { redactedContent } }, piece: true }],
    };
  }
  const deltas = pieces.map((piece) => ({
    delta: { reasoningContent: { text: piece } },
    piece: true,
  }));
  if (!signs) return { whole: { reasoningContent: { reasoningText: { text } } }, deltas };
  const signature = sign(text);
  return {
    whole: { reasoningContent: { reasoningText: { text, signature } } },
    deltas: [...deltas, { delta: { reasoningContent: { signature } }, piece: false }],
  };
}
