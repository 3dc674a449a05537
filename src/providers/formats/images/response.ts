import assert from 'node:assert/strict';
import type { Fault } from '../../../base/fault.ts';
import { type JsonObject, objectOf, parse } from '../../../base/json.ts';
import type { Quantities } from '../../../base/quantities.ts';
import {
  type VendorAnswer,
  type VendorCall,
  type PendingFault,
  type SplitCall,
  type GeneratedImage,
  imageRequestOf,
} from '../../adapter.ts';
import { totalQuantities } from '../adapters.ts';
import { type FaultHeaders, faultReader, protocolFault, type FaultRule } from '../fault.ts';

/**
 * The answer with the vendor's images, at most as many as the client requested; a fault when there
 * are none. It has no quantities: the gateway counts the images that it gets.
 */
export function imagesAnswer(
  call: VendorCall,
  pictures: readonly GeneratedImage[],
  upstreamId?: string,
): VendorAnswer | Fault {
  if (pictures.length === 0) return protocolFault('an answer without a picture');
  return {
    body: Buffer.from(JSON.stringify({ created: call.created })),
    quantities: undefined,
    upstreamId,
    outputText: '',
    pictures: pictures.slice(0, imageRequestOf(call).n),
  };
}

/** The answer of a task that has ended: a fault is final, because each poll would read the same. */
export function finalAnswer(...made: Parameters<typeof imagesAnswer>): VendorAnswer | PendingFault {
  const answer = imagesAnswer(...made);
  return 'kind' in answer ? finalFault(answer) : answer;
}

/** The image at an address, which may hold its bytes (`data:`). */
export function pictureAt(url: string): GeneratedImage {
  const [, base64] = /^data:[^,]*;base64,(.*)$/s.exec(url) ?? [];
  return { from: base64 === undefined ? { url } : { base64 } };
}

/**
 * The fault for a request that the vendor rejected. `what` is the vendor's reason, if it gave one.
 */
export const moderationFault = (what: string | undefined): PendingFault => ({
  kind: 'content_policy',
  message: `The safety system has rejected this request.${what === undefined || what === '' ? '' : ` ${what}`}`,
  ended: true,
});

export const finalFault = (fault: Fault): PendingFault => ({ ...fault, ended: true });

/**
 * Makes the readers of a vendor's faults. `fault` reads the reply to a submission, `polled` a reply
 * to a poll: of these, only 404 and 410 mean that the task is gone.
 */
export function faultReaders(rules: readonly FaultRule[] = []) {
  const fault = faultReader(rules);
  const polled = (status: number, headers: FaultHeaders, reply: string): PendingFault => ({
    ...fault(status, headers, reply),
    ...(status === 404 || status === 410 ? { gone: true } : {}),
  });
  return { fault, polled };
}

/** Splits a call for more images than the vendor makes at once. */
export function splitByCount(call: VendorCall, most: number): SplitCall | undefined {
  const image = imageRequestOf(call);
  if (image.n <= most) return undefined;
  const calls: VendorCall[] = [];
  for (let left = image.n; left > 0; left -= most)
    calls.push({ ...call, image: { ...image, n: Math.min(left, most) } });
  return { calls, join, independent: true };
}

function join(answers: readonly VendorAnswer[]): VendorAnswer {
  const [first] = answers;
  assert(first !== undefined, 'a call has parts');
  return {
    ...first,
    quantities: totalQuantities(answers),
    pictures: answers.flatMap(({ pictures = [] }) => pictures),
  };
}

/** The usage in OpenAI's format. */
export function imageUsageOf(quantities: Quantities): JsonObject {
  const {
    input = 0,
    cached_input: cached = 0,
    image_input: seen = 0,
    output = 0,
    reasoning = 0,
    image_output: drawn = 0,
  } = quantities;
  const [inputs, outputs] = [input + cached + seen, output + reasoning + drawn];
  return {
    input_tokens: inputs,
    input_tokens_details: { text_tokens: input + cached, image_tokens: seen },
    output_tokens: outputs,
    output_tokens_details: { text_tokens: output + reasoning, image_tokens: drawn },
    total_tokens: inputs + outputs,
  };
}

/** Adds the usage in OpenAI's format to the answer. */
export const withImageUsage = (answer: VendorAnswer, quantities: Quantities): VendorAnswer => ({
  ...withUsage(answer, imageUsageOf(quantities)),
  quantities,
});

/** `usage` undefined: the answer has none. */
function withUsage(answer: VendorAnswer, usage: JsonObject | undefined): VendorAnswer {
  const told = objectOf(parse(answer.body.toString('utf8')));
  return { ...answer, body: Buffer.from(JSON.stringify({ ...told, usage })) };
}

const hasUsage = ({ body }: VendorAnswer): boolean =>
  objectOf(parse(body.toString('utf8')))?.['usage'] !== undefined;

/**
 * Adds the usage of all parts to the joined answer, which begins as the first one. A part without
 * usage has tokens of unknown kinds, and so has the whole.
 */
export function partsWithImageUsage(parts: SplitCall | undefined): SplitCall | undefined {
  if (parts === undefined) return undefined;
  const join: SplitCall['join'] = (answers) => {
    const all = parts.join(answers);
    const isKnown = all.quantities !== undefined && answers.every(hasUsage);
    return withUsage(all, isKnown ? imageUsageOf(all.quantities) : undefined);
  };
  return { ...parts, join };
}
