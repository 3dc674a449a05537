import type { Theme } from 'vitepress';
import theme from 'vitepress/theme-without-fonts';
import '../../../web/styles/inter.css';
import './site.css';
import { labelOn } from './labels.ts';
import { tokenize } from './tokenize.ts';

export default {
  extends: theme,
  enhanceApp({ app, router, siteData }) {
    siteData.value.themeConfig.search.options.miniSearch.options = { tokenize };
    // For the components that `accessible.mts` mends.
    app.config.globalProperties['$label'] = (label: string) =>
      labelOn(router.route.data.relativePath, label);
  },
} satisfies Theme;
