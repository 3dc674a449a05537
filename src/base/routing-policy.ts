/**
 * What decides among healthy channels of one priority. `weighted`: their weights. `latency`: the
 * faster, the more often. `cost`: the cheapest, and those that cost the same by weight. `sticky`:
 * requests that belong together go to the same one, so that its prompt cache has them.
 */
export const routingPolicies = ['weighted', 'latency', 'cost', 'sticky'] as const;
export type RoutingPolicy = (typeof routingPolicies)[number];
