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

function command(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option('--data <folder>', 'data folder (TOLLGATE_DATA), "data" by default')
    .option('--json', 'one JSON value on standard output');
}

function port(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65_535)
    throw new Failure(`a port is a number from 0 to 65535, not '${text}'`);
  return value;
}

const portOption = (text: string): Option =>
  new Option('--port <number>', text).env('PORT').argParser(port);
const listening = 'port to listen on; by default 8080';
const workersMax = 256;
const rowsMax = 1_000;

function workers(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > workersMax)
    throw new Failure(`workers are from 1 to ${workersMax}, not '${text}'`);
  return value;
}

const workersOption = new Option(
  '--workers <count>',
  'processes that serve on the address; by default 1',
)
  .env('TOLLGATE_WORKERS')
  .argParser(workers);
const acceptOption = new Option(
  '--accept-database',
  'use this database from now on, although the data folder belongs to another',
);
const hostOption = new Option('--host <address>', 'address to listen on')
  .env('HOST')
  .default('127.0.0.1');

command(program, 'serve', 'run the gateway')
  .addOption(
    new Option(
      '--config <file>',
      'configuration file; channels come from environment variables when there is none',
    ).env('TOLLGATE_CONFIG'),
  )
  .addOption(portOption(listening))
  .addOption(hostOption)
  .addOption(workersOption)
  .addOption(acceptOption)
  .action(async (options) => (await import('./serve.ts')).serve(options, process.env));

command(program, 'start', 'serve what is configured, or the demo when nothing is')
  .addOption(new Option('--config <file>', 'configuration file').env('TOLLGATE_CONFIG'))
  .addOption(portOption(listening))
  .addOption(hostOption)
  .addOption(workersOption)
  .addOption(acceptOption)
  .action(async (options) => (await import('./start.ts')).startCommand(options, process.env));

command(
  program,
  'demo',
  'gateway, simulator, a user with 100 yuan and a working key; fully offline',
)
  .addOption(portOption(listening))
  .addOption(hostOption)
  .option(
    '--faults',
    'sell models that fail on purpose as well, such as sim-429 and sim-cut-after-3',
  )
  .action(async (options) => (await import('./demo.ts')).demo(options, process.env));

command(program, 'sim', 'only the simulated vendors')
  .addOption(portOption('port to listen on; by default 8090'))
  .addOption(hostOption)
  .action(async (options) => (await import('./sim.ts')).sim(options));

function rowsMost(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > rowsMax)
    throw new Failure(`--limit is from 1 to ${rowsMax}, not '${text}'`);
  return value;
}

const limitOption = (rows: number): Option =>
  new Option('--limit <rows>', 'the most to show').argParser(rowsMost).default(rows);
const userFilter = new Option('--user <id>', 'of this user alone: an id, or a name that is one');
const sinceText = 'since when: 30m, 24h, 7d or a time such as 2027-01-31';

command(
  program,
  'init [file]',
  'write a configuration file of the vendors whose keys are in the environment, and make the first operator',
)
  .option('--vendors <names>', 'the vendors to take, with commas between; by default all found')
  .option('--multiplier <number>', 'what list prices are multiplied by; by default 1.0')
  .option('--name <name>', 'the first operator; by default operator, with - none is made')
  .option('--yes', 'ask nothing: take the usual answer where no option says another')
  .option('--force', 'write over a file that is there')
  .action(async (file: string | undefined, options) =>
    (await import('./init.ts')).initCommand(file ?? 'tollgate.yaml', options, process.env),
  );

command(
  program,
  'status',
  'whether the gateway runs, its load, its channels, and what needs attention',
).action(async (options: SharedOptions) =>
  (await import('./status.ts')).statusCommand(options, process.env),
);
command(
  program,
  'logs [id]',
  'requests of the last week that were refused, failed or needed more than one attempt; with an id one request with its attempts',
)
  .addOption(userFilter)
  .option('--key <id>', 'of this key alone')
  .option('--model <id>', 'for this model, as the client named it')
  .option('--channel <name>', 'whose last attempt was on this channel')
  .option('--status <status>', 'with this status, such as 429, or a class such as 5xx')
  .option('--code <code>', 'with this error code or outcome')
  .option('--since <time>', sinceText)
  .addOption(limitOption(50))
  .option('--follow', 'go on with new ones as they come; with --json one JSON value a line')
  .action(async (id: string | undefined, options) =>
    (await import('./logs.ts')).logsCommand(id, options, process.env),
  );
command(program, 'usage', 'what was paid in a period, by model, key or user')
  .addOption(
    new Option('--by <part>', 'what a row stands for')
      .choices(['model', 'key', 'user'])
      .default('model'),
  )
  .option('--since <time>', sinceText, '30d')
  .option('--until <time>', 'until when; by default now')
  .addOption(userFilter)
  .option('--key <id>', 'of this key alone')
  .option('--model <id>', 'of this model alone')
  .addOption(limitOption(50))
  .action(async (options) => (await import('./usage.ts')).usageCommand(options, process.env));

const user = program.command('user').description('users and their balance');
command(user, 'create', 'make a user')
  .requiredOption('--name <name>')
  .addOption(new Option('--role <role>').choices(['user', 'operator']).default('user'))
  .action(async (options) => (await import('./user.ts')).createUserCommand(options, process.env));
command(user, 'credit', 'add to a balance')
  .requiredOption('--user <id>')
  .requiredOption('--amount <yuan>', 'such as 10.00')
  .requiredOption('--reason <text>', 'kept with the transfer')
  .option('--id <id>', 'makes the credit happen once, however often the command runs')
  .action(async (options) => (await import('./user.ts')).creditUserCommand(options, process.env));
command(user, 'debit', 'take back from a balance, never more than is free')
  .requiredOption('--user <id>')
  .requiredOption('--amount <yuan>', 'such as 10.00')
  .requiredOption('--reason <text>', 'kept with the transfer, where the user reads it')
  .option('--id <id>', 'makes the debit happen once, however often the command runs')
  .action(async (options) => (await import('./user.ts')).debitUserCommand(options, process.env));
command(user, 'list', 'all users').action(async (options) =>
  (await import('./user.ts')).listUsersCommand(options, process.env),
);
for (const [name, suspended, description] of [
  ['suspend <id>', true, 'keep a user out: no console, no keys, effective within one second'],
  ['resume <id>', false, 'let a suspended user in again'],
] as const)
  command(user, name, description)
    .requiredOption('--reason <text>', 'kept in the audit trail, where the user reads it')
    .action(async (id: string, options) =>
      (await import('./user.ts')).suspendUserCommand(id, suspended, options, process.env),
    );

const key = program.command('key').description('API keys');
command(key, 'create', 'make a key; it is shown once')
  .requiredOption('--user <id>')
  .requiredOption('--group <name>', 'decides which models the key reaches')
  .option('--name <name>', 'to recognise it by')
  .option('--expires <time>', 'such as 2027-01-31 or 2027-01-31T12:00:00Z')
  .option('--limit <yuan>', 'what the key may spend in all')
  .option('--daily-limit <yuan>', 'what it may spend in a day')
  .option('--monthly-limit <yuan>', 'what it may spend in a month')
  .option('--models <ids>', 'the only models that it reaches, with commas between')
  .option('--addresses <networks>', 'from where alone it may be used, such as 10.0.0.0/8,::1')
  .option('--rpm <count>', "requests in a minute, within its group's limits")
  .option('--tpm <count>', 'tokens in a minute')
  .option('--concurrency <count>', 'requests at once')
  .action(async (options) => (await import('./key.ts')).createKeyCommand(options, process.env));
command(key, 'limit <id>', 'set, change or take away limits of a key, effective within one second')
  .option('--limit <yuan>', 'what the key may spend in all; none takes the limit away')
  .option('--daily-limit <yuan>', 'what it may spend in a day')
  .option('--monthly-limit <yuan>', 'what it may spend in a month')
  .action(async (id: string, options) =>
    (await import('./key.ts')).limitKeyCommand(id, options, process.env),
  );
command(key, 'list', 'all keys').action(async (options) =>
  (await import('./key.ts')).listKeysCommand(options, process.env),
);
command(key, 'disable <id>', 'stop a key, effective within one second').action(
  async (id: string, options) =>
    (await import('./key.ts')).switchKeyCommand(id, 'disabled', options, process.env),
);
command(key, 'enable <id>', 'let a disabled key work again').action(async (id: string, options) =>
  (await import('./key.ts')).switchKeyCommand(id, 'active', options, process.env),
);
command(key, 'rotate <id>', 'give a key a new secret; it is shown once')
  .addOption(
    new Option('--grace <time>', 'how long the old secret works beside it')
      .choices(['now', '1h', '24h', '7d'])
      .default('24h'),
  )
  .action(async (id: string, options) =>
    (await import('./key.ts')).rotateKeyCommand(id, options, process.env),
  );
command(key, 'end-old-secret <id>', 'end the grace of a rotated key').action(
  async (id: string, options) =>
    (await import('./key.ts')).endOldSecretCommand(id, options, process.env),
);
command(key, 'delete <id>', 'stop a key for ever; its records keep its name').action(
  async (id: string, options) =>
    (await import('./key.ts')).deleteKeyCommand(id, options, process.env),
);

const channel = program.command('channel').description('channels to vendors');
command(channel, 'list', 'all channels, their health and the last hour').action(
  async (options: SharedOptions) =>
    (await import('./channel.ts')).listChannelsCommand(options, process.env),
);
command(
  channel,
  'test <name>',
  "send one small request to a channel's vendor: exit code 1 if it fails; no user pays for it",
)
  .option('--model <id>', 'the model to ask; by default the first that can be tested')
  .option('--prompt <text>', 'what to ask; by default to reply with the word OK')
  .action(async (name: string, options) =>
    (await import('./channel.ts')).testChannelCommand(name, options, process.env),
  );

const model = program.command('model').description('models that are sold');
command(model, 'list', 'all models with their prices')
  .option('--all', 'also those that are sold no more')
  .action(async (options) => (await import('./model.ts')).listModelsCommand(options, process.env));

const order = program.command('order').description('top-ups');
command(order, 'list', 'top-ups, the newest first')
  .addOption(userFilter)
  .addOption(new Option('--state <state>').choices(['waiting', 'closed', 'failed', 'credited']))
  .addOption(new Option('--wallet <name>').choices(['wechat_pay', 'alipay']))
  .option('--since <time>', sinceText)
  .addOption(limitOption(50))
  .action(async (options) => (await import('./order.ts')).listOrdersCommand(options, process.env));

command(program, 'link', 'an address that signs a user in to the console, once')
  .requiredOption('--user <id>')
  .addOption(portOption("the gateway's port; by default 8080"))
  .addOption(
    new Option('--host <address>', "the gateway's address").env('HOST').default('127.0.0.1'),
  )
  .action(async (options) => (await import('./link.ts')).link(options, process.env));

command(
  program,
  'check',
  'prove the ledger: exit code 1 and the offending rows if something is wrong',
).action(async (options: SharedOptions) =>
  (await import('./maintenance.ts')).checkCommand(options, process.env),
);
command(program, 'migrate', 'bring the schema up to date').action(async (options: SharedOptions) =>
  (await import('./maintenance.ts')).migrateSchema(options, process.env),
);
command(
  program,
  'backup <file>',
  'write a consistent copy of a SQLite database: all but generated files, which live for a day, and the master key',
).action(async (file: string, options: SharedOptions) =>
  (await import('./maintenance.ts')).backupTo(file, options, process.env),
);

const config = program.command('config').description('the configuration file');
command(config, 'check <file>', 'read it and say all that is wrong').action(
  async (file: string, options: SharedOptions) =>
    (await import('./catalogue.ts')).checkConfig(file, options, process.env),
);
const prices = program.command('prices').description('prices of models');
command(
  prices,
  'import <file>',
  "take over a list of prices, or what LiteLLM's says of the models that are sold",
)
  .option('--dry-run', 'only show what would change')
  .option('--rate <yuan>', "yuan for a dollar in LiteLLM's list; by default TOLLGATE_USD_RATE")
  .action(async (file: string, options) =>
    (await import('./catalogue.ts')).importPricesCommand(file, options, process.env),
  );

const imports = program
  .command('import')
  .description(
    'move in from another gateway: a report of what would change, until --apply says so',
  );
command(
  imports,
  'new-api <source>',
  'from a new-api or one-api database: a SQLite file, or the address of a PostgreSQL database',
)
  .option('--as <name>', 'what that installation is called: each is taken in once', 'new-api')
  .option(
    '--rate <yuan>',
    "yuan for a dollar; by default that installation's own USDExchangeRate, else TOLLGATE_USD_RATE",
  )
  .option('--apply', 'write it')
  .action(async (source: string, options) =>
    (await import('./import-new-api.ts')).importNewApi(source, options, process.env),
  );

command(imports, 'litellm <config>', 'from LiteLLM: a configuration file of ours, made of its own')
  .option(
    '--prices <file>',
    'its list of prices, for models that neither file nor bundled list prices',
  )
  .option('--rate <yuan>', 'yuan for a dollar; by default TOLLGATE_USD_RATE')
  .option('--out <file>', 'where to write it; by default it is printed')
  .action(async (file: string, options) =>
    (await import('./import-litellm.ts')).importLitellm(file, options, process.env),
  );

program
  .command('completion')
  .description('print a script by which a shell completes commands, options and their values')
  .addArgument(new Argument('<shell>', 'the shell that reads the script').choices(shells))
  .action((shell: Shell) => console.log(completionScript(shell, program).trimEnd()));

dressHelp(program);
