/** A model of a simulated vendor, for a configuration file. */
export interface SoldModel {
  readonly id: string;
  readonly vendor: string;
  readonly ownedBy: string;
  /** The vendor's id. */
  readonly upstream: string;
}

/**
 * Reads a table of models, one a line: id, vendor, owner, the vendor's id (`=`: the same), and the
 * columns that `read` takes.
 */
export const readTable = <Facts extends object>(
  table: string,
  read: (columns: readonly string[]) => Facts,
): readonly (SoldModel & Facts)[] =>
  table
    .trim()
    .split('\n')
    .map((line) => {
      const [id = '', vendor = '', ownedBy = '', upstream = '', ...columns] = line
        .trim()
        .split(/\s+/);
      return { id, vendor, ownedBy, upstream: upstream === '=' ? id : upstream, ...read(columns) };
    });

/**
 * A model's line in a configuration file. `facts`: its other members; `price`: those of its price.
 */
export const modelLine = (
  { id, ownedBy }: Pick<SoldModel, 'id' | 'ownedBy'>,
  kind: string,
  facts: string,
  price: string,
): string =>
  `  - { id: "${id}", owned_by: ${ownedBy}, kind: ${kind}, ${facts && `${facts}, `}price: { ${price} } }`;

/** An image model's modalities, for its line. */
export const imageFacts = (reads: boolean): string =>
  `modalities: { in: [text${reads ? ', image' : ''}], out: [image] }`;

/** A vendor, as a channel calls it. */
export interface ChannelTarget {
  readonly vendor: string;
  readonly baseUrl: string;
  readonly key: string;
}

/** A channel's line in a configuration file. */
export function channelLine(
  name: string,
  { vendor, baseUrl, key }: ChannelTarget,
  models: readonly Pick<SoldModel, 'id' | 'upstream'>[],
): string {
  const sold = models.map(({ id, upstream }) => `{ id: "${id}", upstream: "${upstream}" }`);
  return `  - { name: ${name}, vendor: ${vendor}, base_url: "${baseUrl}", api_key: "${key}", groups: [default], models: [${sold.join(', ')}] }`;
}

/** A channel for each vendor, with all its models. `what` ends the channels' names. */
export const channelLines = (
  models: readonly SoldModel[],
  what: string,
  targetOf: (vendor: string) => ChannelTarget,
): string[] =>
  [...new Set(models.map(({ vendor }) => vendor))].map((vendor) =>
    channelLine(
      `sim-${vendor}${what}`,
      targetOf(vendor),
      models.filter((model) => model.vendor === vendor),
    ),
  );
