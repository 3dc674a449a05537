import { isObject, type JsonObject, listOf, textOf } from './json.ts';

/**
 * How the words of a block are streamed: the member of the block that holds them, and the delta
 * that brings them.
 */
const streamed: Readonly<Record<string, { readonly member: string; readonly delta: string }>> = {
  text: { member: 'text', delta: 'text_delta' },
  thinking: { member: 'thinking', delta: 'thinking_delta' },
};

/**
 * A whole message as the events that would have told it, for a client that asked for a stream of a
 * server that does not. Without `message_stop`.
 */
export function eventsOfMessage(message: JsonObject): JsonObject[] {
  const { content, stop_reason, stop_sequence = null, usage } = message;
  const started = { ...message, content: [], stop_reason: null, stop_sequence: null };
  return [
    { type: 'message_start', message: started },
    ...listOf(content).flatMap((block, index) =>
      isObject(block) ? eventsOfBlock(block, index) : [],
    ),
    { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage },
  ];
}

function eventsOfBlock(block: JsonObject, index: number): JsonObject[] {
  const start = (content_block: JsonObject): JsonObject => ({
    type: 'content_block_start',
    index,
    content_block,
  });
  const delta = (members: JsonObject): JsonObject => ({
    type: 'content_block_delta',
    index,
    delta: members,
  });
  const stop = { type: 'content_block_stop', index };
  if (block['type'] === 'tool_use')
    return [
      start({ ...block, input: {} }),
      delta({ type: 'input_json_delta', partial_json: JSON.stringify(block['input'] ?? {}) }),
      stop,
    ];
  const words = streamed[textOf(block['type']) ?? ''];
  if (words === undefined) return [start(block), stop];
  const signature = textOf(block['signature']);
  return [
    start({ ...block, [words.member]: '', ...(signature === undefined ? {} : { signature: '' }) }),
    delta({ type: words.delta, [words.member]: block[words.member] }),
    ...(signature === undefined ? [] : [delta({ type: 'signature_delta', signature })]),
    stop,
  ];
}
