import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { chapters, docsLink } from './docs-link.tsx';

const docs = join(import.meta.dirname, '..', '..', 'docs');

test('each chapter that the console links to has its page, in Chinese where it says so', () => {
  for (const { page, inChinese } of Object.values(chapters)) {
    expect(existsSync(join(docs, `${page}.md`)), page).toBe(true);
    expect(existsSync(join(docs, 'zh', `${page}.md`)), page).toBe(inChinese);
  }
});

test('a chapter without a Chinese page opens in English', () => {
  expect(docsLink('index', 'zh')).toBe('/docs/guide/zh/index.html');
  expect(docsLink('errors', 'zh', 'not_sold')).toBe('/docs/guide/reference/errors.html#not_sold');
});
