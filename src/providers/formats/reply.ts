import type { Fault } from '../../base/fault.ts';
import { type JsonObject, objectOf, parse } from '../../base/json.ts';
import type { StreamCollector, VendorAnswer } from '../adapter.ts';
import { protocolFault } from './fault.ts';

/** The reply as a JSON object; undefined when it is none. */
export const objectIn = (reply: Buffer): JsonObject | undefined =>
  objectOf(parse(reply.toString('utf8')));

/** The fault for a reply that is no JSON object, with the beginning of it. */
export const noObject = (reply: Buffer): Fault =>
  protocolFault(`an answer that is no JSON object: ${reply.toString('utf8', 0, 120)}`);

/** Reads a reply that the vendor streamed although the request did not ask for it. */
export function readStreamed(reply: Buffer, collector: StreamCollector): VendorAnswer | Fault {
  collector.push(reply);
  const answer = collector.answer();
  return collector.meter.fault ?? answer;
}
