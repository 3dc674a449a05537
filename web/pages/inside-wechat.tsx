import type { ReactNode } from 'react';
import { Banner } from '../components/banner.tsx';
import { CopyButton } from '../components/copy.tsx';
import { Icon } from '../components/icon.tsx';
import { topUpWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';

interface InsideWechatProps {
  /** What the link to this page opens: the form, an order that waits, or one that is over. */
  readonly at: 'form' | 'order' | 'over';
  readonly codeAbove?: boolean;
}

/**
 * How to pay on a phone whose WeChat shows this page: in the phone's own browser. WeChat opens
 * neither its own H5 payment (pay.weixin.qq.com/wiki/doc/apiv3/open/pay/chapter2_6_0.shtml, cited
 * 2026-11-26: "outside the WeChat client") nor Alipay's pages, and its payment codes are scanned with
 * a camera alone (pay.weixin.qq.com/doc/v3/merchant/4012791890 of 2025-10-14, read 2026-11-26).
 */
export function InsideWechat({ at, codeAbove = false }: InsideWechatProps): ReactNode {
  const { insideWechat: words } = useWords(topUpWords);
  return (
    <Banner tone="warn">
      <div className="flex flex-col items-start gap-2 text-left">
        <p className="font-semibold">{words.title}</p>
        <ul className="flex flex-col gap-1">
          <li className="flex gap-1.5">
            <Icon name="check" className="mt-0.5 text-good" />
            <span>{words.browser}</span>
          </li>
          <li className="flex gap-1.5">
            <Icon name="check" className="mt-0.5 text-good" />
            <span>{codeAbove ? words.codeAbove : words.code}</span>
          </li>
          <li className="flex gap-1.5">
            <Icon name="failed" className="mt-0.5 text-bad" />
            <span>{words.wallets}</span>
          </li>
        </ul>
        <CopyButton text={location.href}>{words.copy}</CopyButton>
        <p>{words.link[at]}</p>
      </div>
    </Banner>
  );
}
