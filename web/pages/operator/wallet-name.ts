import { operatorWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';

/** `WeChat Pay`, `Alipay`; an unknown wallet keeps its id. */
export function useWalletName(): (wallet: string) => string {
  const { wallets } = useWords(operatorWords);
  return (wallet) => wallets[wallet] ?? wallet;
}
