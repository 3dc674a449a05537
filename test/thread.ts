import type { ThreadOptions } from '../src/storage/sqlite.ts';

/**
 * SQLite's thread from sources. Node 20 cannot run TypeScript, and `--import tsx` does nothing in a
 * thread there, so a few lines of JavaScript register it first.
 */
export function threadFrom(entry: URL): ThreadOptions {
  const tsx = import.meta.resolve('tsx/esm/api');
  const code = `import { register } from ${JSON.stringify(tsx)}; register(); await import(${JSON.stringify(entry.href)});`;
  return { entry: new URL(`data:text/javascript,${encodeURIComponent(code)}`) };
}
