import { describe, expect, test } from 'vitest';
import { expectAccessible, noChromium, openWindow, withChromium } from './chromium.ts';
import { faultsOf } from './eyes.ts';

withChromium();

/** A table that scrolls sideways below a first column and a last one that stay in view. */
const table = ({ first = '', middle = '', last = '', name = 'ci-key', model = 'glm-4.6' }) => `
<style>
  table { border-spacing: 0; table-layout: fixed; width: 900px; }
  td, th { width: 300px; padding: 0 8px; white-space: nowrap; text-align: left; height: 36px; }
  .stays { position: sticky; z-index: 1; background: rgb(255 255 255); }
</style>
<main><div id="box" style="width: 500px; overflow-x: auto"><table>
  <tr>
    <th class="stays" style="left: 0; width: 120px; ${first}">${name}</th>
    <td style="${middle}">${model}</td>
    <td>2 images</td>
    <td class="stays" style="right: 0; width: 120px; ${last}">one place</td>
  </tr>
</table></div></main>`;

describe.skipIf(noChromium)('the eyes in Chromium', () => {
  const long = 'a-name-of-a-model-that-is-longer-than-its-column-'.repeat(2);
  test.each([
    ['nothing, where columns scroll below those that stay', {}, []],
    [
      'a name in a staying column that runs over the next',
      { name: long },
      [`runs over its neighbour: ${long.slice(0, 60)}`],
    ],
    [
      'a name that runs below the column that stays at the right',
      { model: long },
      [`runs over its neighbour: ${long.slice(0, 60)}`],
    ],
    [
      'text below a staying column without a ground',
      { first: 'background: rgb(255 255 255 / 0.4)' },
      ['is seen through ci-key: glm-4.6'],
    ],
    [
      'text that lies over a staying column',
      { middle: 'position: relative; z-index: 2' },
      ['is seen through ci-key: glm-4.6'],
    ],
  ] as const)('find %s', async (_what, parts, faults) => {
    const { page } = await openWindow('http://127.0.0.1', undefined, { width: 800 });
    await page.setContent(table(parts));
    const atRest = await faultsOf(page);
    await page.evaluate('document.getElementById("box").scrollLeft = 130');
    const scrolled = await faultsOf(page);
    expect(scrolled.filter((fault) => !fault.startsWith('cut off'))).toEqual(faults);
    // What a column hides only where it has been scrolled to is a matter of the scrolling.
    expect(atRest.filter((fault) => fault.startsWith('runs'))).toEqual(
      faults.filter((fault) => fault.startsWith('runs')),
    );
  });

  test.each([
    [
      'a gap after the dots of an id',
      '<button><span style="display: flex"><span class="truncate" style="overflow: hidden; white-space: nowrap; width: 20px">abcdef</span><span style="margin-left: 8px; font-family: monospace">wxyz</span></span></button>',
      ['a gap after the dots: abcdef'],
    ],
    [
      'a date that breaks at its hyphens',
      '<p style="width: 60px">2026-11-26</p>',
      ['a broken date: 2026-11-26 in 2026-11-26'],
    ],
    [
      'a space after a Chinese sentence',
      '<p>已扣费。 没有缓存。</p>',
      ['a space after a Chinese sentence: 已扣费。 '],
    ],
  ] as const)('find %s', async (_what, content, faults) => {
    const { page } = await openWindow('http://127.0.0.1', undefined, { width: 800 });
    await page.setContent(`<main>${content}</main>`);
    expect(await faultsOf(page)).toEqual(expect.arrayContaining([...faults]));
  });

  test('look at a page on a desk on a tablet as well, and leave its window as it was', async () => {
    const { page } = await openWindow('http://127.0.0.1', undefined, { width: 1440 });
    await page.setContent('<main><div style="width: 1200px">Wide</div></main>');
    const found = (await faultsOf(page)).join();
    expect(found).toMatch(/^at 1024 px: can be scrolled sideways to 12\d\d px$/);
    expect(page.viewportSize()?.width).toBe(1440);
  });
});

describe.skipIf(noChromium)('axe in Chromium', () => {
  test('names each rule that is broken, and each element that breaks it', async () => {
    const { page } = await openWindow('http://127.0.0.1', undefined, { width: 800 });
    const pale = '<p style="color: #ccc; background: #fff">Pale</p>';
    await page.setContent(`<main><h1>A page</h1>${pale}${pale}<input></main>`);
    const refused = await expectAccessible(page, 'a page').catch((error: unknown) => error);
    const told = JSON.stringify(refused);
    expect(told).toMatch(/"id":"color-contrast".*Pale.*Pale/);
    expect(told).toContain('"id":"label"');
  });
});
