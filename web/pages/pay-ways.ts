import type { PayPage, WalletName } from '../../src/console/contract.ts';
import { useSession } from '../api/data.ts';
import { isInsideWechat, usePhone } from '../browser/device.ts';

interface PayWays {
  /** The best way on this device. */
  readonly first: PayPage;
  /** The other ways, the better ones first. */
  readonly others: readonly PayPage[];
  /** The wallet would open on this phone, but not from inside WeChat. */
  readonly blocked: boolean;
}

/** How this device can pay with a wallet. */
export function usePayWays(): (wallet: WalletName) => PayWays {
  const { wallet_pages: pages } = useSession();
  const isPhone = usePhone();
  return (wallet) => {
    const offered = pages[wallet] ?? [];
    const hasApp = isPhone && offered.includes('mobile');
    const isInside = isInsideWechat();
    // Without its app, Alipay's code is an address that a phone can open.
    const blocked = isInside && isPhone && (hasApp || wallet === 'alipay');
    const ways: readonly PayPage[] = isInside
      ? ['qr']
      : hasApp
        ? ['mobile', 'qr']
        : ['qr', 'web', 'mobile'];
    const [first = 'qr', ...others] = ways.filter((page) => offered.includes(page));
    return { first, others, blocked };
  };
}
