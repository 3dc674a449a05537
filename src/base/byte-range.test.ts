import { expect, test } from 'vitest';
import { byteRange } from './byte-range.ts';

test.each([
  [undefined, 'whole'],
  ['', 'whole'],
  ['bytes=0-0', { first: 0, last: 0 }],
  ['bytes=0-', { first: 0, last: 99 }],
  ['bytes=10-19', { first: 10, last: 19 }],
  ['Bytes=10-19 ', { first: 10, last: 19 }],
  ['bytes=10-1000', { first: 10, last: 99 }],
  ['bytes=-5', { first: 95, last: 99 }],
  ['bytes=-500', { first: 0, last: 99 }],
  ['bytes=99-', { first: 99, last: 99 }],
  ['bytes=100-', 'unsatisfiable'],
  ['bytes=100-200', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=-000', 'unsatisfiable'],
  ['bytes=999999999999999-', 'unsatisfiable'],
  ['bytes=20-10', 'whole'],
  ['bytes=-', 'whole'],
  ['bytes=a-b', 'whole'],
  ['bytes=0-1,2-3', 'whole'],
  [`bytes=${'0-,'.repeat(1_000)}0-`, 'whole'],
  ['bytes=9999999999999999999-', 'whole'],
  ['bytes=0x1-5', 'whole'],
  ['lines=0-5', 'whole'],
])('%s', (header, wanted) => {
  expect(byteRange(header, 100)).toEqual(wanted);
});
