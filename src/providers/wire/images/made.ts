import { assert } from '../../../base/assert.ts';
import type { Fault } from '../../../base/fault.ts';
import type { Answer, Ask, Call, LaterFault, Parts, Picture } from '../../adapter.ts';
import { wishOf } from '../../image-wish.ts';
import { type Headers, faultOf, protocolFault } from '../openai-chat-fault.ts';
import type { FaultRule } from '../openai-chat-quirks.ts';
import { sumOf } from '../parts-sum.ts';

const nothing = Buffer.alloc(0);
const json = { 'content-type': 'application/json' } as const;

export const jsonAsk = (path: string, body: unknown, headers: Ask['headers'] = {}): Ask => ({
  path,
  headers: { ...json, ...headers },
  body: Buffer.from(JSON.stringify(body)),
});

export const getAsk = (path: string, headers: Ask['headers'] = {}): Ask => ({
  method: 'GET',
  path,
  headers,
  body: nothing,
});

/**
 * Pictures that are there, of those that were asked for. What they cost is counted by whoever has
 * them in hand; an answer without any cannot be read.
 */
export function made(
  call: Call,
  pictures: readonly Picture[],
  upstreamId?: string,
): Answer | Fault {
  if (pictures.length === 0) return protocolFault('an answer without a picture');
  return {
    body: Buffer.from(JSON.stringify({ created: call.created })),
    quantities: undefined,
    upstreamId,
    outputText: '',
    pictures: pictures.slice(0, wishOf(call).n),
  };
}

/** What the vendor did not like. `what` is its reason, if it told one. */
export const moderated = (what: string | undefined): LaterFault => ({
  kind: 'content_policy',
  message: `The safety system has rejected this request.${what === undefined || what === '' ? '' : ` ${what}`}`,
  ended: true,
});

export const ended = (fault: Fault): LaterFault => ({ ...fault, ended: true });

/**
 * Faults of a vendor, and of asking it for what it has taken: nothing but an end that it tells ends
 * the wait.
 */
export function faultsOf(rules: readonly FaultRule[] = []) {
  const fault = (status: number, headers: Headers, reply: string): Fault =>
    faultOf(status, headers, reply, { faults: rules });
  const polled = (status: number, headers: Headers, reply: string): LaterFault => ({
    ...fault(status, headers, reply),
    ...(status === 404 || status === 410 ? { gone: true } : {}),
  });
  return { fault, polled };
}

/** A call for more pictures than its vendor makes at once, as several. */
export function partsOf(call: Call, most: number): Parts | undefined {
  const image = wishOf(call);
  if (image.n <= most) return undefined;
  const calls: Call[] = [];
  for (let left = image.n; left > 0; left -= most)
    calls.push({ ...call, image: { ...image, n: Math.min(left, most) } });
  return { calls, join, alone: true };
}

function join(answers: readonly Answer[]): Answer {
  const [first] = answers;
  assert(first !== undefined, 'a call has parts');
  return {
    ...first,
    quantities: sumOf(answers),
    pictures: answers.flatMap(({ pictures = [] }) => pictures),
  };
}
