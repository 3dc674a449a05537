import { type Change, edit, jsonText } from '../../base/json-edit.ts';
import type { Fault } from '../../base/fault.ts';
import type { Answer, Call } from '../adapter.ts';
import { isObject, type JsonObject, listOf, parse, rawMembers, says, textOf } from './json.ts';
import { hiddenInChoice, hiddenMembers, upstreamIdOf } from './openai-chat-chunk.ts';
import { faultWithin, mayTellFault, protocolFault } from './openai-chat-fault.ts';
import { finishReason } from './openai-chat-message.ts';
import type { FaultRule } from './openai-chat-quirks.ts';
import { readUsage } from './openai-chat-usage.ts';
import { toldTier } from './tiers.ts';

/**
 * What an answer or a chunk must say otherwise to be ours: the ids, the model, the vendor's word
 * for its end, and members that stay between the vendor and us.
 */
export function changesOf(body: JsonObject, call: Call): Change[] {
  const changes: Change[] = [
    { path: ['id'], json: jsonText(call.answerId) },
    { path: ['object'], json: '"text_completion"' },
    { path: ['model'], json: jsonText(call.publicModel) },
  ];
  for (const name of hiddenMembers) if (body[name] !== undefined) changes.push({ path: [name] });
  listOf(body['choices']).forEach((choice, i) => {
    if (!isObject(choice)) return;
    const said = textOf(choice['finish_reason']);
    const reason = said === undefined ? undefined : finishReason(jsonText(said));
    if (reason !== said)
      changes.push({ path: ['choices', i, 'finish_reason'], json: jsonText(reason ?? null) });
    // Together repeats the text as a chat's delta.
    for (const name of ['delta', ...hiddenInChoice])
      if (choice[name] !== undefined) changes.push({ path: ['choices', i, name] });
  });
  return changes;
}

/** A whole answer: the vendor's bytes but for what must be ours. */
export function readCompletion(
  reply: Buffer,
  call: Call,
  quirks: { faults?: readonly FaultRule[] },
): Answer | Fault {
  const text = reply.toString('latin1').trim();
  const body = parse(reply.toString('utf8'));
  if (!isObject(body))
    return protocolFault(`an answer that is no JSON object: ${reply.toString('utf8', 0, 120)}`);
  const refused = mayTellFault(body) ? faultWithin(body, quirks) : undefined;
  if (refused) return refused;
  const choices = listOf(body['choices']).filter(isObject);
  if (choices.length === 0) return protocolFault('an answer without choices');
  const changes = changesOf(body, call);
  if (changes.some(({ json }) => json === '"error"'))
    return { kind: 'server_error', message: 'the vendor ended its answer with an error' };
  const told = rawMembers(text).get('usage');
  const usage = says(told) ? readUsage(told) : undefined;
  if (usage && usage.json !== told) changes.push({ path: ['usage'], json: usage.json });
  if (typeof body['created'] !== 'number')
    changes.push({ path: ['created'], json: String(call.created) });
  return {
    body: Buffer.from(edit(text, changes), 'latin1'),
    quantities: usage?.quantities,
    told: toldTier(call, body).told,
    upstreamId: upstreamIdOf(body),
    outputText: usage ? '' : choices.map(({ text: said }) => textOf(said) ?? '').join(''),
  };
}
