import type { Clock } from '../base/clock.ts';
import { requestId } from '../base/id.ts';
import { refusal, type RefusalName } from '../base/refusal.ts';
import type { Unreadable } from '../http/server.ts';
import { chatEnvelope, statusOf } from './errors.ts';

const names: Readonly<Record<Parameters<Unreadable>[0], RefusalName>> = {
  malformed: 'malformed_request',
  host: 'host_header',
  expectation: 'expectation_failed',
  late: 'request_timeout',
  'head too large': 'head_too_large',
  'bad url': 'unknown_url',
};

/** What `unknown_url` goes on with where there is such an endpoint at another path. */
export const insteadAt = (path: string): string =>
  `. It is ${path} here: check the base address that your client was given.`;

/**
 * What came is no request that an endpoint could see: refused in the shape that all refusals have,
 * with an id of its own.
 */
export const unreadableAt =
  (clock: Clock): Unreadable =>
  (problem, values = {}) => {
    const why = refusal(names[problem], values);
    const id = requestId(clock.now());
    return { status: statusOf(why), body: chatEnvelope.body(why, id), id };
  };
