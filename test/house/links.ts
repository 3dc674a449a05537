import { posix } from 'node:path';

/** A page or file of the project; undefined when there is none. Folders have no text. */
export type PageReader = (path: string) => string | undefined;

/** Links of a page: Markdown's, and those of the HTML in it. Code holds none. */
export function linksOf(text: string): readonly string[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '');
  const written = [
    ...prose.matchAll(/\]\(([^)\s]+)[^)]*\)/g),
    ...prose.matchAll(/\b(?:href|src|srcset)="([^"\s]+)/g),
  ];
  return written.map((match) => match[1] ?? '');
}

/** Links between the project's own pages must have a target, and their anchors a heading. */
export function linkViolations(
  path: string,
  text: string,
  exists: (path: string) => boolean,
  read: PageReader,
): string[] {
  const own = linksOf(text).filter((link) => !/^\w+:/.test(link));
  return own.flatMap((link) => {
    const [file = '', anchor] = link.split('#', 2);
    const target = file === '' ? path : posix.join(posix.dirname(path), file);
    if (!exists(target)) return [`${path} links to ${link}, which does not exist`];
    if (anchor === undefined) return [];
    const page = file === '' ? text : (read(target) ?? '');
    return anchorsOf(page).has(decodeURIComponent(anchor))
      ? []
      : [`${path} links to ${link}, but ${target} has no such heading`];
  });
}

/** The anchors that GitHub and the site give to a page's headings. */
function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '');
  for (const [, heading = ''] of prose.matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = anchorOf(heading);
    let unique = slug;
    for (let count = 1; anchors.has(unique); count += 1) unique = `${slug}-${count}`;
    anchors.add(unique);
  }
  return anchors;
}

/** `docs/.vitepress/config.mts` makes the site's anchors in the same way. */
const anchorOf = (heading: string): string =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');
