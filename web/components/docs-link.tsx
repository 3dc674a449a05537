import type { ReactNode } from 'react';
import { type Language, useLanguage } from '../words/language.ts';
import { linkLook } from './button.tsx';

/** Chapters that the console links to, by their pages in `docs/`; `inChinese`: in `docs/zh/` too. */
export const chapters = {
  index: { page: 'index', inChinese: true },
  config: { page: 'reference/config', inChinese: false },
  errors: { page: 'reference/errors', inChinese: false },
  ledger: { page: 'guides/ledger', inChinese: false },
} as const;

/** The address of a chapter in the guides that this gateway serves. */
export function docsLink(
  chapter: keyof typeof chapters,
  language: Language,
  heading?: string,
): string {
  const { page, inChinese } = chapters[chapter];
  const translated = inChinese && language === 'zh' ? 'zh/' : '';
  const anchor = heading === undefined ? '' : `#${heading}`;
  return `/docs/guide/${translated}${page}.html${anchor}`;
}

interface DocsLinkProps {
  readonly to: keyof typeof chapters;
  readonly heading?: string;
  readonly className?: string;
  /** For a link that shows a picture alone. */
  readonly label?: string | undefined;
  readonly children: ReactNode;
}

/** A chapter opens beside the console. */
export function DocsLink({ to, heading, className, label, children }: DocsLinkProps): ReactNode {
  return (
    <a
      href={docsLink(to, useLanguage(), heading)}
      target="_blank"
      rel="noopener"
      className={className ?? linkLook}
      {...(label !== undefined && { 'aria-label': label, 'data-tip': label })}
    >
      {children}
    </a>
  );
}
