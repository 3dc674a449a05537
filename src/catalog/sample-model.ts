import wellKnown from './data/sample-models.json' with { type: 'json' };
import { type Price, rateOf } from './price.ts';
import type { ModelFacts } from './snapshot.ts';

type Sold = Pick<ModelFacts, 'id' | 'kind' | 'price' | 'shutdownDate'>;

/**
 * The chat model that samples name: the first of the well-known ones that is sold and stays, in the
 * list's order, else the cheapest. The list begins with the model of README's samples.
 */
export function sampleModel(sold: readonly Sold[]): string | undefined {
  const chats = sold.filter(({ kind }) => kind === 'chat');
  const staying = chats.filter(({ shutdownDate }) => shutdownDate === undefined);
  const known = wellKnown.find((id) => staying.some((model) => model.id === id));
  return known ?? cheapest(staying) ?? cheapest(chats);
}

function cheapest(models: readonly Sold[]): string | undefined {
  return models
    .map(({ id, price }) => ({ id, cost: costOf(price) }))
    .toSorted((a, b) => (a.cost < b.cost ? -1 : Number(a.cost > b.cost)))[0]?.id;
}

/** Of a token of input and one of output. */
const costOf = ({ rates }: Price): bigint =>
  (rateOf(rates, 'input') ?? 0n) + (rateOf(rates, 'output') ?? 0n);
