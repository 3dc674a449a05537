import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

interface Term {
  readonly english: string;
  readonly chinese: string;
  readonly notEnglish: readonly string[];
  readonly notChinese: readonly string[];
  readonly strict: boolean;
}

/** A text of the console: its family and key, and what the reader sees. */
interface Text {
  readonly key: string;
  readonly english: string;
  readonly chinese: string;
}

const read = (page: string): string => readFileSync(new URL(`../${page}`, import.meta.url), 'utf8');

const listOf = (cell: string): readonly string[] => cell.split(', ').filter((word) => word !== '');

/** The rows of the glossary's table. */
function termsOf(page: string): readonly Term[] {
  return page
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| English |'))
    .map((line) => {
      const cells = line.split('|').map((cell) => cell.trim());
      const [, english = '', chinese = '', , notEnglish = '', notChinese = '', strict] = cells;
      return {
        english,
        chinese,
        notEnglish: listOf(notEnglish),
        notChinese: listOf(notChinese),
        strict: strict === 'yes',
      };
    });
}

/** Finds a word or its plural as a whole word; `x-request-id` and `channel:ark` are names. */
const saysEnglish = (text: string, word: string): boolean =>
  new RegExp(`(?<![\\w-])${word}(?:e?s)?(?![\\w-]|:\\w)`, 'i').test(text);

/** What is wrong with a text of the console; each sentence names the text and the word. */
function faultsOf({ key, english, chinese }: Text, terms: readonly Term[]): readonly string[] {
  return terms.flatMap((term) => [
    ...term.notEnglish
      .filter((word) => saysEnglish(english, word))
      .map((word) => `${key} says '${word}', not '${term.english}': ${english}`),
    ...forbiddenChinese(chinese, term).map((fault) => `${key} ${fault}: ${chinese}`),
    ...(term.strict && saysEnglish(english, term.english) && !chinese.includes(term.chinese)
      ? [`${key} has '${term.english}' without '${term.chinese}': ${english} / ${chinese}`]
      : []),
  ]);
}

const forbiddenChinese = (text: string, { chinese, notChinese }: Term): readonly string[] =>
  notChinese
    .filter((word) => text.includes(word))
    .map((word) => `says '${word}', not '${chinese}'`);

function entries(value: unknown, path: string): readonly (readonly [string, unknown])[] {
  if (typeof value !== 'object' || value === null) return [[path, value]];
  return Object.entries(value).flatMap(([name, each]) => entries(each, `${path}.${name}`));
}

/** A text as the reader sees it; functions are called with places that hold no words. */
function textOf(value: unknown): string {
  if (typeof value !== 'function') return String(value);
  return String(value(...Array.from({ length: value.length }, (_, index) => `<${index + 1}>`)));
}

const folder = (language: string): URL => new URL(`../web/words/${language}/`, import.meta.url);

/** The texts of one family. Its path is worked out, so that no type of the browser comes along. */
async function textsOf(file: string): Promise<readonly Text[]> {
  const [en, zh] = await Promise.all(
    ['en', 'zh'].map(
      async (language) => (await import(new URL(file, folder(language)).href)).default,
    ),
  );
  const chinese = new Map(entries(zh, file));
  return entries(en, file).map(([key, value]) => ({
    key,
    english: textOf(value),
    chinese: textOf(chinese.get(key)),
  }));
}

const terms = termsOf(read('docs/reference/glossary.md'));

describe('the glossary', () => {
  test('is read whole: each term has both languages, and no word is wanted and unwanted', () => {
    expect(terms.length).toBeGreaterThan(50);
    for (const { english, chinese } of terms) {
      expect(english, chinese).not.toBe('');
      expect(chinese, english).not.toBe('');
    }
    const wanted = new Set(terms.flatMap(({ english, chinese }) => [english, chinese]));
    const unwanted = terms.flatMap(({ notEnglish, notChinese }) => [...notEnglish, ...notChinese]);
    expect(unwanted.filter((word) => wanted.has(word))).toEqual([]);
  });

  test('finds a forbidden word in either language, and a term without its counterpart', () => {
    const text = { key: 'a', english: 'Open the channel', chinese: '打开渠道' };
    expect(faultsOf(text, terms)).toEqual([]);
    expect(faultsOf({ ...text, english: 'Open the provider’s channels' }, terms)).toEqual([
      "a says 'provider', not 'vendor': Open the provider’s channels",
    ]);
    expect(faultsOf({ ...text, chinese: '打开供应商的渠道' }, terms)).toEqual([
      "a says '供应商', not '厂商': 打开供应商的渠道",
    ]);
    expect(faultsOf({ ...text, english: 'Vendors and channels' }, terms)).toEqual([
      "a has 'vendor' without '厂商': Vendors and channels / 打开渠道",
    ]);
    expect(faultsOf({ ...text, english: 'Two-tier channels of x-provider-id' }, terms)).toEqual([]);
  });
});

/** Chinese sentences for codes of the server, which has the English ones. */
const withoutEnglish = 'reasons.ts';
const families = readdirSync(folder('en')).filter((file) => file !== withoutEnglish);

test.each(families)('the texts of %s hold to it', async (file) => {
  const texts = await textsOf(file);
  expect(texts.length).toBeGreaterThan(0);
  expect(texts.flatMap((text) => faultsOf(text, terms)).join('\n')).toBe('');
});

test('a kind of model has one name, on the models page, in the playground and in the usage', async () => {
  // In usage and in channels kinds have the names of endpoints.
  const plurals = ['completion', 'embedding', 'image', 'transcription', 'moderation'];
  const kinds = new Map<string, { readonly name: string; readonly key: string }>();
  for (const file of ['models.ts', 'playground.ts', 'usage.ts', 'operator-channels.ts'])
    for (const { key, english, chinese } of await textsOf(file)) {
      const [, kind = ''] = /^[^.]*\.ts\.(?:kinds|capabilities)\.(\w+)$/.exec(key) ?? [];
      if (kind === '') continue;
      const one = plurals.find((each) => `${each}s` === kind) ?? kind;
      const name = `${english} / ${chinese}`;
      const known = kinds.get(one) ?? { name, key };
      expect(name, `${key} and ${known.key}`).toBe(known.name);
      kinds.set(one, known);
    }
  expect([...kinds.keys()]).toContain('transcription');
});

const chinesePages = [
  'README.zh-CN.md',
  'docs/zh/index.md',
  ...readdirSync(new URL('../docs/zh/guides', import.meta.url)).map(
    (file) => `docs/zh/guides/${file}`,
  ),
];

test.each(chinesePages)('%s holds to it', (page) => {
  const faults = read(page)
    .split('\n')
    .flatMap((line, index) =>
      terms.flatMap((term) =>
        forbiddenChinese(line, term).map((fault) => `${page}:${index + 1} ${fault}`),
      ),
    );
  expect(faults.join('\n')).toBe('');
});
