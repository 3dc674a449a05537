/**
 * How the gateway chooses among healthy channels of one priority. `weighted`: by their weights.
 * `latency`: a faster channel more often. `cost`: the cheapest, and channels of equal cost by
 * weight. `sticky`: requests that belong together go to the same channel, whose prompt cache has
 * them.
 */
export const routingPolicies = ['weighted', 'latency', 'cost', 'sticky'] as const;
export type RoutingPolicy = (typeof routingPolicies)[number];
