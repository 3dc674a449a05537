import tailwindcss from '@tailwindcss/vite';
import { defineConfig, type Rolldown } from 'vite';

const texts =
  /web\/words\/(en|zh)\/(operator|playground|tasks|models|settings|requests|keys|statement|top-up)?/;
/** What lists, dialogs, menus and forms are made of: the overview needs none of it. */
const asked =
  /components\/(?:choice|column-menu|day-input|detail-page|dialog|diff-list|facts|field|filter-bar|form(?!at)|list-panel|maybe-disabled|menu|original|pager|scrolling-row|search-field|secret-once|tabs)|format\/(?:amount|day|price|quantity|whole-names|written-price|wrong-fields)|api\/once|browser\/device|pages\/model-parts|@tanstack/;
const shown =
  /web\/(?:api|browser|components|format)\/|pages\/(?:charge-parts|error-code)|words\/rich|shell\/announcement\.tsx/;

/**
 * Each file costs a request, so that code of many pages goes into few files: what starts the
 * console, what most pages show, forms and dialogs, parts that pages share, and the texts of each
 * language. A page, the chart's canvas and the palette stay files of their own.
 */
const groups: Rolldown.CodeSplittingGroup[] = [
  { name: 'libraries', test: /node_modules/, tags: ['$initial'], priority: 9 },
  { name: 'start', test: /web/, tags: ['$initial'], priority: 8 },
  {
    name(id) {
      const [, language = '', family = ''] = texts.exec(id) ?? [];
      return `words-${language}${family === '' ? '' : family === 'operator' ? '-operator' : '-more'}`;
    },
    debugName: 'words',
    test: texts,
    priority: 7,
  },
  {
    name: 'kit',
    test: (id) => shown.test(id) && !asked.test(id),
    minShareCount: 2,
    priority: 6,
  },
  { name: 'forms', test: asked, priority: 5 },
  { name: 'operator', test: /web\/pages\/operator\//, minShareCount: 2, priority: 4 },
  { name: 'pages', test: /web\/(?:pages|samples)\//, minShareCount: 2, priority: 3 },
];

/** `scripts/build.mjs` runs it and sets the output folder. */
export default defineConfig({
  root: import.meta.dirname,
  plugins: [tailwindcss()],
  publicDir: false,
  build: {
    target: 'es2022',
    manifest: 'manifest.json',
    assetsDir: 'assets',
    assetsInlineLimit: 0, // a data: address would need a hole in the content security policy
    modulePreload: { polyfill: false },
    cssCodeSplit: false, // all styles are one small file
    reportCompressedSize: false,
    emptyOutDir: true,
    rolldownOptions: {
      output: { codeSplitting: { groups } },
      // Bundling warns of directives for servers that render; the console has none.
      onLog: (level, log, warn) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && warn(level, log),
    },
  },
});
