import { expect, test } from 'vitest';
import { loadBundled } from './bundled.ts';
import { checkImageVariants } from './config-price.ts';
import { reportWithoutLines } from './config-report.ts';
import { sizeProblem, tokensOf } from './image-terms.ts';

const bundled = await loadBundled({ usdRatePpm: 7_200_000n, today: '2026-11-21' });
const termsOf = (id: string) => bundled.get(id)?.facts.image ?? {};

test('the retired ids keep the sizes that the specification lists', () => {
  expect(termsOf('dall-e-3').sizes).toEqual(['1024x1024', '1792x1024', '1024x1792']);
  expect(termsOf('dall-e-2').sizes).toEqual(['256x256', '512x512', '1024x1024']);
  expect(termsOf('gpt-image-1').sizes).toEqual(['1024x1024', '1536x1024', '1024x1536', 'auto']);
});

test('a wrong size is told what would be right', () => {
  expect(sizeProblem(termsOf('dall-e-3'), '512x512')).toBe(
    "'512x512' is not supported by this model. Supported sizes are: 1024x1024, 1792x1024, 1024x1792.",
  );
  expect(sizeProblem(termsOf('gpt-image-2'), '1000x1000')).toContain(
    'sides that are multiples of 16',
  );
});

test.each(['1536x864', '3840x2160', '1024x1024', 'auto'])('a size by rule fits: %s', (size) => {
  expect(sizeProblem(termsOf('gpt-image-2'), size)).toBeUndefined();
});

test.each([
  '3856x2160',
  '1000x1000',
  '2048x640',
  '512x512',
  '4096x4096',
  '0x0',
  'big',
  '1024X1024',
  '1024x1024 ',
])('a size does not: %s', (size) => {
  expect(sizeProblem(termsOf('gpt-image-2'), size)).toBeDefined();
});

test('a model without terms takes any size, and nothing that is none', () => {
  expect(sizeProblem({}, '640x480')).toBeUndefined();
  expect(sizeProblem({}, 'auto')).toBeUndefined();
  expect(sizeProblem({}, '640')).toContain('<width>x<height>');
});

test('a larger picture is taken for more tokens, and a quality that is left open for the dearest', () => {
  const terms = termsOf('gpt-image-2');
  expect(tokensOf(terms, 'medium', 1024 * 1024)).toBe(1_800);
  expect(tokensOf(terms, 'high', 2048 * 2048)).toBe(28_400);
  expect(tokensOf(terms, undefined, 256 * 256)).toBe(28_400);
  expect(tokensOf(termsOf('gemini-3-pro-image'), 'hd', 4096 * 4096)).toBe(4_096);
  expect(tokensOf(termsOf('dall-e-3'), 'hd', 1)).toBeUndefined();
});

test('requests can name all sizes and qualities by which bundled prices vary', () => {
  const resolutions = ['1K', '2K', '4K'];
  for (const { facts } of bundled.values()) {
    if (facts.kind !== 'image') continue;
    const report = reportWithoutLines();
    checkImageVariants(facts, report, []);
    const { problems } = report;
    expect(problems, facts.id).toEqual([]);
    const names = Object.keys(facts.price.by?.rates ?? {}).map((name) => name.split('/')[0] ?? '');
    const strange = names.filter((name) => /^\d/.test(name) && sizeProblem({}, name) !== undefined);
    expect(
      strange.filter((name) => !resolutions.includes(name)),
      facts.id,
    ).toEqual([]);
  }
});
