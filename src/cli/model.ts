import type { Env } from '../base/env.ts';
import type { OperatorModel, UnitPrice } from '../console/contract.ts';
import { systemClock } from '../base/clock.ts';
import { modelView } from '../console/operator/models.ts';
import { channelActivity } from '../console/operator/serving.ts';
import { windowTexts } from '../catalog/price-windows.ts';
import { storedCatalog } from '../catalog/stored-catalog.ts';
import { print, type SharedOptions } from './command-io.ts';
import { withDatabase } from './installation.ts';
import { table } from './terminal.ts';

/** Models that are or were sold, with their prices, as the console shows them to operators. */
export async function listModelsCommand(
  options: SharedOptions & { readonly all?: true },
  env: Env,
): Promise<void> {
  await withDatabase(options, env, async (database) => {
    const catalog = await storedCatalog(database);
    const activity = await channelActivity(database, systemClock);
    const models = catalog.models
      .filter(({ active }) => active || options.all === true)
      .map((model) => ({ model, view: modelView(model, catalog, activity) }));
    const rows = models.map(({ model, view }) => [
      view.id,
      view.kind,
      view.vendor,
      stateOf(view),
      String(view.channels.length),
      [priceText(view.prices), windowTexts(model.price).join(', ')]
        .filter((text) => text !== '')
        .join('; '),
      view.shutdown_date ?? '',
    ]);
    const heads = ['model', 'kind', 'vendor', 'state', 'channels', 'price in yuan', 'shutdown'];
    print(
      options,
      models.map(({ view }) => view),
      table(heads, rows),
    );
  });
}

function stateOf({ active, channels, served, not_serving: not }: OperatorModel): string {
  if (!active) return 'retired';
  if (served) return 'sold';
  const why = [...new Set(Object.values(not))].join(', ');
  return channels.length === 0 ? 'no channel' : `not served: ${why}`;
}

const plainShown = 3;

/** The first plain prices, without windows: `input 2.00/M, output 3.00/M`. */
function priceText(prices: readonly UnitPrice[]): string {
  const plain = prices.filter(({ variant, above_input_tokens: above }) => !variant && !above);
  const shown = (plain.length === 0 ? prices : plain).slice(0, plainShown);
  const text = shown.map(({ class: what, variant, amount, per }) =>
    [what, variant, per === 1 ? amount : `${amount}/M`].filter(Boolean).join(' '),
  );
  return [...text, ...(prices.length > shown.length ? ['…'] : [])].join(', ');
}
