import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { expectAccessible, noChromium, openWindow, picture, withChromium } from './chromium.ts';
import { type LiveConsole, startLiveConsole } from './gateway.ts';
import { configurationFrom, oneModel } from '../support/running.ts';
import { sse, startVendor, streamOf } from '../support/scripted-vendor.ts';

withChromium();

interface Stage {
  readonly live: LiveConsole;
  /** The only model answers this from now on. */
  readonly answer: (text: string) => void;
}

async function startStage(): Promise<Stage> {
  const vendor = await startVendor();
  const live = await startLiveConsole(async () => ({
    configuration: await configurationFrom(oneModel(vendor.url)),
  }));
  const answer = (text: string): void => {
    const pieces = text.match(/[^]{1,20000}/gu) ?? [];
    vendor.answer((_, response) => sse(response).end(streamOf(pieces)));
  };
  return { live, answer };
}

/** A new user asks the only model, which answers with `text`. */
async function answerOf({ live, answer }: Stage, text: string) {
  answer(text);
  const user = await live.newUser({ yuan: 100_000n });
  await user.ask('keys', {
    method: 'POST',
    body: { name: 'web', group: 'default' },
    headers: { 'idempotency-key': 'hostile-answers' },
  });
  const { page, go } = await openWindow(live.url, user.cookie);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await go('/playground/chat?model=m1');
  await page.getByLabel('Message').fill('Hello');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.locator('[data-charge]').last().waitFor();
  await page.waitForLoadState('networkidle');
  const foreign = asked.filter((url) => !url.startsWith(live.url) && !url.startsWith('data:'));
  return { page, log: page.getByRole('log'), foreign };
}

const ran = (page: Page) => page.evaluate('globalThis.ran ?? 0');

const scripts = [
  '<script>globalThis.ran = 1</script>',
  '<img src=x onerror="globalThis.ran = 1">',
  '<svg onload="globalThis.ran = 1"></svg>',
  '<iframe srcdoc="<script>parent.ran = 1</script>"></iframe>',
  '[a](javascript:globalThis.ran=1)',
  '[b](JaVaScRiPt&colon;globalThis.ran=1)',
  '[c](data:text/html,<script>opener.ran=1</script>)',
  '[d](vbscript:ran)',
  '[e](/settings)',
  '<javascript:globalThis.ran=1>',
  '![picture](https://tracker.example/pixel.png)',
  '![inline](data:image/svg+xml,<svg onload="parent.ran=1"></svg>)',
  '[honest](https://example.com/page "title\\" onmouseover=\\"globalThis.ran=1")',
  '| <b onclick="ran=1">x</b> |\n|-|\n| <img src=y onerror="ran=1"> |',
  '```"><script>globalThis.ran=1</script>\n</code></pre><script>globalThis.ran=1</script>\n```',
  String.raw`$\href{javascript:globalThis.ran=1}{x}$ $\includegraphics{https://tracker.example/a.png}$`,
  String.raw`$\htmlData{onclick=ran}{x}$ $\class{fixed}{x}$ $\style{position:fixed}{x}$`,
  String.raw`$\text{<img src=x onerror="globalThis.ran=1">}$`,
].join('\n\n');

describe.skipIf(noChromium)('what a model answers, in Chromium', () => {
  test('runs nothing, opens nothing and loads nothing', async () => {
    const { page, log, foreign } = await answerOf(await startStage(), scripts);
    const links: (string | null)[] = await page.evaluate(
      "[...document.querySelectorAll('[role=log] a[href]')].map((link) => link.getAttribute('href'))",
    );
    expect(links.filter((href) => !href?.startsWith('/usage/'))).toEqual([
      'https://tracker.example/pixel.png',
      'https://example.com/page',
    ]);
    await expect
      .poll(() => log.getByRole('link', { name: 'honest' }).getAttribute('rel'))
      .toBe('noopener noreferrer nofollow');
    expect(
      await log.locator('script, iframe, img, svg[onload], [onerror], [onclick]').count(),
    ).toBe(0);
    for (const part of await log.locator('a, td, code').all()) await part.hover({ force: true });
    expect(await ran(page)).toBe(0);
    expect(foreign).toEqual([]);
    await expectAccessible(page, 'a hostile answer');
  }, 60_000);

  test('is drawn as Markdown, with code to copy and formulas', async () => {
    const { page, log } = await answerOf(await startStage(), nice);
    await log.getByRole('heading', { name: 'Waves' }).waitFor();
    await log.getByRole('table').waitFor();
    await expect.poll(() => log.locator('math').count()).toBe(3);
    await expect.poll(() => log.innerText()).toContain('$5 and $10');
    await log.getByRole('button', { name: 'Copy', exact: true }).first().click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      "print('hello')  # a comment",
    );
    await expectAccessible(page, 'Markdown');
    await picture(page, 'play-markdown-1440-light-en');
  }, 60_000);

  test('does not hold the page up, however long, deep or wide it is', async () => {
    const bombs = [
      `${'> '.repeat(5_000)}deep`,
      `${'- '.repeat(3_000)}deep`,
      `|${'a|'.repeat(3_000)}\n|${'-|'.repeat(3_000)}\n${`|${'b|'.repeat(3_000)}\n`.repeat(10)}`,
      'word '.repeat(200_000),
      `$${String.raw`\def\a{\a\a}\a`}$ $${'{'.repeat(1_500)}x${'}'.repeat(1_500)}$`,
      String.raw`$$\rule{9999em}{9999em}\kern-9999em\raisebox{-9999em}{over the page}$$`,
      String.raw`$${'\\sqrt'.repeat(700)}x$`,
      `${'$x^2$ '.repeat(1_500)}`,
      `${'\u202e'.repeat(2_000)}turned ${'a\u0301'.repeat(50)}${'\u0489'.repeat(2_000)}`,
    ];
    const stage = await startStage();
    for (const bomb of bombs) {
      const { page } = await answerOf(stage, bomb);
      const begun = performance.now();
      await page.getByLabel('Message').fill('I can still type');
      await page.getByRole('button', { name: 'Raw events' }).click();
      expect(performance.now() - begun).toBeLessThan(3_000);
      const sideways: number = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect(sideways, bomb.slice(0, 80)).toBe(0);
      await page.context().close();
    }
  }, 240_000);
});

const nice = String.raw`# Waves

The **wave equation** says that a wave keeps its shape; it costs between $5 and $10, and $c = \lambda f$:

$$
\frac{\partial^2 u}{\partial t^2} = c^2 \nabla^2 u, \qquad \int_0^\infty e^{-x^2}\,dx = \frac{\sqrt{\pi}}{2}
$$

### Steps

1. Take \(u(x, t)\).
2. Write ~~nothing~~ *something*:
   - with ${'`'}code${'`'},
   - and a [link](https://example.com).

${'```'}python
print('hello')  # a comment
${'```'}

> A quotation.

| name | value |
|:-----|------:|
| a    | 1     |
| b    | 22    |
`;
