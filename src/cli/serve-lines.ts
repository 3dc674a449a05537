import { existsSync } from 'node:fs';
import { minuteMs } from '../base/calendar.ts';
import type { Env } from '../base/env.ts';
import { listKeys } from '../accounts/keys.ts';
import { linkLifeMs } from '../accounts/identities.ts';
import { listUsers } from '../accounts/users.ts';
import { defaultGroup } from '../catalog/configuration.ts';
import type { RecordResult } from '../catalog/catalog-store.ts';
import { sampleModel } from '../catalog/sample-model.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import type { Database } from '../storage/database.ts';
import { sameData, shellWord, thisCommand } from './command-word.ts';
import { countPhrase } from './command-io.ts';
import { findInstallation, withoutPassword } from './installation.ts';
import { paint } from './terminal.ts';

interface Started {
  readonly database: Database;
  /** The gateway's address. */
  readonly url: string;
  /** The catalog that is served. */
  readonly catalog: Snapshot;
  /** The option of the command. */
  readonly data: string | undefined;
  readonly env: Env;
  /** Signs in the operator, once. */
  readonly link: string | undefined;
}

/** What a gateway serves and where its data is, and what to do next where nobody has a key. */
export async function serveLines(started: Started): Promise<readonly string[]> {
  const { catalog, data, env, link } = started;
  const { dataFolder, databaseUrl } = findInstallation(data, env);
  const place = databaseUrl.startsWith('sqlite:') ? '' : `, and ${withoutPassword(databaseUrl)}`;
  const signIn =
    link === undefined ? [] : [`  console  for the operator, once, within ${linkSpan}: ${link}`];
  return [
    `  serves   ${soldText(catalog)}`,
    `  data     ${dataFolder}${place}`,
    ...signIn,
    ...(await firstSteps(started)),
  ];
}

function soldText({ channels, models: sold }: Snapshot): string {
  const byVendor = new Map<string, Set<string>>();
  for (const { vendor, models: theirs } of channels.values()) {
    const ids = byVendor.get(vendor) ?? new Set();
    for (const id of theirs.keys()) if (sold.has(id)) ids.add(id);
    byVendor.set(vendor, ids);
  }
  if (byVendor.size === 0) return paint('yellow', 'no models: no vendor is configured');
  return [...byVendor]
    .map(([vendor, ids]) => `${vendor} (${countPhrase(ids.size, 'model')})`)
    .join(', ');
}

/** Where a price of an import or of the console and one of the configuration meet. */
export function priceLines(
  recorded: Pick<RecordResult, 'keptPrices' | 'replacedPrices'> | undefined,
): readonly string[] {
  const { keptPrices = [], replacedPrices = [] } = recorded ?? {};
  return [
    ...keptPrices.map(
      (id) =>
        `${id} keeps its price from an import or the console: its price in the configuration is the same as before`,
    ),
    ...replacedPrices.map(
      (id) =>
        `${id} has the price of the configuration now, which changed: it replaces the price from an import or the console`,
    ),
  ];
}

/** The group of `TOLLGATE_PUBLIC_MODELS` may be made later: until then visitors see no models. */
export const publicModelsLines = (
  group: string | undefined,
  groups: ReadonlyMap<string, unknown>,
): readonly string[] =>
  group === undefined || groups.has(group)
    ? []
    : [
        `TOLLGATE_PUBLIC_MODELS is the name of a group, and there is no group '${group}': visitors see no models. Groups: ${[...groups.keys()].join(', ')}`,
      ];

/** How many users are searched for one that a key could be for. */
const usersRead = 50;

/** How long a sign-in link works. */
export const linkSpan = `${linkLifeMs / minuteMs} minutes`;

async function firstSteps({
  database,
  url,
  catalog,
  data,
  env,
}: Started): Promise<readonly string[]> {
  const { groups, channels } = catalog;
  if (channels.size === 0 || (await listKeys(database, { limit: 1 })).length > 0) return [];
  const users = await listUsers(database, { after: '', limit: usersRead });
  const user = users.find(({ role }) => role === 'user')?.id;
  const group =
    [defaultGroup.name, ...groups.keys()].find((name) => groups.has(name)) ?? defaultGroup.name;
  const where = env['DATABASE_URL']
    ? 'another terminal, with the same DATABASE_URL'
    : 'another terminal';
  const model = sampleModel(catalog.listing(group));
  return [
    '',
    `${paint('bold', 'No user has a key yet.')} In ${where}, for a user:`,
    ...keySteps({ user, group, more: sameData(data, env) }),
    ...(model === undefined ? [] : callSteps(url, model)),
  ];
}

interface Buyer {
  /** Undefined: the user has to be created, too. */
  readonly user: string | undefined;
  readonly group: string;
  /** Options of each command. */
  readonly more: string;
}

const exampleName = 'Ada';

/** The commands that lead to a key that can pay. */
export function keySteps({ user, group, more }: Buyer): readonly string[] {
  const word = thisCommand();
  const who = user ?? exampleName;
  return [
    ...(user === undefined ? [`user create --name ${exampleName}`] : []),
    `user credit --user ${who} --amount 10.00 --reason "first top-up"`,
    `key create --user ${who} --group ${shellWord(group)}`,
  ].map((command) => `  ${word} ${command}${more}`);
}

/** How the printed key makes its first call. */
const callSteps = (url: string, model: string): readonly string[] => [
  '  export TOLLGATE_API_KEY=sk-…   # the key that the last command printed',
  chatCall(`${url}/v1`, 'TOLLGATE_API_KEY', model).replaceAll(/^/gm, '  '),
];

/** A small chat as a command. `key` is the variable that holds the key. */
export const chatCall = (base: string, key: string, model: string): string =>
  `curl "${base}/chat/completions" \\
  -H "Authorization: Bearer $${key}" -H "Content-Type: application/json" \\
  -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello"}]}'`;

/** The file that `init` writes when no other is named. */
export const usualFile = 'tollgate.yaml';

/** `start` reads no file that is not named: a hint where the usual one is in this folder. */
export function unreadFileLines(
  { config, data }: { readonly config?: string; readonly data?: string },
  env: Env,
  exists = existsSync,
): readonly string[] {
  if (config !== undefined || !exists(usualFile)) return [];
  const reading = `${thisCommand()} start --config ${usualFile}${sameData(data, env)}`;
  return [`${usualFile} is in this folder and was not read. To read it: ${reading}`];
}

/** What to do where no vendor is configured. */
export function noVendorText(config: string | undefined): string {
  const word = thisCommand();
  const keys = 'set a key such as OPENAI_API_KEY in the environment';
  if (config === undefined && existsSync(usualFile))
    return `no vendor is configured: ${usualFile} is in this folder, but nothing names it. Use it with: ${word} serve --config ${usualFile}`;
  return `no vendor is configured: ${keys}, or write a configuration file with '${word} init' and name it with --config. '${word} demo' works without a vendor.`;
}
