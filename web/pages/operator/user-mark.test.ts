import { expect, test } from 'vitest';
import { userMark } from './user-mark.ts';

test('users of one name and one address differ by the end of their ids, which comes first', () => {
  const email = 'wei@example.com';
  expect(userMark('usr_0mwxymn50OK6F0v2Ea6sJr')).toBe('…Ea6sJr');
  expect(userMark('usr_0mwxymn50OK6F0v2Ea6sJr', null)).toBe('…Ea6sJr');
  expect(
    ['usr_0mwxymn50OK6F0v2Ea6sJr', 'usr_0mwxyndq0Hh1b2c3dA1b2C3'].map((id) => userMark(id, email)),
  ).toEqual(['…Ea6sJr · wei@example.com', '…A1b2C3 · wei@example.com']);
});
