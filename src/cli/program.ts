import { Argument, Command, Option } from 'commander';
import about from '../../package.json' with { type: 'json' };
import { Failure, type SharedOptions } from './command-io.ts';
import { completionScript, type Shell, shells } from './completion.ts';
import { dressHelp } from './help.ts';

/**
 * The operator's command line. Options are declared here, so that help needs nothing else; a
 * command's code is loaded when the command runs.
 */
export const program = new Command('tollgate')
  .description(about.description)
  .version(about.version)
  .showHelpAfterError('(add --help for the options)');

function command(
  parent: Command,
  name: string,
  description: string,
  dataText: string | false = 'data folder (TOLLGATE_DATA); default "data"',
): Command {
  const made = parent.command(name).description(description);
  if (dataText !== false) made.option('--data <folder>', dataText);
  return made.option('--json', 'print one JSON value on standard output');
}

/** Reads a whole number within bounds; `is`: the beginning of the message for any other text. */
const wholeNumber =
  (is: string, min: number, max: number) =>
  (text: string): number => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    throw new Failure(`${is} from ${min} to ${max}, not '${text}'`);
  };

const portOption = (text: string): Option =>
  new Option('--port <number>', text)
    .env('PORT')
    .argParser(wholeNumber('a port is a number', 0, 65_535));
const listening = 'port to listen on; default 8080';
const workersOption = new Option(
  '--workers <count>',
  'number of processes that serve on the address; default 1',
)
  .env('TOLLGATE_WORKERS')
  .argParser(wholeNumber('workers are', 1, 256));
const acceptOption = new Option(
  '--accept-database',
  'use this database from now on, even though the data folder belongs to another one',
);
const hostOption = new Option('--host <address>', 'address to listen on')
  .env('HOST')
  .default('127.0.0.1');

/** A command that serves what the configuration file says. */
const serving = (name: string, description: string, configText: string): Command =>
  command(program, name, description)
    .addOption(new Option('--config <file>', configText).env('TOLLGATE_CONFIG'))
    .addOption(portOption(listening))
    .addOption(hostOption)
    .addOption(workersOption)
    .addOption(acceptOption);

serving(
  'serve',
  'run the gateway',
  'configuration file; without one, channels come from environment variables',
).action(async (options) => (await import('./serve.ts')).serve(options, process.env));

serving(
  'start',
  'run the gateway, or the demo if nothing is configured and the data folder has no users, or only those of a demo',
  'configuration file',
).action(async (options) => (await import('./start.ts')).startCommand(options, process.env));

command(
  program,
  'demo',
  'run the gateway with simulated vendors, an operator with 100 yuan and a working key; fully offline',
  'keep the demo in this folder; default: a new folder that is deleted at the end',
)
  .addOption(portOption(listening))
  .addOption(hostOption)
  .option('--faults', 'also offer models that fail on purpose, such as sim-429 and sim-cut-after-3')
  .action(async (options) => (await import('./demo.ts')).demo(options, process.env));

command(program, 'sim', 'run only the simulated vendors', false)
  .addOption(portOption('port to listen on; default 8090'))
  .addOption(hostOption)
  .action(async (options) => (await import('./sim.ts')).sim(options));

const limitOption = new Option('--limit <rows>', 'the maximum number of rows')
  .argParser(wholeNumber('--limit is', 1, 1_000))
  .default(50);
const userFilter = new Option(
  '--user <id>',
  'only this user: an id, or a name that no other user has',
);
const sinceText = 'start time: 30m, 24h, 7d or a date such as 2027-01-31';

command(
  program,
  'init [file]',
  'write a configuration file for the vendors whose keys are in the environment, and create the first operator',
)
  .option(
    '--vendors <names>',
    'vendors to include, separated by commas; default: all that are found',
  )
  .option('--multiplier <number>', 'multiplier for list prices; default 1.0')
  .option('--name <name>', 'name of the first operator; default "operator"; - creates none')
  .option('--yes', 'ask no questions; use the default answers')
  .option('--force', 'overwrite an existing file')
  .action(async (file: string | undefined, options) =>
    (await import('./init.ts')).initCommand(file, options, process.env),
  );

command(
  program,
  'status',
  'show whether the gateway runs, its load, its channels and what needs attention',
).action(async (options: SharedOptions) =>
  (await import('./status.ts')).statusCommand(options, process.env),
);
command(
  program,
  'logs [id]',
  'list requests of the last 7 days that were refused, failed or needed more than one attempt; with an id, show one request and its attempts; a request is here about a second after its end',
)
  .addOption(userFilter)
  .option('--key <id>', 'only this key')
  .option('--model <id>', 'only this model, as the client named it')
  .option('--channel <name>', 'only requests whose last attempt was on this channel')
  .option('--status <status>', 'only this status, such as 429, or a class such as 5xx')
  .option('--code <code>', 'only this error code or outcome')
  .option('--since <time>', sinceText)
  .addOption(limitOption)
  .option('--follow', 'keep printing new requests; with --json, one JSON value per line')
  .action(async (id: string | undefined, options) =>
    (await import('./logs.ts')).logsCommand(id, options, process.env),
  );
command(program, 'usage', 'show usage and cost of a period by model, key or user')
  .addOption(
    new Option('--by <part>', 'what each row stands for')
      .choices(['model', 'key', 'user'])
      .default('model'),
  )
  .option('--since <time>', sinceText, '30d')
  .option('--until <time>', 'end time; default: now')
  .addOption(userFilter)
  .option('--key <id>', 'only this key')
  .option('--model <id>', 'only this model')
  .addOption(limitOption)
  .action(async (options) => (await import('./usage.ts')).usageCommand(options, process.env));

const userText = 'the user: an id, or a name that no other user has';
const user = program.command('user').description('manage users and their balances');
command(user, 'create', 'create a user')
  .requiredOption('--name <name>', 'name of the user')
  .addOption(
    new Option('--role <role>', 'role of the user').choices(['user', 'operator']).default('user'),
  )
  .action(async (options) => (await import('./user.ts')).createUserCommand(options, process.env));
command(user, 'credit', 'add money to a balance')
  .requiredOption('--user <id>', userText)
  .requiredOption('--amount <yuan>', 'amount in yuan, such as 10.00')
  .requiredOption('--reason <text>', 'reason, stored with the transfer')
  .option('--id <id>', 'an id of your choice: a credit with the same id happens only once')
  .action(async (options) => (await import('./user.ts')).creditUserCommand(options, process.env));
command(user, 'debit', 'take money from a balance, at most what is available')
  .requiredOption('--user <id>', userText)
  .requiredOption('--amount <yuan>', 'amount in yuan, such as 10.00')
  .requiredOption('--reason <text>', 'reason, stored with the transfer; the user can read it')
  .option('--id <id>', 'an id of your choice: a debit with the same id happens only once')
  .action(async (options) => (await import('./user.ts')).debitUserCommand(options, process.env));
command(user, 'list', 'list all users').action(async (options) =>
  (await import('./user.ts')).listUsersCommand(options, process.env),
);
for (const [name, suspended, description] of [
  ['suspend <id>', true, 'suspend a user: no sign-in, no keys; takes effect within one second'],
  ['resume <id>', false, 'restore a suspended user'],
] as const)
  command(user, name, description)
    .requiredOption('--reason <text>', 'reason, stored in the audit trail; the user can read it')
    .action(async (id: string, options) =>
      (await import('./user.ts')).suspendUserCommand(id, suspended, options, process.env),
    );

const key = program.command('key').description('manage API keys');
command(key, 'create', 'create a key; it is shown once')
  .requiredOption('--user <id>', userText)
  .requiredOption('--group <name>', 'sets the models and prices of the key')
  .option('--name <name>', 'name of the key; default "key"')
  .option('--expires <time>', 'end of validity, such as 2027-01-31 or 2027-01-31T12:00:00Z')
  .option('--limit <yuan>', 'spending limit in total')
  .option('--daily-limit <yuan>', 'spending limit per day')
  .option('--monthly-limit <yuan>', 'spending limit per month')
  .option('--models <ids>', 'allowed models, separated by commas; default: all of the group')
  .option('--addresses <networks>', 'allowed addresses and networks, such as 10.0.0.0/8,::1')
  .option('--rpm <count>', "requests per minute, within the group's limit")
  .option('--tpm <count>', "tokens per minute, within the group's limit")
  .option('--concurrency <count>', 'concurrent requests')
  .action(async (options) => (await import('./key.ts')).createKeyCommand(options, process.env));
command(
  key,
  'limit <id>',
  'set, change or remove spending limits of a key; takes effect within one second',
)
  .option('--limit <yuan>', 'spending limit in total; none removes it')
  .option('--daily-limit <yuan>', 'spending limit per day')
  .option('--monthly-limit <yuan>', 'spending limit per month')
  .action(async (id: string, options) =>
    (await import('./key.ts')).limitKeyCommand(id, options, process.env),
  );
command(key, 'list', 'list all keys').action(async (options) =>
  (await import('./key.ts')).listKeysCommand(options, process.env),
);
command(key, 'disable <id>', 'disable a key; takes effect within one second').action(
  async (id: string, options) =>
    (await import('./key.ts')).switchKeyCommand(id, 'disabled', options, process.env),
);
command(key, 'enable <id>', 'enable a disabled key').action(async (id: string, options) =>
  (await import('./key.ts')).switchKeyCommand(id, 'active', options, process.env),
);
command(key, 'rotate <id>', 'create a new secret for a key; it is shown once')
  .addOption(
    new Option('--grace <time>', 'how long the old secret keeps working')
      .choices(['now', '1h', '24h', '7d'])
      .default('24h'),
  )
  .action(async (id: string, options) =>
    (await import('./key.ts')).rotateKeyCommand(id, options, process.env),
  );
command(key, 'end-old-secret <id>', 'stop the old secret of a rotated key').action(
  async (id: string, options) =>
    (await import('./key.ts')).endOldSecretCommand(id, options, process.env),
);
command(key, 'delete <id>', 'delete a key permanently; its records keep its name').action(
  async (id: string, options) =>
    (await import('./key.ts')).deleteKeyCommand(id, options, process.env),
);

const channel = program.command('channel').description('manage channels to vendors');
command(channel, 'list', 'list all channels with their health and the last hour').action(
  async (options: SharedOptions) =>
    (await import('./channel.ts')).listChannelsCommand(options, process.env),
);
command(
  channel,
  'test <name>',
  "send one small request to a channel's vendor; exit code 1 if it fails; no user is charged",
)
  .option('--model <id>', 'model to test; default: the first that can be tested')
  .option('--prompt <text>', 'prompt to send; default: a request to reply OK')
  .action(async (name: string, options) =>
    (await import('./channel.ts')).testChannelCommand(name, options, process.env),
  );

const model = program.command('model').description('show models and prices');
command(model, 'list', 'list all models with their prices')
  .option('--all', 'include delisted models')
  .action(async (options) => (await import('./model.ts')).listModelsCommand(options, process.env));

const order = program.command('order').description('show top-up orders');
command(order, 'list', 'list top-up orders, newest first')
  .addOption(userFilter)
  .addOption(
    new Option('--state <state>', 'only orders in this state').choices([
      'waiting',
      'closed',
      'failed',
      'credited',
    ]),
  )
  .addOption(
    new Option('--wallet <name>', 'only orders of this wallet').choices(['wechat_pay', 'alipay']),
  )
  .option('--since <time>', sinceText)
  .addOption(limitOption)
  .action(async (options) => (await import('./order.ts')).listOrdersCommand(options, process.env));
command(order, 'unmatched', 'list payments that are credited to nobody, newest first')
  .option('--since <time>', sinceText)
  .addOption(limitOption)
  .action(async (options) =>
    (await import('./order.ts')).listUnmatchedCommand(options, process.env),
  );

command(program, 'link', 'print a one-time link that signs a user in to the console')
  .requiredOption('--user <id>', userText)
  .addOption(portOption("the gateway's port; default 8080"))
  .addOption(
    new Option('--host <address>', "the gateway's address").env('HOST').default('127.0.0.1'),
  )
  .action(async (options) => (await import('./link.ts')).link(options, process.env));

command(
  program,
  'check',
  'check the ledger; exit code 1 and the rows at fault if a rule fails',
).action(async (options: SharedOptions) =>
  (await import('./maintenance.ts')).checkCommand(options, process.env),
);
command(program, 'migrate', 'update the database schema').action(async (options: SharedOptions) =>
  (await import('./maintenance.ts')).migrateSchema(options, process.env),
);
command(
  program,
  'backup <file>',
  'write a consistent copy of the SQLite database; it does not contain the master key and the generated files, which expire after a day',
).action(async (file: string, options: SharedOptions) =>
  (await import('./maintenance.ts')).backupTo(file, options, process.env),
);

const config = program.command('config').description('check the configuration file');
command(config, 'check <file>', 'report every error in the file').action(
  async (file: string, options: SharedOptions) =>
    (await import('./config.ts')).checkConfig(file, options, process.env),
);
const prices = program.command('prices').description('import prices of models');
command(
  prices,
  'import <file>',
  "import a price list, or the prices of your models from LiteLLM's list",
)
  .option('--dry-run', 'show the changes without saving them')
  .option('--rate <yuan>', "yuan per dollar for LiteLLM's list; default TOLLGATE_USD_RATE")
  .option('--accept-far-off', 'publish prices at least 1,000 times as high or as low as before')
  .action(async (file: string, options) =>
    (await import('./prices.ts')).importPricesCommand(file, options, process.env),
  );

const imports = program
  .command('import')
  .description(
    'move in from another gateway; reports the changes and saves them only with --apply',
  );
command(
  imports,
  'new-api <source>',
  'import from a new-api or one-api database: a SQLite file or a PostgreSQL URL',
)
  .option('--as <name>', 'name of that installation; each one is imported once', 'new-api')
  .option(
    '--rate <yuan>',
    "yuan per dollar; default: that installation's USDExchangeRate, else TOLLGATE_USD_RATE",
  )
  .option('--apply', 'save the changes')
  .action(async (source: string, options) =>
    (await import('./import-new-api.ts')).importNewApi(source, options, process.env),
  );

command(imports, 'litellm <config>', "make a configuration file from LiteLLM's")
  .option(
    '--prices <file>',
    "LiteLLM's price list, for models without a price in the file and in the bundled list",
  )
  .option('--rate <yuan>', 'yuan per dollar; default TOLLGATE_USD_RATE')
  .option('--out <file>', 'output file; default: standard output')
  .action(async (file: string, options) =>
    (await import('./import-litellm.ts')).importLitellm(file, options, process.env),
  );

program
  .command('completion')
  .description(
    'print a shell script that completes the commands of the word tollgate, their options and values',
  )
  .addArgument(new Argument('<shell>', 'your shell').choices(shells))
  .action((shell: Shell) => console.log(completionScript(shell, program).trimEnd()));

dressHelp(program);
