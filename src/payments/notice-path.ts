import type { WalletId } from './wallet.ts';

/** Where a wallet tells us, below the public address. */
export const noticePath = (wallet: WalletId): string => `/pay/${wallet}/notify`;
