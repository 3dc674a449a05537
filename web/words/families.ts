import { family } from './family.ts';

/** Of the frame and of every component: loaded with the first page. */
export const sharedWords = family({ en: () => import('./en/shared.ts'), zh: () => import('./zh/shared.ts') });
export const signInWords = family({ en: () => import('./en/sign-in.ts'), zh: () => import('./zh/sign-in.ts') });
export const overviewWords = family({ en: () => import('./en/overview.ts'), zh: () => import('./zh/overview.ts') });
export const keysWords = family({ en: () => import('./en/keys.ts'), zh: () => import('./zh/keys.ts') });
export const settingsWords = family({ en: () => import('./en/settings.ts'), zh: () => import('./zh/settings.ts') });
