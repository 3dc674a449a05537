import type { ReactNode } from 'react';
import type { ModelKindName, ModelRow, PriceClass, UnitPrice } from '../../src/console/contract.ts';
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
export function kindsOf(models: readonly ModelRow[]): readonly ModelKindName[] {
  return kindOrder.filter((kind) => models.some((model) => model.kind === kind));
}

const pathOf = (id: string): string => id.split('/').map(encodeURIComponent).join('/');

/** The path of a model's page; its id may hold `/`. */
export function modelPath(id: string, group = ''): string {
  return `/models/${pathOf(id)}${group === '' ? '' : `?${new URLSearchParams({ group })}`}`;
}

/** The address of a model in the console's API. */
export const modelAddress = (id: string): string => `models/${pathOf(id)}`;

/** The price of a class of tokens in the first band. */
export function tokenPrice(
  { prices }: Pick<ModelRow, 'prices'>,
  of: PriceClass,
): UnitPrice | undefined {
  return prices.find(
    (price) =>
      price.class === of && price.unit === 'token' && price.above_input_tokens === undefined,
  );
}

/** A sorted copy: by name, price or context. */
export function sortedModels<Model extends ModelRow>(
  models: readonly Model[],
  sort: string,
): readonly Model[] {
  if (sort === 'context') return models.toSorted((a, b) => (b.context ?? 0) - (a.context ?? 0));
  if (sort === 'name')
    return models.toSorted((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }));
  const sign = sort === 'cheapest' ? 1 : -1;
  return models.toSorted((a, b) => sign * byPrice(a, b));
}

/** Tokens before pieces: prices in different units cannot be compared. */
function byPrice(a: ModelRow, b: ModelRow): number {
  const [first, second] = [leading(a), leading(b)];
  const units = (first?.per === 1 ? 1 : 0) - (second?.per === 1 ? 1 : 0);
  if (units !== 0) return units;
  const difference =
    (first === undefined ? 0n : rateOf(first)) - (second === undefined ? 0n : rateOf(second));
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

const leading = (model: ModelRow): UnitPrice | undefined =>
  tokenPrice(model, 'output') ?? tokenPrice(model, 'input') ?? model.prices[0];

/** The most decimals of a column: shorter amounts are padded to it, so that points line up. */
export const decimalsOf = (amounts: readonly string[]): number =>
  Math.max(0, ...amounts.map((amount) => amount.split('.')[1]?.length ?? 0));

/** A price in a column. */
export function Aligned({
  amount,
  decimals,
}: {
  readonly amount: string;
  readonly decimals: number;
}): ReactNode {
  const missing = decimals - (amount.split('.')[1]?.length ?? 0);
  return (
    <span className="whitespace-nowrap figures">
      {priceText(amount)}
      <span aria-hidden="true" className="invisible select-none">
        {'0'.repeat(Math.max(0, missing))}
      </span>
    </span>
  );
}

/** The price of models sold by the piece: `¥0.284 – ¥0.852 / image`. */
export function Piece({ model }: { readonly model: ModelRow }): ReactNode {
  const words = useWords(modelsWords);
  const pieces = model.prices.filter(({ unit }) => unit !== 'token');
  const [first] = pieces;
  if (first === undefined) {
    if (model.prices.length === 0) return <span className="text-muted">{words.free}</span>;
    return <span className="text-faint">—</span>;
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
