import type { AuditFacts } from '../../accounts/audit.ts';
import { priceDifferences } from '../../catalog/price-differences.ts';
import type { Price } from '../../catalog/price.ts';

const noPrice: Price = { rates: {}, tiers: [], by: undefined };

/** Of two prices what differs, line by line, in yuan as the configuration file writes them. */
export function auditedPrice(
  before: Price = noPrice,
  after: Price = noPrice,
): { readonly before: AuditFacts; readonly after: AuditFacts } {
  const differences = priceDifferences(before, after);
  const side = (of: 'from' | 'to') =>
    Object.fromEntries(
      differences.map((difference) => [difference.member, difference[of] ?? null]),
    );
  return { before: side('from'), after: side('to') };
}
