import type { PayPage, WalletName } from '../../src/console/contract.ts';
import { useSession } from '../api/data.ts';
import { isInsideWechat, usePhone } from '../browser/device.ts';

interface PayWays {
  /** The best way on this device. */
  readonly first: PayPage;
  /** The other ways, the better ones first. */
  readonly others: readonly PayPage[];
  /** The app would open on this phone, but no wallet opens from inside WeChat. */
  readonly blocked: boolean;
}

/** How this device can pay with a wallet. */
export function usePayWays(): (wallet: WalletName) => PayWays {
  const { wallet_pages: pages } = useSession();
  const isPhone = usePhone();
  return (wallet) => {
    const offered = pages[wallet] ?? [];
    const hasApp = isPhone && offered.includes('mobile');
    const blocked = hasApp && isInsideWechat();
    const ways: readonly PayPage[] = blocked
      ? ['qr']
      : hasApp
        ? ['mobile', 'qr']
        : ['qr', 'web', 'mobile'];
    const [first = 'qr', ...others] = ways.filter((page) => offered.includes(page));
    return { first, others, blocked };
  };
}
