// After the build of the site: no page loads anything from another host, and every link of a page
// leads to a page, its anchor to an element.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { root } from './sources.mjs';

const site = join(root, 'site');
const base = process.env.SITE_BASE || '/';
const files = readdirSync(site, { recursive: true }).map(String);
const read = (file) => readFileSync(join(site, file), 'utf8');
const pages = files.filter((file) => file.endsWith('.html'));

/** Elements that fetch what they name. `<a>` does not. */
const loads =
  /<(?:script|img|link|iframe|source|video|audio)\b[^>]*?\s(?:src|srcset|href)="((?:https?:)?\/\/[^"]*)"/g;
const styleLoads = /(?:url\(\s*["']?|@import\s+["'])((?:https?:)?\/\/[^"')]+)/g;

const wrong = [];
for (const file of files) {
  const rule = file.endsWith('.html') ? loads : file.endsWith('.css') ? styleLoads : undefined;
  if (rule === undefined) continue;
  for (const [, address] of read(file).matchAll(rule)) wrong.push(`${file} loads ${address}`);
}

const idsOf = new Map(
  pages.map((page) => [
    page,
    new Set([...read(page).matchAll(/\sid="([^"]+)"/g)].map((m) => m[1])),
  ]),
);
for (const page of pages) {
  for (const [, link] of read(page).matchAll(/<a\b[^>]*?\shref="([^"]+)"/g)) {
    if (/^\w+:/.test(link)) continue;
    const [path, anchor] = decodeURIComponent(link).split('#', 2);
    const target = path === '' ? page : pageAt(page, path);
    if (target === undefined) wrong.push(`${page} links to ${link}, which does not exist`);
    else if (anchor && idsOf.get(target)?.has(anchor) === false)
      wrong.push(`${page} links to ${link}, but ${target} has no such element`);
  }
}

for (const each of wrong) process.stderr.write(`${each}\n`);
process.stdout.write(`site/: ${pages.length} pages, ${wrong.length} faults\n`);
process.exit(wrong.length === 0 ? 0 : 1);

/** The file that a path names; undefined when there is none. */
function pageAt(from, path) {
  const file = path.startsWith('/')
    ? join(site, path.slice(base.length))
    : join(site, dirname(from), path);
  const whole = path.endsWith('/') ? join(file, 'index.html') : file;
  return existsSync(whole) ? relative(site, whole) : undefined;
}
