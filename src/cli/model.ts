import type { UnitPrice } from '../console/contract.ts';
import { modelView } from '../console/operator/models.ts';
import { windowTexts } from '../catalog/price-windows.ts';
import { storedCatalog } from '../catalog/stored-catalog.ts';
import { print, type SharedOptions } from './command-io.ts';
import { type Env, withDatabase } from './installation.ts';
import { table } from './terminal.ts';

/** Models that are or were sold, with their prices, as the console shows them to operators. */
export async function listModelsCommand(
  options: SharedOptions & { readonly all?: true },
  env: Env,
): Promise<void> {
  await withDatabase(options, env, async (database) => {
    const catalogue = await storedCatalog(database);
    const models = catalogue.models
      .filter(({ active }) => active || options.all === true)
      .map((model) => ({ model, view: modelView(model, catalogue) }));
    const rows = models.map(
      ({ model, view: { id, vendor, kind, active, channels, prices, shutdown_date: end } }) => [
        id,
        kind,
        vendor,
        stateOf(active, channels.length),
        String(channels.length),
        [priceText(prices), windowTexts(model.price).join(', ')]
          .filter((text) => text !== '')
          .join('; '),
        end ?? '',
      ],
    );
    const heads = ['model', 'kind', 'vendor', 'state', 'channels', 'price in yuan', 'shutdown'];
    print(
      options,
      models.map(({ view }) => view),
      table(heads, rows),
    );
  });
}

function stateOf(active: boolean, channels: number): string {
  if (!active) return 'retired';
  return channels === 0 ? 'no channel' : 'sold';
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
