const nowhere = 'http://next.invalid';

/**
 * Where somebody goes after having signed in: a path of this site's pages, or `/`. Whatever a
 * browser could take for another site is not followed: what it does with backslashes, tabs and
 * dots, the parser of addresses does as well.
 */
export function nextPath(written: string | null | undefined): string {
  if (typeof written !== 'string' || written.length > 2_000 || !written.startsWith('/')) return '/';
  const url = URL.canParse(written, nowhere) ? new URL(written, nowhere) : undefined;
  if (url === undefined || url.origin !== nowhere || url.pathname.startsWith('//')) return '/';
  // Addresses that do something when they are opened, or are no pages.
  if (/^\/(?:auth|console|v1|files)(?:\/|$)/.test(url.pathname)) return '/';
  return url.pathname + url.search + url.hash;
}
