import { isTest, type Source } from './source.ts';

/**
 * The rooms of `src/` and the floor that each is on. A file imports from its own room or from a
 * lower floor.
 */
const floors: Readonly<Record<string, number>> = {
  base: 1,
  storage: 2,
  telemetry: 2,
  http: 2,
  accounts: 3,
  catalog: 3,
  ledger: 3,
  usage: 3,
  limits: 3,
  providers: 3,
  routing: 3,
  media: 3,
  memory: 3,
  'request-log': 3,
  gateway: 4,
  payments: 4,
  signin: 4,
  api: 5,
  console: 5,
  imports: 5,
  notifications: 5,
  app: 6,
  cli: 7,
};

/**
 * The simulator is a second reading of the vendors' documents: it may use tools of the gateway, but
 * not its vendor code.
 */
const openToSim: readonly string[] = ['base', 'http'];

/** The only file of the gateway that the web console may import: the shape of its JSON. */
const openToWeb = 'src/console/contract.ts';

/** `src/ledger/till.ts` is in the room `ledger`, `sim/x.ts` in `sim`. */
export function roomOf(path: string): string {
  const [area = '', room = '', rest] = path.split('/');
  if (area !== 'src') return area;
  return rest === undefined ? '' : room;
}

/** Tests may import any file; other files follow the floors. */
export function floorViolations(source: Source): string[] {
  if (isTest(source.path)) return [];
  const from = roomOf(source.path);
  if (source.path.startsWith('src/') && floors[from] === undefined)
    return [`${source.path}: there is no room ${from} in this house`];
  return source.imports.flatMap(({ target }) => {
    const why = target === undefined ? undefined : forbidden(from, target);
    return why === undefined ? [] : [`${source.path} imports ${target}: ${why}`];
  });
}

function forbidden(from: string, target: string): string | undefined {
  const to = roomOf(target);
  if (from === to || from === 'test' || from === 'bench' || target === 'package.json')
    return undefined;
  if (isTest(target) || to === 'test' || to === 'bench')
    return 'only tests may use what is made for tests';
  if (from === 'sim')
    return openToSim.includes(to) ? undefined : `sim/ may import ${openToSim.join(' and ')} alone`;
  if (from === 'web')
    return target === openToWeb ? undefined : `web/ may import ${openToWeb} alone`;
  if (to === 'web') return 'only a browser runs web/';
  if (to === 'sim') return from === 'cli' ? undefined : 'only cli/ starts the simulator';
  const fromFloor = floors[from];
  const toFloor = floors[to];
  if (fromFloor === undefined || toFloor === undefined) return `${to} is not a room of src/`;
  if (toFloor === fromFloor) return `${from} and ${to} are on one floor`;
  return toFloor > fromFloor ? `${to} is above ${from}` : undefined;
}

/** Files that no import reaches from the given roots. */
export function unreachable(
  sources: readonly Source[],
  isRoot: (path: string) => boolean,
): string[] {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const seen = new Set<string>();
  const waiting = sources.map((source) => source.path).filter(isRoot);
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    for (const { target } of byPath.get(path)?.imports ?? [])
      if (target !== undefined) waiting.push(target);
  }
  return sources.map((source) => source.path).filter((path) => !seen.has(path));
}

/** Relative imports must have the full file name of an existing file. */
export function importViolations(source: Source, exists: (path: string) => boolean): string[] {
  return source.imports.flatMap(({ specifier, target }) => {
    if (target === undefined) return [];
    if (!/\.(tsx?|json|css)$/.test(specifier))
      return [`${source.path} imports ${specifier}: the name must end in .ts`];
    return exists(target) ? [] : [`${source.path} imports ${specifier}, which does not exist`];
  });
}
