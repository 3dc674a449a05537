import type { Fault } from '../../../base/fault.ts';
import {
  type JsonChange,
  editJson,
  jsonText,
  type Documented,
  editJsonBytes,
  isObject,
  type JsonObject,
  listOf,
  parse,
  rawMembers,
  isPresent,
  textOf,
  utf8,
  objectOf,
  objectsOf,
} from '../../../base/json.ts';
import type { Quantities } from '../../../base/quantities.ts';
import type {
  VendorAnswer,
  VendorCall,
  StreamCollector,
  StreamMeter,
  StreamTranslator,
  SplitCall,
} from '../../adapter.ts';
import { servedTier } from '../../billable-features.ts';
import { joined } from '../../conversation/chat-collector.ts';
import { chatUsage } from '../../conversation/client-usage.ts';
import { totalQuantities } from '../adapters.ts';
import { faultWithin, mayTellFault, protocolFault, type FaultRule } from '../fault.ts';
import { finishReason } from '../openai-chat/message.ts';
import { readUsage, hiddenInChoice, hiddenMembers, upstreamIdOf } from '../openai-chat/response.ts';
import { noObject } from '../reply.ts';
import type { CompletionChoice, TextCompletion } from './types.ts';

/**
 * The changes that make a vendor's answer or chunk the client's: the ids, the model, OpenAI's
 * finish reason, and the removal of members that the client must not see.
 */
export function completionChanges(body: JsonObject, call: VendorCall): JsonChange[] {
  const changes: JsonChange[] = [
    { path: ['id'], json: jsonText(call.answerId) },
    { path: ['object'], json: '"text_completion"' },
    { path: ['model'], json: jsonText(call.publicModel) },
  ];
  for (const name of hiddenMembers) if (body[name] !== undefined) changes.push({ path: [name] });
  const { choices }: Documented<TextCompletion> = body;
  listOf(choices).forEach((value, i) => {
    const choice: JsonObject | undefined = objectOf(value);
    if (choice === undefined) return;
    const { finish_reason: told }: Documented<CompletionChoice> = choice;
    const vendorReason = textOf(told);
    const reason = vendorReason === undefined ? undefined : finishReason(jsonText(vendorReason));
    if (reason !== vendorReason)
      changes.push({ path: ['choices', i, 'finish_reason'], json: jsonText(reason ?? null) });
    // Together repeats the text as the delta of a chat.
    for (const name of ['delta', ...hiddenInChoice])
      if (choice[name] !== undefined) changes.push({ path: ['choices', i, name] });
  });
  return changes;
}

/** Reads a whole answer: the vendor's bytes with the changes for the client. */
export function readCompletion(
  reply: Buffer,
  call: VendorCall,
  faults: readonly FaultRule[] | undefined,
): VendorAnswer | Fault {
  const text = reply.toString('latin1').trim();
  const body = parse(reply.toString('utf8'));
  if (!isObject(body)) return noObject(reply);
  const refused = mayTellFault(body) ? faultWithin(body, faults) : undefined;
  if (refused) return refused;
  const { created, choices: told }: Documented<TextCompletion> = body;
  const choices = objectsOf(told);
  if (choices.length === 0) return protocolFault('an answer without choices');
  const changes = completionChanges(body, call);
  if (changes.some(({ json }) => json === '"error"'))
    return { kind: 'server_error', message: 'the vendor ended its answer with an error' };
  const usageText = rawMembers(text).get('usage');
  const usage = isPresent(usageText) ? readUsage(usageText) : undefined;
  if (usage && usage.json !== usageText) changes.push({ path: ['usage'], json: usage.json });
  if (typeof created !== 'number') changes.push({ path: ['created'], json: String(call.created) });
  return {
    body: Buffer.from(editJson(text, changes), 'latin1'),
    quantities: usage?.quantities,
    pricingFacts: servedTier(call, body).told,
    upstreamId: upstreamIdOf(body),
    outputText: usage ? '' : choices.map(({ text: said }) => textOf(said) ?? '').join(''),
  };
}

/** Puts a stream of text completions together from the events written for the client. */
export class CompletionCollector implements StreamCollector {
  readonly meter: StreamMeter;
  readonly #call: VendorCall;
  readonly #stream: StreamTranslator;
  readonly #choices = new Map<number, Record<string, unknown>>();
  #usage: unknown;

  constructor(call: VendorCall, translator: (call: VendorCall) => StreamTranslator) {
    this.#call = call;
    this.#stream = translator({ ...call, stream: true, includeUsage: true });
    this.meter = this.#stream.meter;
  }

  push(piece: Buffer): void {
    this.#add(this.#stream.push(piece));
  }

  answer(cut?: Quantities): VendorAnswer {
    this.#add(cut ? this.#stream.cutShort(cut) : this.#stream.end());
    const { answerId: id, created, publicModel: model } = this.#call;
    const choices = [...this.#choices].sort(([a], [b]) => a - b).map(([, choice]) => choice);
    const usage = cut ? parse(chatUsage(cut)) : this.#usage;
    const quantities = cut ?? this.meter.quantities;
    return {
      body: Buffer.from(
        JSON.stringify({
          id,
          object: 'text_completion',
          created,
          model,
          choices,
          ...(usage ? { usage } : {}),
        }),
      ),
      quantities,
      pricingFacts: cut === undefined ? this.meter.pricingFacts : undefined,
      upstreamId: this.meter.upstreamId,
      outputText: quantities ? '' : choices.map(({ text }) => textOf(text) ?? '').join(''),
    };
  }

  #add(events: string): void {
    if (events === '') return;
    for (const event of utf8(events).split('\n\n')) {
      const chunk: Documented<TextCompletion> | undefined = objectOf(
        parse(event.slice('data: '.length)),
      );
      if (chunk === undefined) continue;
      this.#usage = chunk.usage ?? this.#usage;
      for (const choice of objectsOf(chunk.choices)) this.#choice(choice);
    }
  }

  #choice({ index, finish_reason: finish, ...choice }: JsonObject): void {
    const at = Number(index) || 0;
    const into = this.#choices.get(at) ?? {
      text: '',
      index: at,
      logprobs: null,
      finish_reason: null,
    };
    this.#choices.set(at, into);
    for (const [name, value] of Object.entries(choice)) into[name] = joined(into[name], value);
    into['finish_reason'] = finish ?? into['finish_reason'];
  }
}

/**
 * Splits a request with several texts, for a model that completes one at a time. A stream would
 * have to be mixed from several: it is not split, and the adapter refuses it.
 */
export function completionParts(call: VendorCall): SplitCall | undefined {
  const { prompt } = call.body;
  if (
    call.streamUpstream ||
    !Array.isArray(prompt) ||
    prompt.length < 2 ||
    typeof prompt[0] !== 'string'
  )
    return undefined;
  const partFor = (one: unknown): VendorCall => ({
    ...call,
    body: { ...call.body, prompt: one },
    bytes: editJsonBytes(call.bytes, [{ path: ['prompt'], json: jsonText(one) }], call.skeleton),
  });
  return { calls: prompt.map(partFor), join: joinedCompletions };
}

/**
 * Joins the answers of all parts: the choices are renumbered, other members are the first part's.
 */
function joinedCompletions(answers: readonly VendorAnswer[]): VendorAnswer {
  const bodies = answers.map(({ body }) => objectOf(parse(body.toString('utf8'))) ?? {});
  const choices = bodies
    .flatMap(({ choices: some }) => objectsOf(some))
    .map((choice, index) => ({ ...choice, index }));
  const quantities = totalQuantities(answers);
  const { usage: _, ...head } = bodies[0] ?? {};
  const usage: unknown = quantities && parse(chatUsage(quantities));
  return {
    body: Buffer.from(
      JSON.stringify({ ...head, choices, ...(usage === undefined ? {} : { usage }) }),
    ),
    quantities,
    upstreamId: answers[0]?.upstreamId,
    outputText: quantities ? '' : answers.map(({ outputText }) => outputText).join(''),
  };
}
