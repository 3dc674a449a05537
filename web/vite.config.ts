import tailwindcss from '@tailwindcss/vite';
import { defineConfig } from 'vite';

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
    reportCompressedSize: false,
    emptyOutDir: true,
    rolldownOptions: {
      // Bundling warns of directives for servers that render; the console has none.
      onLog: (level, log, warn) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && warn(level, log),
    },
  },
});
