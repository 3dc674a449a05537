import { family } from './family.ts';

/** Texts of the frame and of every component: loaded with the first page. */
export const sharedWords = family({
  en: () => import('./en/shared.ts'),
  zh: () => import('./zh/shared.ts'),
});
export const signInWords = family({
  en: () => import('./en/sign-in.ts'),
  zh: () => import('./zh/sign-in.ts'),
});
export const overviewWords = family({
  en: () => import('./en/overview.ts'),
  zh: () => import('./zh/overview.ts'),
});
export const keysWords = family({
  en: () => import('./en/keys.ts'),
  zh: () => import('./zh/keys.ts'),
});
export const settingsWords = family({
  en: () => import('./en/settings.ts'),
  zh: () => import('./zh/settings.ts'),
});
export const usageWords = family({
  en: () => import('./en/usage.ts'),
  zh: () => import('./zh/usage.ts'),
});
export const requestWords = family({
  en: () => import('./en/requests.ts'),
  zh: () => import('./zh/requests.ts'),
});
export const statementWords = family({
  en: () => import('./en/statement.ts'),
  zh: () => import('./zh/statement.ts'),
});
export const topUpWords = family({
  en: () => import('./en/top-up.ts'),
  zh: () => import('./zh/top-up.ts'),
});
export const modelsWords = family({
  en: () => import('./en/models.ts'),
  zh: () => import('./zh/models.ts'),
});
export const playgroundWords = family({
  en: () => import('./en/playground.ts'),
  zh: () => import('./zh/playground.ts'),
});
export const tasksWords = family({
  en: () => import('./en/tasks.ts'),
  zh: () => import('./zh/tasks.ts'),
});
export const operatorWords = family({
  en: () => import('./en/operator.ts'),
  zh: () => import('./zh/operator.ts'),
});
export const channelWords = family({
  en: () => import('./en/operator-channels.ts'),
  zh: () => import('./zh/operator-channels.ts'),
});
export const priceWords = family({
  en: () => import('./en/operator-prices.ts'),
  zh: () => import('./zh/operator-prices.ts'),
});
export const reasonWords = family({
  en: () => import('./en/reasons.ts'),
  zh: () => import('./zh/reasons.ts'),
});
export const peopleWords = family({
  en: () => import('./en/operator-people.ts'),
  zh: () => import('./zh/operator-people.ts'),
});
export const operatorRequestWords = family({
  en: () => import('./en/operator-requests.ts'),
  zh: () => import('./zh/operator-requests.ts'),
});
export const bookWords = family({
  en: () => import('./en/operator-books.ts'),
  zh: () => import('./zh/operator-books.ts'),
});
