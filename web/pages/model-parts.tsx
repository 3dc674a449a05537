import { type ReactNode, useEffect } from 'react';
import type {
  ModelKindName,
  PricedModel,
  PriceClass,
  UnitPrice,
} from '../../src/console/contract.ts';
import { ApiError } from '../api/client.ts';
import { queryClient, sessionData } from '../api/data.ts';
import { absent } from '../components/absent.tsx';
import { priceText, rateOf } from '../format/price.ts';
import { modelsWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';

const kindOrder: readonly ModelKindName[] = [
  'chat',
  'image',
  'video',
  'speech',
  'transcription',
  'embedding',
  'rerank',
  'moderation',
  'completion',
];

/** The kinds among these models, in a fixed order: the most used first. */
export function kindsOf(models: readonly PricedModel[]): readonly ModelKindName[] {
  return kindOrder.filter((kind) => models.some((model) => model.kind === kind));
}

const pathOf = (id: string): string => id.split('/').map(encodeURIComponent).join('/');

/** The path of a model's page; its id may hold `/`. */
export function modelPath(id: string, group = ''): string {
  return `/models/${pathOf(id)}${group === '' ? '' : `?${new URLSearchParams({ group })}`}`;
}

/** Visitors without a session read the public list. The root route has loaded the session. */
export const modelsAddress = (): 'models' | 'market' =>
  queryClient.getQueryData(sessionData.queryKey)?.me === null ? 'market' : 'models';

/** The address of a model in the console's API. */
export const modelAddress = (id: string): string => `${modelsAddress()}/${pathOf(id)}`;

/** Forgets a group that is gone, of an old link: the account's own one is shown. */
export function useWithoutLostGroup(
  error: Error | null,
  group: string,
  set: (change: { readonly group: string }, options: { readonly replace: boolean }) => void,
): void {
  const lost = group !== '' && error instanceof ApiError && error.code === 'not_found';
  useEffect(() => {
    if (lost) set({ group: '' }, { replace: true });
  }, [lost, set]);
}

/** The price of a class of tokens in the first band. */
export function tokenPrice(
  { prices }: Pick<PricedModel, 'prices'>,
  of: PriceClass,
): UnitPrice | undefined {
  return prices.find(
    (price) =>
      price.class === of && price.unit === 'token' && price.above_input_tokens === undefined,
  );
}

/** The orders that a phone offers, which has no headers to press: see `sortedBy`. */
export const sortsOnPhone = [
  ['model', 'name'],
  ['output', 'cheapest'],
  ['-output', 'dearest'],
  ['-context', 'context'],
] as const;

/** What a model costs by the token, for sorting; null for one that is paid by the piece. */
export function tokenRate(model: PricedModel, of: PriceClass): bigint | null {
  const price = tokenPrice(model, of);
  return price === undefined ? null : rateOf(price);
}

/** The price of models sold by the piece: `¥0.284 – ¥0.852 / image`. */
export function Piece({ model }: { readonly model: PricedModel }): ReactNode {
  const words = useWords(modelsWords);
  const pieces = model.prices.filter(({ unit }) => unit !== 'token');
  const [first] = pieces;
  if (first === undefined) {
    if (model.prices.length === 0) return <span className="text-muted">{words.free}</span>;
    return absent;
  }
  const amounts = pieces
    .filter(({ unit }) => unit === first.unit)
    .toSorted((a, b) => (rateOf(a) < rateOf(b) ? -1 : 1));
  const [least, most] = [amounts[0]?.amount ?? '', amounts.at(-1)?.amount ?? ''];
  const price = least === most ? priceText(least) : words.range(priceText(least), priceText(most));
  return (
    <span className="whitespace-nowrap figures">
      {words.pricePer(price, words.per[first.unit])}
    </span>
  );
}

/** `Image 1024x1024/hd`, `Input, above 200,000 input tokens`. */
export function useLineName(): (price: UnitPrice) => string {
  const words = useWords(modelsWords);
  return (price) => {
    const { variant, above_input_tokens: above } = price;
    const plain = words.classes[price.class];
    if (variant !== undefined) return words.variantLine(plain, variant);
    return above === undefined ? plain : words.aboveLine(plain, above.toLocaleString('en'));
  };
}
