import { expect, test } from 'vitest';
import { csvLine } from './csv.ts';

test('no text of a table is a formula, and amounts stay amounts', () => {
  for (const text of [
    '=1+1',
    '+1 and',
    '-cmd|',
    '@SUM(A1)',
    '\t=1',
    '\r=1',
    '＝1',
    '＋A1',
    '－A1',
    '＠A1',
  ])
    expect(csvLine([text]).replace(/^"/, '')).toMatch(/^'/);
  expect(csvLine(["x;=cmd|' /C calc'!A0", 'x\t@SUM(1)', 'x\n-1', 'a;b'])).toBe(
    '"x;\'=cmd|\' /C calc\'!A0","x\t\'@SUM(1)","x\n\'-1","a;b"\r\n',
  );
  expect(csvLine(['-1.50', '+08:00', 3, null, 'a "b", c'])).toBe(
    '-1.50,+08:00,3,,"a ""b"", c"\r\n',
  );
});
