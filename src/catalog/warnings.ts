import type { Bundled } from './bundled.ts';
import type { Serves } from './build-snapshot.ts';
import type { Configuration } from './configuration.ts';

type Sold = Omit<Configuration, 'warnings'>;

/**
 * What is not wrong but surprises: models that cannot be offered, and prices that nobody vouches
 * for. `own` are the ids that the file itself prices.
 */
export function configurationWarnings(
  sold: Sold,
  own: readonly string[],
  bundled: Bundled,
  { serves }: { readonly serves: Serves },
): readonly string[] {
  const kinds = new Map(sold.models.map((model) => [model.id, model.kind]));
  const unserved = sold.channels.flatMap(({ name, vendor, models }) => {
    const ids = [...models.keys()].filter((id) => !serves(vendor, kinds.get(id) ?? 'chat'));
    return ids.length === 0
      ? []
      : [
          `channel ${name}: ${vendor} is not offered for ${inWords(ids)}, which are of a kind that it is not spoken to about`,
        ];
  });
  const borrowed = sold.models
    .filter(({ id }) => !own.includes(id) && bundled.get(id)?.doubtful === true)
    .map(({ id }) => id);
  const doubtful =
    borrowed.length === 0
      ? []
      : [
          `the bundled prices of ${inWords(borrowed)} come from no word of the vendor: check them before selling`,
        ];
  return [...nothingSold(sold), ...unserved, ...doubtful];
}

function nothingSold({ models, channels }: Sold): readonly string[] {
  if (channels.length === 0)
    return [
      `nothing can be asked for: there are no ${models.length === 0 ? 'models and no ' : ''}channels`,
    ];
  return channels
    .filter((channel) => channel.models.size === 0)
    .map(({ name }) => `channel ${name}: it has no models`);
}

const namedMax = 5;

function inWords(ids: readonly string[]): string {
  const rest = ids.length - namedMax;
  return rest > 0 ? `${ids.slice(0, namedMax).join(', ')} and ${rest} more` : ids.join(', ');
}
