/** Labels for screen readers that VitePress has in English alone. */
const inChinese: Readonly<Record<string, string>> = {
  'Sidebar Navigation': '侧栏导航',
  'Main Navigation': '主导航',
  'mobile navigation': '导航菜单',
  'extra navigation': '更多选项',
  Pager: '上一页和下一页',
};

/** A label in the language of the page (`zh/guides/operate.md`). */
export const labelOn = (page: string, label: string): string =>
  (page.startsWith('zh/') ? inChinese[label] : undefined) ?? label;
