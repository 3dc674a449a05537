import type { Quantities } from '../../base/quantities.ts';
import type { Answer, Call } from '../adapter.ts';
import { thinkingBlocks } from '../wire/anthropic-messages-signed.ts';
import { isObject, type JsonObject, listOf, objectOf, parse, textOf } from '../wire/json.ts';
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
  const choice =
    objectOf(listOf(objectOf(parse(answer.body.toString('utf8')))?.['choices'])[0]) ?? {};
  const said = objectOf(choice['message']) ?? {};
  const calls = listOf(said['tool_calls']).filter(isObject);
  const text = (textOf(said['content']) ?? '') + (textOf(said['refusal']) ?? '');
  const stopReason = !said['refusal']
    ? stopReasonOf(choice['finish_reason'], calls.length)
    : 'refusal';
  return Object.assign(messageHead(call), {
    content: [
      ...thinkingFrom(said),
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...calls.map(toolUse),
    ],
    stop_reason: stopReason,
    stop_sequence: null,
    stop_details: null,
    container: null,
    usage: messageUsage(answer.quantities ?? estimated(Buffer.byteLength(answer.outputText))),
  });
}

/** Thinking with its signature where there is one; without, it is told all the same. */
function thinkingFrom(said: JsonObject): JsonObject[] {
  const blocks = thinkingBlocks(said);
  if (blocks.some(({ type }) => type === 'thinking')) return blocks;
  const thinking = textOf(said['reasoning_content']) ?? '';
  return thinking === '' ? blocks : [{ type: 'thinking', thinking, signature: '' }, ...blocks];
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

/** What a vendor wants back with the call travels in the block, as it does in chat: Gemini's signatures, for one. */
export const vendorsOwn = ({ extra_content }: JsonObject): JsonObject =>
  extra_content === undefined ? {} : { extra_content };

/** Arguments as an object. What a model wrote wrongly is told as it is, under a name. */
function inputFrom(args: string): JsonObject {
  const input = args.trim() === '' ? null : parse(args);
  return input === null ? {} : (objectOf(input) ?? { arguments: args });
}
