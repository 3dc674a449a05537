import tailwindcss from '@tailwindcss/vite';
import { defineConfig } from 'vite';

/** Run by `scripts/build.mjs`, which says where the files go. */
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
    reportCompressedSize: false,
    emptyOutDir: true,
    rolldownOptions: {
      // Directives for servers that render: this is none.
      onLog: (level, log, say) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && say(level, log),
    },
  },
});
