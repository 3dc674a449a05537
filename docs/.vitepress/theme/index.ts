import type { Theme } from 'vitepress';
import theme from 'vitepress/theme-without-fonts';
import '../../../web/styles/inter.css';
import './site.css';
import { tokenize } from './tokenize.ts';

export default {
  extends: theme,
  enhanceApp({ siteData }) {
    siteData.value.themeConfig.search.options.miniSearch.options = { tokenize };
  },
} satisfies Theme;
