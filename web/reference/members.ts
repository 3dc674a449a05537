const rules = new Set(['allOf', 'anyOf']);

/**
 * The description without the rules of what goes together (`allOf`, `anyOf` beside `properties`):
 * Scalar 1 shows them in the place of the members. `/openapi.json` keeps them.
 */
export function withMembers<T>(description: T): T {
  return shown(description) as T;
}

function shown(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shown);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value);
  const kept = 'properties' in value ? members.filter(([name]) => !rules.has(name)) : members;
  return Object.fromEntries(kept.map(([name, member]) => [name, shown(member)]));
}
