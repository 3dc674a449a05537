import { jsonText } from '../../base/json-edit.ts';
import type { Fault } from '../../base/fault.ts';
import type { Answer, Call } from '../adapter.ts';
import {
  isObject,
  listOf,
  objectOf,
  parse,
  rawElements,
  rawInside,
  rawMembers,
  rawText,
  says,
  textOf,
} from './json.ts';
import { hiddenInChoice, hiddenMembers, newCallId, upstreamIdOf } from './openai-chat-chunk.ts';
import { faultWithin, mayTellFault, protocolFault } from './openai-chat-fault.ts';
import { choiceState, finishReason, normaliseMessage } from './openai-chat-message.ts';
import { plainAnswer } from './openai-chat-plain.ts';
import type { Quirks } from './openai-chat-quirks.ts';
import { toldTier } from './tiers.ts';
import { readUsage } from './openai-chat-usage.ts';

/**
 * A whole answer made OpenAI's: the vendor's bytes but for the ids, the model and what departs from
 * the convention.
 */
export function readAnswer(
  reply: Buffer,
  call: Call,
  quirks: Quirks,
  stops?: readonly string[],
): Answer | Fault {
  const text = reply.toString('latin1').trim();
  const body = parse(text);
  if (body === undefined)
    return protocolFault(`an answer that is not JSON: ${reply.toString('utf8', 0, 120)}`);
  if (!isObject(body)) return protocolFault('an answer that is no JSON object');
  const refused = mayTellFault(body)
    ? faultWithin(objectOf(parse(reply.toString('utf8'))) ?? {}, quirks)
    : undefined;
  if (refused) return refused;
  const plain = stops ? undefined : plainAnswer(reply, text, body, call, quirks);
  if (plain) return plain;
  if (!listOf(body['choices']).some(isObject)) return protocolFault('an answer without choices');
  const top = rawMembers(text);
  const rawChoices = rawElements(top.get('choices'));
  const choices: string[] = [];
  for (const choice of rawChoices) {
    const normalised = normaliseChoice(choice, choices.length, call, quirks, stops);
    if (normalised === undefined)
      return { kind: 'server_error', message: 'the vendor ended its answer with an error' };
    choices.push(normalised);
  }
  const usageText = top.get('usage') ?? rawMembers(rawChoices[0] ?? '').get('usage');
  const usage = says(usageText) ? readUsage(usageText) : undefined;
  const created = typeof body['created'] === 'number' ? top.get('created') : String(call.created);
  for (const name of ['id', 'object', 'created', 'model', 'choices', ...hiddenMembers])
    top.delete(name);
  if (usage) top.set('usage', usage.json);
  const rest = rawInside(top);
  const head = `{"id":${jsonText(call.answerId)},"object":"chat.completion","created":${created},"model":${jsonText(call.publicModel)}`;
  return {
    body: Buffer.from(`${head},"choices":[${choices.join(',')}]${rest && ','}${rest}}`, 'latin1'),
    quantities: usage?.quantities,
    told: toldTier(call, body).told,
    upstreamId: upstreamIdOf(body),
    outputText: usage ? '' : outputText(reply),
  };
}

/** The choice as OpenAI would have written it; undefined when it ended with an error. */
function normaliseChoice(
  text: string,
  position: number,
  call: Call,
  quirks: Quirks,
  stops?: readonly string[],
): string | undefined {
  const choice = rawMembers(text);
  const reason = finishReason(choice.get('finish_reason'));
  if (reason === 'error') return undefined;
  const message = rawMembers(choice.get('message') ?? '');
  const state = choiceState(stops);
  normaliseMessage(message, state, { quirks, newId: newCallId(call), whole: true, last: true });
  const index = Number(choice.get('index') ?? position) || 0;
  // Perplexity sends an empty delta with whole answers, too.
  for (const name of ['index', 'message', 'delta', 'finish_reason', 'usage', ...hiddenInChoice])
    choice.delete(name);
  const rest = rawInside(choice);
  return `{"index":${index},"message":${rawText(message)}${rest && ','}${rest},"finish_reason":"${state.stop?.met === true ? 'stop' : (reason ?? 'stop')}"}`;
}

/** All that the model wrote, for counting where the vendor did not. */
function outputText(reply: Buffer): string {
  let text = '';
  for (const choice of listOf(objectOf(parse(reply.toString('utf8')))?.['choices'])) {
    const message = objectOf(objectOf(choice)?.['message']) ?? {};
    const content = message['content'];
    text +=
      textOf(content) ??
      listOf(content)
        .map((part) => textOf(objectOf(part)?.['text']) ?? '')
        .join('');
    text += textOf(message['reasoning_content']) ?? textOf(message['reasoning']) ?? '';
    for (const toolCall of listOf(message['tool_calls'])) {
      const fn = objectOf(objectOf(toolCall)?.['function']);
      text += (textOf(fn?.['name']) ?? '') + (textOf(fn?.['arguments']) ?? '');
    }
  }
  return text;
}
