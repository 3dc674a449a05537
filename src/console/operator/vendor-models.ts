import * as z from 'zod';
import type { Bundled, BundledModel } from '../../catalog/bundled.ts';
import { storedCatalog } from '../../catalog/stored-catalog.ts';
import { listVendorModels } from '../../gateway/channels/vendor-models.ts';
import type { VendorModel, VendorModelsView } from '../contract.ts';
import { pricesOf, wholePpm } from '../prices.ts';
import { throwProblem } from '../problem.ts';
import { type ConsoleRoute, defineRoute } from '../route.ts';
import { channelToTest, unsavedChannel } from './channel-test.ts';
import type { OperatorContext } from './context.ts';

const input = z.strictObject({
  vendor: z.string(),
  base_url: z.string().optional(),
  secret: z.string().max(20_000, 'too_long').optional(),
  channel: z.string().optional(),
});

/**
 * The models of a vendor, for the form of a channel: which of them are sold, and at which price the
 * others would be.
 */
export function vendorModelsRoute(context: OperatorContext): ConsoleRoute {
  return defineRoute({
    method: 'POST',
    path: 'operator/vendor-models',
    role: 'operator',
    input,
    perMinute: 30,
    async handle({ input: { channel: name, ...written } }): Promise<VendorModelsView> {
      const channel =
        name === undefined
          ? unsavedChannel(context, written)
          : ((await channelToTest(context, name)) ?? throwProblem('not_found'));
      const listed = await listVendorModels(context.vendors, context.clock, channel);
      if ('failure' in listed)
        return {
          models: [],
          failure: { code: listed.failure, status: listed.status ?? null },
        };
      const known = byUpstream(await context.bundled(), channel.vendor);
      const { models } = await storedCatalog(context.database);
      const sold = new Map(models.filter(({ active }) => active).map((model) => [model.id, model]));
      return {
        models: listed.ids.map((upstream): VendorModel => {
          const bundled = known.get(upstream)?.facts;
          const id = bundled?.id ?? upstream;
          const facts = sold.get(id) ?? bundled;
          return {
            id,
            upstream,
            kind: facts?.kind ?? null,
            sold: sold.has(id),
            prices: facts === undefined ? null : pricesOf(facts.price, wholePpm),
          };
        }),
        failure: null,
      };
    },
  });
}

/** The bundled models of a vendor by its own names for them, and by ours where that is no other's. */
function byUpstream(bundled: Bundled, vendor: string): ReadonlyMap<string, BundledModel> {
  const own = [...bundled.values()].filter((model) => model.vendor === vendor);
  return new Map([
    ...own.map((model) => [model.upstream, model] as const),
    ...own.map((model) => [model.facts.id, model] as const),
  ]);
}
