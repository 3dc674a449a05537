import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { models } from '../sim/catalog.ts';
import { imageModels } from '../sim/images/catalog.ts';
import { ownImageModels } from '../sim/own-images/catalog.ts';
import { soundModels } from '../sim/sound/catalog.ts';
import { vectorModels } from '../sim/vectors/catalog.ts';
import { videoModels } from '../sim/video/catalog.ts';
import { loadBundled } from '../src/catalog/bundled.ts';
import { vendors } from '../src/providers/index.ts';
import table from '../web/words/vendor-names.json' with { type: 'json' };

const names = new Map(Object.entries(table));

test('each vendor and each owner of a model has a name in both languages', async () => {
  const bundled = await loadBundled({ usdRatePpm: 7_200_000n, today: '2026-11-26' });
  const ids = new Set([
    ...[...vendors.values()].flatMap(({ id, ownedBy }) => [id, ownedBy]),
    ...[...bundled.values()].map(({ facts }) => facts.ownedBy),
    ...[models, imageModels, ownImageModels, soundModels, vectorModels, videoModels].flatMap(
      (list) => list.map(({ ownedBy }) => ownedBy),
    ),
  ]);
  expect([...names.keys()].toSorted()).toEqual([...ids].toSorted());
});

test.each([
  ['README.md', 'en', '## Vendors', ', '],
  ['README.zh-CN.md', 'zh', '## 厂商', '、'],
] as const)(
  'the vendors that %s lists have these names in the console',
  (page, language, heading, comma) => {
    const text = readFileSync(new URL(`../${page}`, import.meta.url), 'utf8');
    const [, list = ''] = text.split(heading);
    const listed =
      list
        .trimStart()
        .split(/(?: and |，以及)\[/)[0]
        ?.replaceAll('\n', ' ') ?? '';
    const shown = [...names.values()].map((name) => name[language]);
    const wrong = listed.split(comma).filter((name) => !shown.some((one) => one.includes(name)));
    expect(wrong).toEqual([]);
  },
);
