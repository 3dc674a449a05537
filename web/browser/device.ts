import { useMedia } from './media.ts';

/**
 * Whether this is a phone, which has the payer's wallets on it: a small screen for fingers, or a
 * browser that says so.
 */
export function usePhone(): boolean {
  const isSmall = useMedia('(pointer: coarse) and (max-width: 767px)');
  return isSmall || /iPhone|Android.+Mobile|HarmonyOS/.test(navigator.userAgent);
}

/** WeChat's own browser, for pages that were opened in WeChat. */
export const isInsideWechat = (): boolean => /MicroMessenger/.test(navigator.userAgent);

/**
 * Leaves for a wallet's page, which leads back. WeChat reads the site that opens it from `Referer`,
 * and the console's own policy sends none to others.
 */
export function leaveFor(address: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.referrerPolicy = 'origin';
  document.body.append(link);
  link.click();
  link.remove();
}
