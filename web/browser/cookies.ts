const year = 365 * 24 * 60 * 60;

/** Only what the server must know before the page is drawn: theme and language. */
export function remember(name: 'tollgate_theme' | 'tollgate_language', value: string): void {
  const secure = location.protocol === 'https:' ? '; secure' : '';
  // oxlint-disable-next-line unicorn/no-document-cookie -- cookieStore is absent on plain http
  document.cookie = `${name}=${value}; path=/; max-age=${year}; samesite=lax${secure}`;
}
