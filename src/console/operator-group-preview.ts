import * as z from 'zod';
import { exactDecimal } from '../catalog/decimal.ts';
import type { ListFees } from '../catalog/list-fees.ts';
import {
  recordedCatalogue,
  type RecordedCatalogue,
  type RecordedGroup,
} from '../catalog/recorded.ts';
import type { Database } from '../storage/database.ts';
import { dayMs } from '../usage/cover.ts';
import { soldInGroup } from '../usage/totals.ts';
import { one } from './prices.ts';
import type { GroupPreview } from './contract.ts';
import { belowCost, chargedBy } from './operator-price-preview.ts';
import type { OperatorRooms } from './operator-rooms.ts';
import { takenFor } from './operator-vendor-costs.ts';
import { fail } from './problem.ts';
import { type ConsoleRow, row } from './row.ts';
import { yuan } from './written.ts';

const asked = z.strictObject({ multiplier: z.string() });
const daysBack = 7;

/** What becomes of a group with another multiplier, before anybody changes it. */
export function groupPreviewRow({ database, clock, listFees }: OperatorRooms): ConsoleRow {
  return row({
    method: 'POST',
    path: 'operator/groups/:name/preview',
    role: 'operator',
    input: asked,
    async handle({ params, input }): Promise<GroupPreview> {
      const catalogue = await recordedCatalogue(database);
      const group =
        catalogue.groups.find(({ name }) => name === params['name']) ?? fail('not_found');
      const multiplierPpm = exactDecimal(input.multiplier, 6);
      if (typeof multiplierPpm === 'string')
        return fail('invalid', { fields: { multiplier: multiplierPpm } });
      return groupPreview(database, catalogue, listFees, group, multiplierPpm, clock.now());
    },
  });
}

/**
 * What another multiplier would have brought with the usage of the last seven whole days (UTC), and
 * which models it would sell below what they cost.
 */
async function groupPreview(
  database: Database,
  catalogue: RecordedCatalogue,
  listFees: ListFees,
  group: RecordedGroup,
  multiplierPpm: bigint,
  now: number,
): Promise<GroupPreview> {
  const to = now - (now % dayMs);
  const sold = await soldInGroup(database, group.name, { from: to - daysBack * dayMs, to });
  const prices = new Map(
    catalogue.models.map((model) => [model.id, chargedBy(catalogue, model, model.price, listFees)]),
  );
  const paid = (multiplier: bigint): bigint =>
    sold.reduce((sum, line) => {
      const price = prices.get(line.model);
      return price === undefined ? sum : sum + takenFor(price, [line], multiplier);
    }, 0n);
  const [before, after] = [paid(group.multiplierPpm), paid(multiplierPpm)];
  const then = { ...catalogue, groups: [{ ...group, multiplierPpm }] };
  const below = catalogue.models.filter(
    ({ id, active, price }) => active && belowCost(then, id, price).length > 0,
  );
  return {
    revenue: {
      now: yuan(before),
      new: yuan(after),
      change: before === 0n ? null : Number(((after - before) * one) / before) / 1e6,
    },
    users: new Set(sold.map(({ account }) => account)).size,
    below_vendor_cost: below.map(({ id }) => id),
  };
}
