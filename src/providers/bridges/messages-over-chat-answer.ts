import type { Quantities } from '../../base/quantities.ts';
import type { Answer, Call } from '../adapter.ts';
import { type PlacedThinking, placedThinking } from '../wire/anthropic-messages-signed.ts';
import { characters, messageCitation, messageCitations, sourcesBeside } from '../wire/citations.ts';
import { isObject, type JsonObject, listOf, objectOf, parse, textOf } from '../wire/json.ts';
import { pieces } from '../wire/signed-order.ts';
import { messageUsage } from '../wire/messages-usage.ts';

/** Anthropic's words for why an answer ended. */
const stopReasons: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'refusal',
};

/** An answer that called is one that waits for results, whatever the vendor says of its end. */
export function stopReasonOf(finish: unknown, calls: number): string {
  const reason = stopReasons[textOf(finish) ?? ''] ?? 'end_turn';
  return calls > 0 && reason === 'end_turn' ? 'tool_use' : reason;
}

const bytesPerTokenOut = 4;
/** What is told where the vendor told nothing; the charge is counted by the same rule. */
export const estimated = (outputBytes: number): Quantities => ({
  output: Math.ceil(outputBytes / bytesPerTokenOut),
});

/** What every message of an answer begins with. */
export function messageHead(call: Call): JsonObject {
  return { id: call.answerId, type: 'message', role: 'assistant', model: call.publicModel };
}

/** A chat completion as a message. */
export function messageFrom(answer: Answer, call: Call): JsonObject {
  const body = objectOf(parse(answer.body.toString('utf8'))) ?? {};
  const choice = objectOf(listOf(body['choices'])[0]) ?? {};
  const said = objectOf(choice['message']) ?? {};
  const calls = listOf(said['tool_calls']).filter(isObject);
  const text = (textOf(said['content']) ?? '') + (textOf(said['refusal']) ?? '');
  const stopReason = !said['refusal']
    ? stopReasonOf(choice['finish_reason'], calls.length)
    : 'refusal';
  return Object.assign(messageHead(call), {
    content: [...spokenFrom(said, text, citationsOf(body, said)), ...calls.map(toolUse)],
    stop_reason: stopReason,
    stop_sequence: null,
    stop_details: null,
    container: null,
    usage: messageUsage(answer.quantities ?? estimated(Buffer.byteLength(answer.outputText))),
  });
}

/** What the text cites; where the message says nothing of that, the sources beside it. */
function citationsOf(body: JsonObject, said: JsonObject): JsonObject {
  const own = messageCitations(said);
  const citations = own.length ? own : sourcesBeside(body, '').map(messageCitation);
  return citations.length ? { citations } : {};
}

/** Text and thoughts, each where it stood. What the text cites stands with the last of it. */
function spokenFrom(said: JsonObject, text: string, cited: JsonObject): JsonObject[] {
  const thoughts = thinkingFrom(said);
  const texts = pieces(
    text,
    thoughts.map(({ at }) => at),
  );
  const blocks: JsonObject[] = [];
  let before = 0;
  texts.forEach((piece, i) => {
    for (const { at, block } of thoughts)
      if (at <= before && !blocks.includes(block)) blocks.push(block);
    if (piece !== '')
      blocks.push({ type: 'text', text: piece, ...(i === texts.length - 1 ? cited : {}) });
    before += characters(piece);
  });
  for (const { block } of thoughts) if (!blocks.includes(block)) blocks.push(block);
  return blocks;
}

/** Thinking with its signature where there is one; without, it is told all the same. */
function thinkingFrom(said: JsonObject): PlacedThinking[] {
  const blocks = placedThinking(said);
  if (blocks.some(({ block }) => block['type'] === 'thinking')) return blocks;
  const thinking = textOf(said['reasoning_content']) ?? '';
  return thinking === ''
    ? blocks
    : [{ at: 0, block: { type: 'thinking', thinking, signature: '' } }, ...blocks];
}

function toolUse(call: JsonObject): JsonObject {
  const fn = objectOf(call['function']) ?? objectOf(call['custom']) ?? {};
  return {
    type: 'tool_use',
    id: call['id'],
    name: fn['name'],
    ...vendorsOwn(call),
    input: inputFrom(textOf(fn['arguments']) ?? ''),
  };
}

/**
 * What a vendor wants back with the call travels in the block, as it does in chat: Gemini's
 * signatures, for one.
 */
export const vendorsOwn = ({ extra_content }: JsonObject): JsonObject =>
  extra_content === undefined ? {} : { extra_content };

/** Arguments as an object. What a model wrote wrongly is told as it is, under a name. */
function inputFrom(args: string): JsonObject {
  const input = args.trim() === '' ? null : parse(args);
  return input === null ? {} : (objectOf(input) ?? { arguments: args });
}
