import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { demoScenarios, simConfig } from './catalog.ts';
import { scenarioOf } from './scenario.ts';
import { soundAlone } from './sound/catalog.ts';
import { ownFormats, vendors } from './vendors.ts';
import { imagesAlone } from './own-images/catalog.ts';
import { videosAlone } from './video/vendors.ts';

interface Written {
  readonly models: readonly {
    readonly id: string;
    readonly kind: string;
    readonly price: Readonly<Record<string, number | Readonly<Record<string, number>>>>;
  }[];
  readonly channels: readonly {
    readonly vendor: string;
    readonly base_url: string;
    readonly models: readonly (string | { readonly id: string })[];
  }[];
}

test('every model of the demo has a price, and a channel to its vendor in the simulator', () => {
  const { models, channels }: Written = parse(simConfig('http://127.0.0.1:1234'));
  const sold = channels.flatMap((channel) =>
    channel.models.map((model) => (typeof model === 'string' ? model : model.id)),
  );
  expect(new Set(sold)).toEqual(new Set(models.map(({ id }) => id)));
  // Every vendor offers moderation for free.
  for (const { id, kind, price } of models)
    expect(
      Object.values(price)
        .flatMap((yuan) => (typeof yuan === 'number' ? yuan : Object.values(yuan)))
        .every((yuan) => yuan > 0),
      id,
    ).toBe(kind !== 'moderation');
  const prefixes = new Map(
    [...vendors, ...ownFormats, ...videosAlone, ...soundAlone, ...imagesAlone].map(
      ({ vendor, prefix }) => [vendor, prefix],
    ),
  );
  for (const { vendor, base_url } of channels)
    expect(base_url).toBe(`http://127.0.0.1:1234${prefixes.get(vendor)}`);
});

test('every scenario of the demo exists', () => {
  for (const name of demoScenarios.filter((id) => id !== 'sim-404'))
    expect(scenarioOf(name).refuse, name).not.toBe('unknown_model');
});
