import { editBytes, jsonText } from '../../base/json-edit.ts';
import type { Answer, Call, Parts } from '../adapter.ts';
import { sumOf } from './parts-sum.ts';
import { rawElements, rawMembers, rawText } from './json.ts';
import { vectorUsageText } from './vectors.ts';

/**
 * A request of more inputs than the vendor takes at a time, in parts. An array of numbers is one
 * input: tokens.
 */
export function embeddingsParts(call: Call, inputsMax: number): Parts | undefined {
  const { input } = call.body;
  if (!Array.isArray(input) || input.length <= inputsMax || typeof input[0] === 'number')
    return undefined;
  const frame = editBytes(call.bytes, [{ path: ['input'], json: '0' }]);
  const calls: Call[] = [];
  for (let at = 0; at < input.length; at += inputsMax) {
    const some = input.slice(at, at + inputsMax);
    calls.push({
      ...call,
      body: { ...call.body, input: some },
      bytes: editBytes(frame, [{ path: ['input'], json: jsonText(some) }]),
    });
  }
  return { calls, join: joined };
}

/** The vectors of all parts, numbered anew, under the first part's head. */
function joined(answers: readonly Answer[]): Answer {
  const items: string[] = [];
  const tops = answers.map(({ body }) => rawMembers(body.toString('latin1')));
  for (const top of tops)
    for (const item of rawElements(top.get('data')))
      items.push(rawText(rawMembers(item).set('index', String(items.length))));
  const quantities = sumOf(answers);
  const [top = new Map<string, string>()] = tops;
  top.set('data', `[${items.join(',')}]`);
  if (quantities === undefined) top.delete('usage');
  else
    top.set(
      'usage',
      vectorUsageText(Object.values(quantities).reduce((total, amount) => total + amount, 0)),
    );
  return {
    body: Buffer.from(rawText(top), 'latin1'),
    quantities,
    upstreamId: answers[0]?.upstreamId,
    outputText: '',
  };
}
