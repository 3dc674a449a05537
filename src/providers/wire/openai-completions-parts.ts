import { editBytes, jsonText } from '../../base/json-edit.ts';
import type { Answer, Call, Parts } from '../adapter.ts';
import { usageText } from './chat-usage.ts';
import { isObject, listOf, objectOf, parse } from './json.ts';
import { sumOf } from './parts-sum.ts';

/**
 * Several texts for a model that completes one at a time, in parts. A stream of them would have to
 * be mixed from several, and is refused by whoever asks.
 */
export function completionParts(call: Call): Parts | undefined {
  const { prompt } = call.body;
  if (
    call.streamUpstream ||
    !Array.isArray(prompt) ||
    prompt.length < 2 ||
    typeof prompt[0] !== 'string'
  )
    return undefined;
  const partFor = (one: unknown): Call => ({
    ...call,
    body: { ...call.body, prompt: one },
    bytes: editBytes(call.bytes, [{ path: ['prompt'], json: jsonText(one) }]),
  });
  return { calls: prompt.map(partFor), join: joined };
}

/** The choices of all parts, numbered anew, under the first part's head. */
function joined(answers: readonly Answer[]): Answer {
  const bodies = answers.map(({ body }) => objectOf(parse(body.toString('utf8'))) ?? {});
  const choices = bodies
    .flatMap(({ choices: some }) => listOf(some).filter(isObject))
    .map((choice, index) => ({ ...choice, index }));
  const quantities = sumOf(answers);
  const { usage: _, ...head } = bodies[0] ?? {};
  const usage: unknown = quantities && parse(usageText(quantities));
  return {
    body: Buffer.from(
      JSON.stringify({ ...head, choices, ...(usage === undefined ? {} : { usage }) }),
    ),
    quantities,
    upstreamId: answers[0]?.upstreamId,
    outputText: quantities ? '' : answers.map(({ outputText }) => outputText).join(''),
  };
}
