import type { Answer, Choice, ToolCall } from '../answer.ts';
import { argumentsOf, type Json, object } from '../json.ts';
import type { StreamEvent } from '../write.ts';
import { claudeNamed } from './claude.ts';
import { written } from './messages-cache.ts';
import { redact, sign } from './thought.ts';

/**
 * A prompt with this text gets redacted thinking (…/build-with-claude/extended-thinking, redacted
 * thinking, 2026-08).
 */
const redactionTrigger = 'ANTHROPIC_MAGIC_STRING_TRIGGER_REDACTED_THINKING';

/** The answer as a message. */
export function messageOf(answer: Answer, raw: Json): Json {
  const [choice] = answer.choices;
  const content =
    choice === undefined ? [] : blocksOf(choice, answer.model, raw).map(({ whole }) => whole);
  return {
    ...frame(answer),
    content,
    ...ending(choice),
    ...(answer.usageReported && { usage: { ...usageOf(answer, raw), ...more } }),
  };
}

/** The answer as events. */
export function* messageEvents(answer: Answer, raw: Json): Generator<StreamEvent> {
  const [choice] = answer.choices;
  const usage = usageOf(answer, raw);
  const begun = {
    ...frame(answer),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
  };
  const { output_tokens_details: _, ...atStart } = usage;
  yield event({
    type: 'message_start',
    message: {
      ...begun,
      ...(answer.usageReported && { usage: { ...atStart, ...more, output_tokens: 1 } }),
    },
  });
  for (const [index, block] of (choice === undefined
    ? []
    : blocksOf(choice, answer.model, raw)
  ).entries()) {
    yield event({ type: 'content_block_start', index, content_block: block.start });
    if (index === 0) yield event({ type: 'ping' });
    for (const { delta, piece } of block.deltas)
      yield event({ type: 'content_block_delta', index, delta }, piece);
    yield event({ type: 'content_block_stop', index });
  }
  const { cache_creation: __, ...cumulative } = usage;
  yield {
    ...event({
      type: 'message_delta',
      delta: ending(choice),
      ...(answer.usageReported && { usage: cumulative }),
    }),
    ends: true,
  };
  yield event({ type: 'message_stop' });
}

/** Recorded: spaces pad the data, so that its length reveals nothing about the text. */
export function event(data: Json, piece = false): StreamEvent {
  const json = JSON.stringify(data);
  return {
    text: `event: ${String(data['type'])}\ndata: ${json}${' '.repeat(json.length % 9)}\n\n`,
    piece,
    ends: false,
  };
}

const more = { service_tier: 'standard', inference_geo: 'not_available' };

const frame = ({ model, id }: Answer): Json => ({
  model,
  id: `msg_01${id.slice(0, 22)}`,
  type: 'message',
  role: 'assistant',
});

/** Why the model stopped. */
function stopReasonOf(choice: Choice | undefined): string {
  if (choice?.finish === 'content_filter') return 'refusal';
  return stopReason(choice) ?? 'end_turn';
}

/** The stop reasons that Anthropic and Bedrock share; undefined where they differ. */
export function stopReason(choice: Choice | undefined): string | undefined {
  const reasons: Readonly<Record<string, string>> = {
    stop: choice?.stop === undefined ? 'end_turn' : 'stop_sequence',
    length: 'max_tokens',
    tool_calls: 'tool_use',
  };
  return reasons[choice?.finish ?? 'stop'];
}

const ending = (choice: Choice | undefined): Json => ({
  stop_reason: stopReasonOf(choice),
  stop_sequence: choice?.stop ?? null,
  stop_details: null,
});

/** `input_tokens` does not include tokens read from the cache or written to it. */
function usageOf({ usage: { prompt, cached, completion, reasoning } }: Answer, raw: Json) {
  const { minutes, hour } = written(raw, cached);
  const long = Math.min(hour, prompt - cached);
  const short = Math.min(minutes, prompt - cached - long);
  return {
    input_tokens: prompt - cached - short - long,
    cache_creation_input_tokens: short + long,
    cache_read_input_tokens: cached,
    cache_creation: { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long },
    output_tokens: completion,
    ...(reasoning > 0 && { output_tokens_details: { thinking_tokens: reasoning } }),
  };
}

interface Delta {
  readonly delta: Json;
  readonly piece: boolean;
}

/** One content block, whole and as stream events. */
interface Block {
  readonly whole: Json;
  readonly start: Json;
  readonly deltas: readonly Delta[];
}

function blocksOf(choice: Choice, model: string, raw: Json): Block[] {
  const content = choice.text.join('');
  return [
    ...(choice.reasoning.length > 0 ? [thoughtBlock(choice.reasoning, model, raw)] : []),
    ...(content === '' ? [] : [textBlock(choice.text)]),
    ...choice.calls.map(callBlock),
  ];
}

const textBlock = (pieces: readonly string[]): Block => ({
  whole: { type: 'text', text: pieces.join('') },
  start: { type: 'text', text: '' },
  deltas: pieces.map((piece) => ({ delta: { type: 'text_delta', text: piece }, piece: true })),
});

export const isRedacting = (raw: Json): boolean =>
  JSON.stringify(raw['messages']).includes(redactionTrigger);

/**
 * Recorded: omitted thinking is an empty text with its signature. So is thinking of which updates
 * are asked for: this vendor writes none.
 */
function thoughtBlock(pieces: readonly string[], model: string, raw: Json): Block {
  if (isRedacting(raw)) {
    const whole = { type: 'redacted_thinking', data: redact(pieces.join('')) };
    return { whole, start: whole, deltas: [] };
  }
  const display = object(raw['thinking'])['display'];
  const shown =
    display === 'omitted' ||
    display === 'updates' ||
    (display !== 'summarized' && claudeNamed(model).silent)
      ? ['']
      : pieces;
  const thinking = shown.join('');
  const signature = sign(thinking);
  return {
    whole: { type: 'thinking', thinking, signature },
    start: { type: 'thinking', thinking: '', signature: '' },
    deltas: [
      ...shown.map((piece) => ({
        delta: { type: 'thinking_delta', thinking: piece },
        piece: piece !== '',
      })),
      { delta: { type: 'signature_delta', signature }, piece: false },
    ],
  };
}

/** Recorded: the first piece is empty, and the only one of a call without arguments. */
function callBlock({ id, name, arguments: pieces }: ToolCall): Block {
  const json = pieces.join('');
  const head = { type: 'tool_use', id, name };
  const direct = { caller: { type: 'direct' } };
  return {
    whole: { ...head, input: argumentsOf(json), ...direct },
    start: { ...head, input: {}, ...direct },
    deltas: ['', ...(json === '{}' ? [] : pieces)].map((piece) => ({
      delta: { type: 'input_json_delta', partial_json: piece },
      piece: piece !== '',
    })),
  };
}
