import { expect, test } from 'vitest';
import type { FaultKind } from '../base/fault.ts';
import { mayRetry } from './retry.ts';

const blamesTheRequest: readonly FaultKind[] = ['bad_request', 'context_length', 'content_policy'];
const once: readonly FaultKind[] = ['server_error', 'protocol'];
const always: readonly FaultKind[] = [
  'unknown_model',
  'credentials',
  'quota',
  'rate_limited',
  'overloaded',
  'network',
  'timeout',
];
const maybeTaken: readonly FaultKind[] = ['network', 'timeout', 'server_error', 'protocol'];
const every = [...blamesTheRequest, ...once, ...always];

test('a connection that never stood is always tried elsewhere', () => {
  for (const fault of every) {
    expect(mayRetry(fault, 'connecting', 9, 'text'), fault).toBe(true);
    expect(mayRetry(fault, 'connecting', 9, 'media'), fault).toBe(true);
  }
});

test('nothing is tried again after the first byte', () => {
  for (const fault of every) expect(mayRetry(fault, 'streaming', 1, 'text'), fault).toBe(false);
});

test('an image or a video that may have cost money is never asked for twice', () => {
  for (const fault of maybeTaken) expect(mayRetry(fault, 'waiting', 1, 'media'), fault).toBe(false);
  for (const fault of every) expect(mayRetry(fault, 'streaming', 1, 'media'), fault).toBe(false);
});

test('an image or a video that was refused for what is wrong with one channel is asked of the next', () => {
  for (const fault of always.filter((one) => !maybeTaken.includes(one)))
    expect(mayRetry(fault, 'waiting', 5, 'media'), fault).toBe(true);
});

test('a request that is wrong for its model is not tried elsewhere', () => {
  for (const fault of blamesTheRequest)
    expect(mayRetry(fault, 'waiting', 1, 'text'), fault).toBe(false);
});

test('a server error or an unreadable answer is tried elsewhere once', () => {
  for (const fault of once) {
    expect(mayRetry(fault, 'waiting', 1, 'text'), fault).toBe(true);
    expect(mayRetry(fault, 'waiting', 2, 'text'), fault).toBe(false);
  }
});

test('what is wrong with one channel is tried on the next, as long as there is one', () => {
  for (const fault of always) expect(mayRetry(fault, 'waiting', 5, 'text'), fault).toBe(true);
});
