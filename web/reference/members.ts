type Described = { readonly [name: string]: unknown };

/**
 * The description without rules of what goes together (`allOf`, `anyOf` beside `properties`), in the
 * place of whose members Scalar 1 shows the rules alone. `/openapi.json` keeps them.
 */
export function withMembers<T>(description: T): T {
  return shown(description) as T;
}

function shown(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shown);
  if (typeof value !== 'object' || value === null) return value;
  const { allOf, anyOf, ...rest } = value as Described;
  const rules = isSchema(rest) ? {} : definedOf({ allOf, anyOf });
  return Object.fromEntries(
    Object.entries({ ...rest, ...rules }).map(([name, member]) => [name, shown(member)]),
  );
}

const isSchema = ({ type, properties }: Described): boolean =>
  type === 'object' && typeof properties === 'object';

const definedOf = (members: Described): Described =>
  Object.fromEntries(Object.entries(members).filter(([, member]) => member !== undefined));
