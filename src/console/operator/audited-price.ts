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

/** Of the vendor's prices, by model, what differs: members such as `costs of gpt-4: input`. */
export function auditedCosts(
  before: ReadonlyMap<string, Price> = new Map(),
  after: ReadonlyMap<string, Price> = new Map(),
): { readonly before: AuditFacts; readonly after: AuditFacts } {
  const models = [...new Set([...before.keys(), ...after.keys()])];
  const each = models.map((model) => {
    const price = auditedPrice(before.get(model), after.get(model));
    const named = (facts: AuditFacts): AuditFacts =>
      Object.fromEntries(
        Object.entries(facts).map(([member, amount]) => [`costs of ${model}: ${member}`, amount]),
      );
    return { before: named(price.before), after: named(price.after) };
  });
  return {
    before: Object.assign({}, ...each.map((price) => price.before)),
    after: Object.assign({}, ...each.map((price) => price.after)),
  };
}
