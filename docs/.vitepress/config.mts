// The site of docs/, in English and Chinese: `npm run docs:site` builds it into `site/`.
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { type DefaultTheme, defineConfig } from 'vitepress';
import { accessible } from './accessible.mts';
import { tokenize } from './theme/tokenize.ts';

type Markdown = Parameters<
  NonNullable<NonNullable<Parameters<typeof defineConfig>[0]['markdown']>['config']>
>[0];

const base = process.env['SITE_BASE'] || '/';
const logo = readFileSync(new URL('../pictures/logo.svg', import.meta.url), 'base64');
const logoAddress = `data:image/svg+xml;base64,${logo}`;

/** The same anchors as on GitHub; `test/house/links.ts` checks links against them. */
const slugify = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');

/** Links to files beside docs/ (README, tests, …) have no page here: their text alone is shown. */
function unlinkOutside(markdown: Markdown): void {
  markdown.core.ruler.push('unlink-outside', ({ tokens, env }) => {
    const folder = posix.dirname(env.relativePath);
    for (const { children } of tokens) {
      let outside = false;
      for (const token of children ?? []) {
        if (token.type === 'link_open') {
          const href = token.attrGet('href') ?? '';
          outside = !/^(?:\w+:|#|\/)/.test(href) && posix.join(folder, href).startsWith('..');
        }
        if (outside && (token.type === 'link_open' || token.type === 'link_close'))
          token.type = 'text';
      }
    }
  });
}

/** An empty cell of a table's head is no header of its column. */
function emptyHeadersAreCells(markdown: Markdown): void {
  markdown.core.ruler.push('empty-headers-are-cells', ({ tokens }) => {
    for (const [at, token] of tokens.entries()) {
      if (token.type !== 'th_open' || tokens[at + 1]?.content !== '') continue;
      token.tag = 'td';
      const close = tokens[at + 2];
      if (close !== undefined) close.tag = 'td';
    }
  });
}

/** In Chinese pages, the names of a heading's link and of the button that copies a block. */
function nameInChinese(markdown: Markdown): void {
  markdown.core.ruler.push('name-in-chinese', ({ tokens, env }) => {
    if (!isChinese(env)) return;
    for (const link of tokens.flatMap(({ children }) => children ?? [])) {
      const label = link.type === 'link_open' ? link.attrGet('aria-label') : null;
      const [, title] = /^Permalink to "(.*)"$/s.exec(label ?? '') ?? [];
      if (title !== undefined) link.attrSet('aria-label', `“${title}”的链接`);
    }
  });
  const { rules } = markdown.renderer;
  const { fence } = rules;
  if (fence === undefined) throw new Error('VitePress draws no blocks of code.');
  rules.fence = (tokens, index, options, env, self) => {
    const drawn = fence(tokens, index, options, env, self);
    return isChinese(env) ? drawn.replace('title="Copy Code"', 'title="复制代码"') : drawn;
  };
}

const isChinese = ({ relativePath }: { readonly relativePath: string }): boolean =>
  relativePath.startsWith('zh/');

/**
 * Links to the reference of the API and to the console, where a gateway serves the guides: they are
 * one and two folders above.
 */
const navOf = (
  reference: string,
  gatewayConsole: string,
): { readonly nav?: DefaultTheme.NavItemWithLink[] } =>
  base === '/docs/guide/'
    ? {
        nav: [
          { text: reference, link: '/../', target: '_self', noIcon: true },
          { text: gatewayConsole, link: '/../../', target: '_self', noIcon: true },
        ],
      }
    : {};

/**
 * For the build alone; the theme gives it to browsers. VitePress writes a function of an object as
 * text for browsers to evaluate, which the gateway's policy forbids, but of a list the elements alone.
 */
const buildsIndex = Object.assign([], { tokenize });

type Section = readonly [title: string, ...pages: (readonly [text: string, link: string])[]];

const sidebarOf = (sections: readonly Section[]): DefaultTheme.SidebarItem[] =>
  sections.map(([text, ...pages]) => ({
    text,
    items: pages.map(([title, link]) => ({ text: title, link })),
  }));

const english = sidebarOf([
  [
    'Users',
    ['Quick start', '/guides/quick-start'],
    ['Clients', '/guides/clients'],
    ['Endpoints', '/reference/endpoints'],
    ['Prices, costs and balances', '/reference/money-by-key'],
    ['Errors', '/reference/errors'],
    ['Headers', '/reference/headers'],
  ],
  [
    'Operators',
    ['Operating', '/guides/operate'],
    ['Deploying', '/guides/deploy'],
    ['More than one machine', '/guides/scale-out'],
    ['Moving in', '/guides/move-in'],
    ['Configuration', '/reference/config'],
    ['Environment variables', '/reference/environment'],
    ['Commands', '/reference/cli'],
    ['Metrics', '/reference/metrics'],
    ['Figures of the console', '/reference/console-figures'],
  ],
  [
    'Developers',
    ['Architecture', '/architecture'],
    ['Adding a vendor', '/guides/add-a-vendor'],
    ['How money is kept', '/guides/ledger'],
    ['Reliability', '/reliability'],
    ['Security', '/security'],
    ['Recorded traffic', '/recordings'],
    ['Glossary', '/reference/glossary'],
    ['Decisions', '/decisions/'],
    ['Benchmarks', '/benchmarks/'],
  ],
]);

const chinese = sidebarOf([
  ['用户', ['快速开始', '/zh/guides/quick-start'], ['客户端设置', '/zh/guides/clients']],
  ['管理员', ['运营指南', '/zh/guides/operate']],
  ['更多', ['全部文档（其余为英文）', '/zh/']],
]);

const chineseSearch = {
  button: { buttonText: '搜索', buttonAriaLabel: '搜索' },
  modal: {
    displayDetails: '显示详细列表',
    resetButtonTitle: '清除',
    backButtonTitle: '返回',
    noResultsText: '没有结果：',
    footer: {
      selectText: '选择',
      selectKeyAriaLabel: '回车键',
      navigateText: '切换',
      navigateUpKeyAriaLabel: '上方向键',
      navigateDownKeyAriaLabel: '下方向键',
      closeText: '关闭',
      closeKeyAriaLabel: 'Esc 键',
    },
  },
};

export default defineConfig({
  title: 'Tollgate',
  description: 'A self-hosted AI gateway: every model behind one address, one key and one balance.',
  base,
  outDir: '../site',
  head: [['link', { rel: 'icon', href: logoAddress }]],
  vite: { plugins: [accessible] },
  markdown: {
    config(markdown) {
      unlinkOutside(markdown);
      emptyHeadersAreCells(markdown);
      nameInChinese(markdown);
    },
    anchor: { slugify },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  locales: {
    root: {
      label: 'English',
      lang: 'en',
      themeConfig: { sidebar: english, ...navOf('API reference', 'Console') },
    },
    zh: {
      label: '中文',
      lang: 'zh-CN',
      description: '自托管的 AI 网关：一个地址、一个密钥、一份余额，调用所有模型。',
      themeConfig: {
        sidebar: chinese,
        ...navOf('API 参考', '控制台'),
        skipToContentLabel: '跳到正文',
        outline: { label: '本页目录' },
        docFooter: { prev: '上一页', next: '下一页' },
        darkModeSwitchLabel: '外观',
        lightModeSwitchTitle: '切换到浅色',
        darkModeSwitchTitle: '切换到深色',
        sidebarMenuLabel: '菜单',
        returnToTopLabel: '回到顶部',
        langMenuLabel: '切换语言',
      },
    },
  },
  themeConfig: {
    logo: logoAddress,
    outline: { level: [2, 3] },
    externalLinkIcon: true,
    // Few pages are there in Chinese, and those link to each other: the menu leads to the index.
    i18nRouting: false,
    search: {
      provider: 'local',
      options: {
        locales: { zh: { translations: chineseSearch } },
        miniSearch: { options: buildsIndex, searchOptions: { combineWith: 'AND' } },
      },
    },
  },
});
