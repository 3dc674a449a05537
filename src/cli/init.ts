import { existsSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { Env } from '../base/env.ts';
import { firstOperator } from '../accounts/identities.ts';
import type { User } from '../accounts/users.ts';
import { systemClock } from '../base/clock.ts';
import { type Configuration, utcDate } from '../catalog/configuration.ts';
import { exactDecimal, ppmPlaces } from '../catalog/decimal.ts';
import { describeProblems } from '../catalog/problem.ts';
import type { ChannelFacts } from '../catalog/snapshot.ts';
import { vendors } from '../providers/index.ts';
import type { Database } from '../storage/database.ts';
import { sameData, shellWord, thisCommand } from './command-word.ts';
import { countPhrase, Failure, print, type SharedOptions } from './command-io.ts';
import { findInstallation, makeInstallation, withDatabase } from './installation.ts';
import { configurationOf, readConfigurationText } from './serve.ts';
import { keySteps, linkSpan, usualFile } from './serve-lines.ts';
import { paint } from './terminal.ts';
import { makeUser, userName, userText } from './user.ts';

interface InitOptions extends SharedOptions {
  readonly vendors?: string;
  readonly multiplier?: string;
  readonly name?: string;
  readonly yes?: true;
  readonly force?: true;
}

/** Asks for one thing; an empty answer means the usual one. */
export type Ask = (question: string, usual: string) => Promise<string>;

interface Answers {
  readonly data: string | undefined;
  readonly env: Env;
  readonly channels: readonly ChannelFacts[];
  readonly multiplier: string;
  readonly name: string;
}

/**
 * Writes a configuration file of the vendors whose keys are in the environment, and makes the first
 * operator. Asks for what no option tells, unless `--yes` takes the usual answers.
 */
export async function initCommand(
  named: string | undefined,
  options: InitOptions,
  env: Env,
  ask = terminalAsk(options),
): Promise<void> {
  const file = named ?? usualFile;
  if (existsSync(file) && options.force !== true)
    throw new Failure(`${file} already exists; --force overwrites it`);
  if (!existsSync(dirname(resolve(file))))
    throw new Failure(`there is no folder ${dirname(resolve(file))}`);
  const found = (await configurationOf(undefined, env)).channels;
  const answers = await answersFrom(options, env, found, ask);
  const text = configurationText(answers, systemClock.now());
  const configuration = await readBack(text, env);
  const name = answers.name === '' ? undefined : userName(answers.name);
  const { dataFolder } = makeInstallation(answers.data, answers.env);
  const operator =
    name === undefined
      ? undefined
      : await withDatabase(
          { data: dataFolder },
          answers.env,
          (database) => operatorOf(database, name),
          { mayBegin: true },
        );
  const user = operator?.user;
  writeFileSync(file, text, { flag: options.force === true ? 'w' : 'wx' });
  const { models, channels } = configuration;
  const counts = { models: models.length, channels: channels.length };
  print(options, { file, data: dataFolder, ...counts, user: user?.id ?? null }, [
    `${paint('green', 'wrote')} ${file}: ${countPhrase(counts.channels, 'channel')}, ${countPhrase(counts.models, 'model')}`,
    ...(operator === undefined ? [] : [operatorLine(operator)]),
    ...nextLines(file, answers, user?.id, env),
  ]);
}

interface Operator {
  readonly user: User;
  readonly created: boolean;
}

/** The first operator of this data, as an earlier start creates one, or a new one. */
async function operatorOf(database: Database, name: string): Promise<Operator> {
  const user = await database.transact(firstOperator);
  if (user !== undefined) return { user, created: false };
  const made = await database.transact(() => makeUser(name, 'operator', systemClock.now()));
  return { user: made, created: true };
}

function operatorLine({ user, created }: Operator): string {
  const operator = `operator ${userText(user)}`;
  return created ? `created ${operator}` : `${operator} exists already: no other was created`;
}

/** The questions, for whatever no option says. */
async function answersFrom(
  options: InitOptions,
  env: Env,
  found: readonly ChannelFacts[],
  ask: Ask,
): Promise<Answers> {
  const place =
    options.data !== undefined || env['DATABASE_URL'] || env['TOLLGATE_DATA']
      ? undefined
      : await ask('Data folder for SQLite, or URL of a PostgreSQL database', 'data');
  const postgres = place !== undefined && /^postgres(?:ql)?:/.test(place);
  const data = options.data ?? (postgres || place === 'data' ? undefined : place);
  const ours = postgres ? { ...env, DATABASE_URL: place } : env;
  findInstallation(data, ours);
  const all = found.map(({ vendor }) => vendor).join(',');
  const wanted =
    options.vendors ??
    (found.length === 0 ? '' : await ask('Vendors whose keys are in the environment', all));
  const multiplier =
    options.multiplier ?? (await ask('Multiplier for list prices (1.2 adds 20 %)', '1.0'));
  const factor = exactDecimal(multiplier, ppmPlaces);
  if (typeof factor !== 'bigint')
    throw new Failure(`the multiplier (--multiplier) ${factor.message}`);
  const name = options.name ?? (await ask('Name of the first operator (- for none)', 'operator'));
  return {
    data,
    env: ours,
    channels: chosen(wanted, found),
    multiplier,
    name: name === '-' ? '' : name,
  };
}

function chosen(text: string, found: readonly ChannelFacts[]): readonly ChannelFacts[] {
  const names = text.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));
  const missing = names.find((name) => !found.some(({ vendor }) => vendor === name));
  if (missing === undefined) return found.filter(({ vendor }) => names.includes(vendor));
  const variable = vendors.get(missing)?.env?.apiKey;
  throw new Failure(
    variable === undefined
      ? `there is no vendor '${missing}' whose key could be in the environment`
      : `${variable} is not set: export it first, so that ${missing} can be a channel`,
  );
}

function channelText({ name, vendor }: ChannelFacts, env: Env): string {
  const { apiKey, baseUrl } = vendors.get(vendor)?.env ?? {};
  const address = baseUrl !== undefined && env[baseUrl] ? [`base_url: \${${baseUrl}}`] : [];
  return [
    `  - name: ${name}`,
    `vendor: ${vendor}`,
    ...address,
    `api_key: \${${apiKey}} # read from the environment, and kept sealed`,
    'groups: [default]',
    `# models: [a, b] # without this line every model of ${vendor} in the bundled list`,
  ].join('\n    ');
}

const ownServer =
  '- { name: house, vendor: vllm, base_url: "http://127.0.0.1:8000/v1", models: [my-model] }';

const noChannels = `channels:
#   - name: deepseek
#     vendor: deepseek
#     api_key: \${DEEPSEEK_API_KEY} # read from the environment, and kept sealed
#     groups: [default]

# A server of your own needs no api_key. Uncomment this line, and \`models:\` below.
#   ${ownServer}`;

const channelsOf = (channels: readonly ChannelFacts[], env: Env): string => `channels:
${channels.map((one) => channelText(one, env)).join('\n')}

# A server of your own needs no api_key. Uncomment this line, and \`models:\` below.
  #${ownServer}`;

function configurationText({ channels, multiplier, env }: Answers, at: number): string {
  return `# Made by '${thisCommand()} init' on ${utcDate(at)}. After a change:
#   ${thisCommand()} config check <this file>, and start the gateway again
# docs/reference/config.md describes every member.

# A key belongs to one group, which decides what it reaches, what it pays and how fast it may ask.
groups:
  - name: default
    price_multiplier: ${multiplier} # what list prices are multiplied by
    limits: { rpm: 600, tpm: 1000000, concurrency: 64 } # of each user; without them there are none

# Where models come from. Models of the bundled list have its prices.
${channels.length === 0 ? noChannels : channelsOf(channels, env)}

# A model with a price of your own, in yuan for a million tokens: the model of your own server, or
# any other whose id is in \`models\` of a channel. Uncomment these lines.
#models:
#  - id: my-model
#    kind: chat
#    context: 128000
#    max_output: 8192
#    price: { input: 2, cached_input: 0.2, output: 3 }
`;
}

/** Reads the text as `serve` will. */
async function readBack(text: string, env: Env): Promise<Configuration> {
  const read = await readConfigurationText(text, env);
  if (read.ok) return read.configuration;
  throw new Failure(
    `these answers do not make a valid configuration:\n${describeProblems('it', read.problems)}`,
  );
}

function nextLines(
  file: string,
  { data, env: ours, channels }: Answers,
  user: string | undefined,
  env: Env,
): readonly string[] {
  const more = sameData(data, ours);
  const word = thisCommand();
  return [
    '',
    ...(channels.length === 0 ? keyFirst(file) : []),
    paint('bold', channels.length === 0 ? 'Then:' : 'Next:'),
    ...(ours['DATABASE_URL'] === env['DATABASE_URL']
      ? []
      : ['set DATABASE_URL to the address that you gave, in each terminal, and then:']),
    ...variablesLine(channels, ours),
    `  ${word} serve --config ${shellWord(file)}${more}`,
    '',
    `It runs until Ctrl-C. ${paint('bold', 'In another terminal')}${user === undefined ? '' : ', for yourself'}:`,
    ...(user === undefined ? [] : [`  ${word} link --user ${user}${more}`]),
    ...keySteps({ user, group: 'default', more }),
    paint(
      'dim',
      `The link signs in to the console, once, within ${linkSpan}. The credit pays for calls with the key.`,
    ),
  ];
}

/** `serve` and `config check` refuse the file where a variable that it names is not set. */
function variablesLine(channels: readonly ChannelFacts[], env: Env): readonly string[] {
  const named = channels.flatMap(({ vendor }) => {
    const { apiKey, baseUrl } = vendors.get(vendor)?.env ?? {};
    return [apiKey, baseUrl].filter((name) => name !== undefined && env[name]);
  });
  if (named.length === 0) return [];
  const list = [...new Set(named)].join(', ');
  return [
    `The file reads ${list}. Each terminal that runs 'config check' or 'serve' has to set ${named.length === 1 ? 'it' : 'them'}.`,
  ];
}

/** What has to be done before the file can serve a model. */
const keyFirst = (file: string): readonly string[] => [
  `${paint('yellow', 'No vendor key is in the environment')}, so the file has no channel yet. ${paint('bold', 'First')}, with a vendor's key:`,
  '  export DEEPSEEK_API_KEY=sk-…   # the key that your vendor gave you, in each terminal that runs serve',
  `  uncomment the channel in ${file}, or write the file anew: ${thisCommand()} init ${shellWord(file)} --force --name -`,
  `${paint('bold', 'Or')}, with a server of your own, such as vLLM:`,
  `  uncomment the channel 'house' and 'models:' in ${file}, and give them your base URL, model and price`,
  '',
];

/** Asks in the terminal; with `--yes` every answer is the usual one. */
function terminalAsk({ yes, json }: InitOptions): Ask {
  if (yes === true) return async (_, usual) => usual;
  if (json === true || process.stdin.isTTY !== true)
    return () => {
      throw new Failure(
        'there is no terminal for questions: use --yes, and options for answers that differ',
      );
    };
  return async (question, usual) => {
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    const left = new Promise<never>((_, reject) =>
      terminal.once('close', () => reject(new Failure('nothing was written'))),
    );
    const answer = terminal.question(`${question} [${usual}]: `);
    const text = (await Promise.race([answer, left])).trim();
    left.catch(() => undefined);
    terminal.close();
    return text === '' ? usual : text;
  };
}
