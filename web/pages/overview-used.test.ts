import { expect, test } from 'vitest';
import type { ChargeView } from '../../src/console/contract.ts';
import en from '../words/en/overview.ts';
import enUsage from '../words/en/usage.ts';
import zh from '../words/zh/overview.ts';
import zhUsage from '../words/zh/usage.ts';
import { usedText } from './overview-used.ts';

const mix = { input: 1_200, cached_input: 0, cache_write: 0, output: 0, reasoning: 0 };

const said = (charge: Pick<ChargeView, 'kind' | 'tokens' | 'quantity'>): readonly string[] => [
  usedText(charge, en.start, enUsage.units),
  usedText(charge, zh.start, zhUsage.units),
];

test('a first charge says what was used, in its own unit', () => {
  const tokens = null;
  const of = (kind: string, unit: NonNullable<ChargeView['quantity']>['unit'], amount: number) =>
    said({ kind, tokens, quantity: { amount, unit } });
  expect(of('video', 'second', 5)).toEqual(['a video of 5 s', '5 秒视频']);
  expect(of('images', 'image', 1)).toEqual(['1 image', '1 张图像']);
  expect(of('transcriptions', 'second', 30)).toEqual(['30 s of audio', '30 秒音频']);
  expect(of('speech', 'character', 120)).toEqual(['120 characters', '120 字符']);
  expect(said({ kind: 'video', tokens, quantity: null })).toEqual(['a video', '一个视频']);
});

test('a first charge of text says its tokens, with calls of tools or without', () => {
  const quantity = { amount: 2, unit: 'call' } as const;
  const chat = { kind: 'chat', tokens: { ...mix, output: 12 } };
  expect(said({ ...chat, quantity: null })).toEqual(['12 output tokens', '输出 12 token']);
  expect(said({ ...chat, quantity })).toEqual(['12 output tokens', '输出 12 token']);
  expect(said({ kind: 'embeddings', tokens: mix, quantity: null })).toEqual([
    '1,200 input tokens',
    '输入 1,200 token',
  ]);
});
