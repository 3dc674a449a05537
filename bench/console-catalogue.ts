import { type Bundled, modelsOfVendor } from '../src/catalog/bundled.ts';
import { buildSnapshot } from '../src/catalog/build-snapshot.ts';
import { loadCatalog, recordConfiguration } from '../src/catalog/catalog-store.ts';
import { readConfiguration } from '../src/catalog/config.ts';
import type { Snapshot } from '../src/catalog/snapshot.ts';
import type { Clock } from '../src/base/clock.ts';
import { serves } from '../src/app/gateway.ts';
import { vendors } from '../src/providers/index.ts';
import type { Database } from '../src/storage/database.ts';
import type { Sealer } from '../src/storage/seal.ts';
import { historyModels } from './history.ts';

/**
 * Records a catalog: the models of the history at its prices, on its two channels, and all models
 * of the price list that comes with the program, on a channel for each vendor.
 */
export async function makeCatalog(
  database: Database,
  sealer: Sealer,
  clock: Clock,
  bundled: Bundled,
): Promise<Snapshot> {
  const listed = [...vendors.keys()].flatMap((vendor) => {
    const models = modelsOfVendor(vendor, bundled).map(({ facts: { id } }) => id);
    return models.length === 0 ? [] : [{ name: vendor, vendor, models }];
  });
  const channel = (of: object) => ({
    base_url: 'http://127.0.0.1:9/v1',
    api_key: 'none',
    ...of,
  });
  const written = {
    models: historyModels.map((id) => ({
      id,
      owned_by: 'bench',
      kind: 'chat',
      price: { input: 2, cached_input: 0.2, output: 3 },
    })),
    channels: [
      ...['one', 'two'].map((name) => channel({ name, vendor: 'openai', models: historyModels })),
      ...listed.map(channel),
    ],
  };
  const read = await readConfiguration(JSON.stringify(written), {
    env: {},
    vendors: [...vendors.values()],
    serves,
    now: clock.now(),
  });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  await recordConfiguration(database, read.configuration, sealer, clock);
  return buildSnapshot(await loadCatalog(database, sealer), serves);
}
