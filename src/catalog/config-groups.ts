import type { WrittenGroup } from './config-schema.ts';
import { defaultGroup } from './configuration.ts';
import type { Group } from './snapshot.ts';

/** A group as it is written, in the configuration file or in the console. */
export function groupFacts({
  name,
  price_multiplier: multiplierPpm,
  limits = {},
  policy,
}: WrittenGroup): Group {
  const { rpm, tpm, concurrency } = limits;
  return {
    name,
    multiplierPpm: multiplierPpm ?? defaultGroup.multiplierPpm,
    limits: { rpm, tpm, concurrency },
    ...(policy === undefined ? {} : { policy }),
  };
}
