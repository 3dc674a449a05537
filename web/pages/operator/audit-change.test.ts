import { expect, test } from 'vitest';
import enBooks from '../../words/en/operator-books.ts';
import enModels from '../../words/en/models.ts';
import zhBooks from '../../words/zh/operator-books.ts';
import zhModels from '../../words/zh/models.ts';
import { changeInWords, movedIn } from './audit-change.ts';

const told = (action: string, member: string, before: string | null, after: string | null) =>
  [
    { audit: enBooks.audit, lines: enModels },
    { audit: zhBooks.audit, lines: zhModels },
  ].map(({ audit, lines }) => {
    const change = changeInWords({ action }, { member, before, after }, audit, lines);
    return [change.member, change.before, change.after];
  });

test('a channel’s vendor costs are told line by line, in yuan, by the words of prices', () => {
  expect(told('channel.update', 'costs of lab/m: input', '2', '2.125')).toEqual([
    ['Vendor cost of lab/m: Input', '¥2.00', '¥2.125'],
    ['lab/m 的厂商成本：输入', '¥2.00', '¥2.125'],
  ]);
  expect(told('channel.create', 'costs of a: b: output above 32000', null, '1200')).toEqual([
    ['Vendor cost of a: b: Output, above 32,000 input tokens', null, '¥1,200.00'],
    ['a: b 的厂商成本：输出（输入超过 32,000 token）', null, '¥1,200.00'],
  ]);
  expect(told('channel.remove', 'costs of v: second by 720p', '0.5', null)).toEqual([
    [`Vendor cost of v: ${enModels.classes.second} (720p)`, '¥0.50', null],
    [`v 的厂商成本：${zhModels.classes.second}（720p）`, '¥0.50', null],
  ]);
});

test('factors are no amounts, and other members of a channel stay as they are written', () => {
  expect(told('channel.update', 'costs of m: mode flex', '0.5', '0.6')).toEqual([
    ['Vendor cost of m: mode flex', '0.5', '0.6'],
    ['m 的厂商成本：mode flex', '0.5', '0.6'],
  ]);
  for (const written of told('channel.update', 'weight', '1', '3'))
    expect(written).toEqual(['weight', '1', '3']);
});

test('what changed of a user or a key is told in words; what a user wrote stays', () => {
  expect(told('user.role', 'role', 'user', 'operator')).toEqual([
    ['Role', 'User', 'Operator'],
    ['角色', '用户', '管理员'],
  ]);
  expect(told('key.update', 'status', 'active', 'disabled')[1]).toEqual(['状态', '正常', '已停用']);
  expect(told('user.create', 'name', null, 'operator')[1]).toEqual(['名称', null, 'operator']);
  expect(told('user.credit', 'transfer', null, 'grant_1')[0]).toEqual([
    'Transfer',
    null,
    'grant_1',
  ]);
});

test('a model’s price lines, and amounts of users, have their sign and their name', () => {
  expect(told('price.publish', 'input', '1', '2')).toEqual([
    ['Input', '¥1.00', '¥2.00'],
    ['输入', '¥1.00', '¥2.00'],
  ]);
  expect(told('user.credit', 'amount', null, '5')).toEqual([
    ['Amount', null, '¥5.00'],
    ['金额', null, '¥5.00'],
  ]);
  for (const written of told('group.update', 'input', '1', '2'))
    expect(written).toEqual(['input', '1', '2']);
});

test('an entry that moved money has its amount, others have none', () => {
  const entry = (member: string, after: string | null) => ({
    changes: [
      { member: 'transfer', before: null, after: 'grant_1' },
      { member, before: null, after },
    ],
  });
  expect(movedIn(entry('amount', '10.50'))).toBe('¥10.50');
  expect(movedIn(entry('amount', '-6.50'))).toBe('\u2212¥6.50');
  expect(movedIn(entry('amount', null))).toBeUndefined();
  expect(movedIn(entry('limit', '5'))).toBeUndefined();
});
