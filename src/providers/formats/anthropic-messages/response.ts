import type { Fault } from '../../../base/fault.ts';
import type { VendorAnswer, VendorCall } from '../../adapter.ts';
import type { ChatRequest } from '../openai-chat/types.ts';
import { messagesFaultWithin } from './fault.ts';
import { type ReasoningDetail, redactedDetail, signedDetail } from './reasoning.ts';
import { hiddenTool } from './tools.ts';
import { newMessageCounts, addMessageUsage, messageQuantities } from './usage.ts';
import { characters, type Cited, cite, citedMembers } from '../../conversation/citations.ts';
import { type AnswerCall, chatAnswer, type FinishReason } from '../../conversation/chat-stream.ts';
import { type Documented, listOf, objectOf, objectsOf, textOf } from '../../../base/json.ts';
import type { ContentBlock, MessageAnswer, MessageDelta } from './types.ts';
import { blankStops } from '../../conversation/stop-text.ts';
import { protocolFault } from '../fault.ts';
import { objectIn, noObject } from '../reply.ts';

/**
 * Why the model stopped (platform.claude.com/docs/en/build-with-claude/handling-stop-reasons,
 * 2026-11).
 */
const reasons: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};

/**
 * OpenAI's finish reason for the vendor's stop reason. `calls`: the calls that the client sees,
 * without the hidden tool's.
 */
export function messagesFinish(stopReason: unknown, calls: number): FinishReason {
  const reason = reasons[textOf(stopReason) ?? ''] ?? 'stop';
  if (reason === 'tool_calls' || (reason === 'stop' && calls > 0))
    return calls > 0 ? 'tool_calls' : 'stop';
  return reason;
}

/**
 * The vendor's explanation of a refusal, recorded as `stop_details: {type: "refusal", category,
 * explanation}`.
 */
export const explanationOf = (stopped: Documented<MessageDelta> | undefined): string | undefined =>
  textOf(objectOf(stopped?.stop_details)?.explanation) || undefined;

interface Collected {
  content: string;
  reasoning: string;
  readonly calls: AnswerCall[];
  readonly details: ReasoningDetail[];
  readonly cited: Cited;
}

/** Reads a whole message as OpenAI's answer. */
export function readMessage(
  reply: Buffer,
  call: VendorCall<ChatRequest>,
  hidden: boolean,
): VendorAnswer | Fault {
  const body: Documented<MessageAnswer> | undefined = objectIn(reply);
  if (body === undefined) return noObject(reply);
  const fault = messagesFaultWithin(body);
  if (fault) return fault;
  if (!Array.isArray(body.content)) return protocolFault('an answer without content');
  const collected: Collected = {
    content: '',
    reasoning: '',
    calls: [],
    details: [],
    cited: { annotations: [], citations: [] },
  };
  for (const block of objectsOf(body.content)) collect(collected, block, hidden);
  const counted = newMessageCounts();
  addMessageUsage(counted, objectOf(body.usage));
  const finish = messagesFinish(body.stop_reason, collected.calls.length);
  const refusal =
    finish === 'content_filter' && collected.content === '' ? explanationOf(body) : undefined;
  const whole = {
    content: collected.content,
    reasoning: collected.reasoning,
    calls: collected.calls,
    finish,
    quantities: messageQuantities(counted),
    upstreamId: textOf(body.id),
    refusal,
    more: {
      ...(collected.details.length ? { reasoning_details: collected.details } : {}),
      ...citedMembers(collected.cited),
    },
  };
  return chatAnswer(call, whole, blankStops(call.body.stop));
}

/**
 * Adds a block to the answer. Blocks of tools that the vendor runs itself are not shown to the
 * client.
 */
function collect(collected: Collected, block: Documented<ContentBlock>, hidden: boolean): void {
  if (block.type === 'text') {
    const start = collected.content;
    collected.content += textOf(block.text) ?? '';
    const citations = listOf(block.citations);
    if (citations.length)
      cite(collected.cited, citations, characters(start), characters(collected.content));
  }
  if (block.type === 'thinking') {
    const text = textOf(block.thinking) ?? '';
    collected.reasoning += text;
    collected.details.push(
      signedDetail(
        collected.details.length,
        text,
        textOf(block.signature) ?? '',
        characters(collected.content),
        collected.calls.length,
      ),
    );
  } else if (block.type === 'redacted_thinking')
    collected.details.push(
      redactedDetail(
        collected.details.length,
        textOf(block.data) ?? '',
        characters(collected.content),
        collected.calls.length,
      ),
    );
  else if (block.type === 'tool_use') {
    const input = JSON.stringify(block.input ?? {});
    const name = textOf(block.name) ?? '';
    if (hidden && name === hiddenTool) collected.content += input;
    else collected.calls.push({ id: textOf(block.id) ?? '', name, arguments: input });
  }
}
