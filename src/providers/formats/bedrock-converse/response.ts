import type { Fault } from '../../../base/fault.ts';
import {
  type Documented,
  listOf,
  objectOf,
  objectsOf,
  parse,
  rawElements,
  rawMembers,
  textOf,
  utf8,
  countOf,
  type Unchecked,
} from '../../../base/json.ts';
import type { Measure, Quantities } from '../../../base/quantities.ts';
import type { VendorAnswer, VendorCall } from '../../adapter.ts';
import { type AnswerCall, chatAnswer, type FinishReason } from '../../conversation/chat-stream.ts';
import {
  characters,
  type Cited,
  citeConverse,
  citedMembers,
} from '../../conversation/citations.ts';
import {
  type ReasoningDetail,
  redactedDetail,
  signedDetail,
} from '../anthropic-messages/reasoning.ts';
import { hiddenTool } from '../anthropic-messages/tools.ts';
import { protocolFault } from '../fault.ts';
import { objectIn } from '../reply.ts';
import { converseUsesHiddenTool, converseWatchedStops } from './request.ts';
import { converseException } from './fault.ts';
import type {
  CitationsContentBlock,
  ConverseAnswer,
  ConverseBlock,
  ReasoningContentBlock,
  TokenUsage,
} from './types.ts';

const reasons: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  guardrail_intervened: 'content_filter',
  content_filtered: 'content_filter',
};

/**
 * The finish reason, or the fault for `malformed_model_output` and `malformed_tool_use`. The calls
 * in the answer decide between `stop` and `tool_calls`.
 */
export function converseFinish(stopReason: unknown, calls: number): FinishReason | Fault {
  if (typeof stopReason === 'string' && stopReason.startsWith('malformed_'))
    return { kind: 'server_error', message: `the model stopped with ${stopReason}` };
  const reason = reasons[String(stopReason)] ?? 'stop';
  if (reason === 'stop' && calls > 0) return 'tool_calls';
  return reason === 'tool_calls' && calls === 0 ? 'stop' : reason;
}

/** Anthropic's own API gives redacted thinking as text, Converse as bytes in base64. */
export const redacted = (base64: string): string =>
  Buffer.from(base64, 'base64').toString('latin1');

/**
 * Reads a whole answer. Texts are decoded, arguments keep the vendor's bytes: numbers that a double
 * cannot hold survive.
 */
export function readConverse(reply: Buffer, call: VendorCall): VendorAnswer | Fault {
  const text = reply.toString('latin1').trim();
  const body: Documented<ConverseAnswer> | undefined = objectOf(parse(text));
  if (!body)
    return protocolFault(`an answer that is not a JSON object: ${reply.toString('utf8', 0, 120)}`);
  const message = rawMembers(rawMembers(rawMembers(text).get('output') ?? '').get('message') ?? '');
  if (!message.has('content')) {
    const output = objectOf(body.Output) ?? body;
    const name = textOf(output.__type);
    return name === undefined
      ? protocolFault('an answer without a message')
      : converseException(name, objectIn(reply));
  }
  const contents = contentsOf(rawElements(message.get('content')), converseUsesHiddenTool(call));
  const finish = converseFinish(body.stopReason, contents.calls.length);
  if (typeof finish !== 'string') return finish;
  const { content, reasoning, calls, details } = contents;
  const more = {
    more: {
      ...(details.length ? { reasoning_details: details } : {}),
      ...citedMembers(contents.cited),
    },
  };
  const whole = {
    content,
    reasoning,
    calls,
    finish,
    quantities: converseQuantities(body.usage),
    upstreamId: undefined,
    ...more,
  };
  return chatAnswer(call, whole, converseWatchedStops(call));
}

interface Contents {
  content: string;
  reasoning: string;
  readonly calls: AnswerCall[];
  readonly details: ReasoningDetail[];
  readonly cited: Cited;
}

function contentsOf(blocks: readonly string[], hidden: boolean): Contents {
  const contents: Contents = {
    content: '',
    reasoning: '',
    calls: [],
    details: [],
    cited: { annotations: [], citations: [] },
  };
  let answer: string | undefined;
  blocks.forEach((text, index) => {
    const raw = rawMembers(text);
    const block: Documented<ConverseBlock> = objectOf(parse(utf8(text))) ?? {};
    const before = contents.content;
    contents.content += textOf(block.text) ?? citedText(objectOf(block.citationsContent));
    const citations = listOf(objectOf(block.citationsContent)?.citations);
    if (citations.length)
      citeConverse(contents.cited, citations, characters(before), characters(contents.content));
    const toolUse = objectOf(block.toolUse);
    if (toolUse && toolUse.type !== 'server_tool_use') {
      const name = textOf(toolUse.name) ?? '';
      const input = utf8(rawMembers(raw.get('toolUse') ?? '').get('input') ?? '{}');
      if (hidden && name === hiddenTool) answer = input;
      else
        contents.calls.push({
          id: textOf(toolUse.toolUseId) ?? `call_${index}`,
          name,
          arguments: input,
        });
    }
    readReasoning(contents, objectOf(block.reasoningContent));
  });
  if (answer !== undefined) contents.content = answer;
  return contents;
}

const citedText = (block: Documented<CitationsContentBlock> | undefined): string =>
  objectsOf(block?.content)
    .map(({ text }) => textOf(text) ?? '')
    .join('');

function readReasoning(
  contents: Contents,
  block: Documented<ReasoningContentBlock> | undefined,
): void {
  const thought = objectOf(block?.reasoningText);
  const text = textOf(thought?.text) ?? '';
  const signature = textOf(thought?.signature);
  const data = textOf(block?.redactedContent);
  const { details, calls, content } = contents;
  contents.reasoning += text;
  if (signature)
    details.push(signedDetail(details.length, text, signature, characters(content), calls.length));
  if (data)
    details.push(redactedDetail(details.length, redacted(data), characters(content), calls.length));
}

/**
 * The quantities of a usage. Converse counts cache reads and writes outside `inputTokens`
 * (docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_TokenUsage.html, 2026-08). Undefined
 * when the usage counts nothing.
 */
export function converseQuantities(value: Unchecked<TokenUsage>): Quantities | undefined {
  const usage = objectOf(value);
  if (!usage) return undefined;
  const input = countOf(usage.inputTokens);
  const output = countOf(usage.outputTokens);
  if (input === undefined && output === undefined) return undefined;
  const written = countOf(usage.cacheWriteInputTokens) ?? 0;
  const long = objectsOf(usage.cacheDetails).filter(({ ttl }) => ttl === '1h');
  const hour = Math.min(
    written,
    long.reduce((sum, { inputTokens }) => sum + (countOf(inputTokens) ?? 0), 0),
  );
  const counts: [Measure, number][] = [
    ['input', input ?? 0],
    ['cached_input', countOf(usage.cacheReadInputTokens) ?? 0],
    ['cache_write_5m', written - hour],
    ['cache_write_1h', hour],
    ['output', output ?? 0],
  ];
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}
