import { createHash } from 'node:crypto';
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeNewApiDatabase } from './support/new-api-database.ts';

const entry = fileURLToPath(new URL('../bin/tollgate.js', import.meta.url));
const rounds = process.env['CI'] === 'true' ? 20 : 8;
const folder = mkdtempSync(join(tmpdir(), 'tollgate-commands-'));
const occupied = createServer();
let port = 0;

beforeAll(async () => {
  await new Promise<void>((resolve) => occupied.listen(0, '127.0.0.1', resolve));
  const address = occupied.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  port = address.port;
});

afterAll(() => {
  occupied.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Ended {
  readonly code: number;
  readonly errors: string;
  readonly output: string;
}

/**
 * One command as an operator runs it, from dist/. A command that does not end by itself is ended,
 * and has no code.
 */
function tollgate(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const options = {
      cwd: folder,
      timeout: 20_000,
      env: { PATH: process.env['PATH'], TOLLGATE_LOG: 'silent', ...env },
    };
    const child = execFile(process.execPath, [entry, ...args], options, (_error, output, errors) =>
      resolve({ code: child.exitCode ?? -1, errors, output }),
    );
  });
}

test('a process has eight threads for files and names, unless the operator says otherwise', async () => {
  const tell = join(folder, 'threads.cjs');
  writeFileSync(
    tell,
    "process.on('exit', () => console.log(`threads: ${process.env.UV_THREADPOOL_SIZE}`));",
  );
  const env = { NODE_OPTIONS: `--require=${tell}` };
  for (const [said, threads] of [
    [undefined, 8],
    ['', 8],
    ['16', 16],
  ] as const) {
    const given = said === undefined ? env : { ...env, UV_THREADPOOL_SIZE: said };
    expect((await tollgate(['--version'], given)).output).toContain(`threads: ${threads}\n`);
  }
});

test('a demo that cannot start leaves nothing behind', async () => {
  const place = mkdtempSync(join(folder, 'demo-'));
  expect((await tollgate(['demo', '--port', String(port)], { TMPDIR: place })).code).toBe(1);
  expect(readdirSync(place)).toEqual([]);
});

test('a mistyped data folder is not made; a folder that is there gets a database with its first user', async () => {
  await tollgate(['user', 'list', '--data', 'never']);
  expect(readdirSync(folder)).not.toContain('never');
  const place = mkdtempSync(join(folder, 'first-'));
  expect((await tollgate(['user', 'create', '--name', 'Ada', '--data', place])).code).toBe(0);
  expect((await tollgate(['check', '--data', place])).output).toMatch(
    /^ok: \d+ accounts, 0 transfers, 0 open holds\n$/,
  );
});

test('a credit has a reason, an id that is one, and somebody to get it', async () => {
  const place = mkdtempSync(join(folder, 'credit-'));
  const { id } = JSON.parse(
    (await tollgate(['user', 'create', '--name', 'Ada', '--data', place, '--json'])).output,
  );
  const wish = ['user', 'credit', '--amount', '1', '--data', place];
  const refused: readonly (readonly [readonly string[], RegExp])[] = [
    [['--user', id, '--reason', ' '], /^tollgate: --reason is a text of 1 to 500 characters\n$/],
    [
      ['--user', id, '--reason', 'x', '--id', ''],
      /^tollgate: --id is 1 to 100 characters without spaces\n$/,
    ],
    [['--user', 'grants', '--reason', 'x'], /^tollgate: there is no user grants; /],
  ];
  for (const [options, words] of refused) {
    const { code, errors } = await tollgate([...wish, ...options]);
    expect(errors).toMatch(words);
    expect(code).toBe(1);
  }
  expect((await tollgate(['check', '--data', place])).output).toMatch(/ 0 transfers,/);
});

test('an empty variable is an absent one, and an empty --data no folder', async () => {
  const place = mkdtempSync(join(folder, 'empty-'));
  const empty = {
    HOST: '',
    PORT: '',
    TOLLGATE_WORKERS: '',
    TOLLGATE_LOG: '',
    TOLLGATE_METRICS_TOKEN: '',
  };
  // The usual port is taken, or free: what counts is that no other is listened on.
  const { errors, output } = await tollgate(['link', '--user', 'nobody', '--data', place], empty);
  expect(errors + output).toMatch(/^tollgate: there is no database /);
  const { code, errors: words } = await tollgate(['serve', '--data', place], {
    ...empty,
    PORT: String(port),
  });
  expect(words).toMatch(/EADDRINUSE.* 127\.0\.0\.1:/);
  expect(code).toBe(1);
  expect((await tollgate(['user', 'create', '--name', 'Ada', '--data', ''])).errors).toBe(
    'tollgate: --data names a folder; it is empty\n',
  );
  expect(readdirSync(folder)).not.toContain('tollgate.db');
  expect((await tollgate(['serve', '--data', place], { TOLLGATE_LOG: 'loud' })).errors).toMatch(
    /tollgate: TOLLGATE_LOG is one of trace, debug, info, warn, error, fatal, silent, not 'loud'\n$/,
  );
});

test('each address of a host gets long enough for a handshake whose first packet was lost', async () => {
  const told =
    'process.on("exit",()=>console.log(process.getBuiltinModule("net").getDefaultAutoSelectFamilyAttemptTimeout()))';
  const { output } = await tollgate(['user', 'list', '--data', 'never'], {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(told)}`,
  });
  expect(Number(output)).toBeGreaterThanOrEqual(1_500);
});

test('what others on the machine may not read: the data folder, and a backup', async () => {
  const place = join(folder, 'closed');
  expect((await tollgate(['migrate', '--data', place])).code).toBe(0);
  expect((await tollgate(['backup', 'closed.backup', '--data', place])).code).toBe(0);
  expect((statSync(place).mode & 0o777).toString(8)).toBe('700');
  expect((statSync(join(folder, 'closed.backup')).mode & 0o777).toString(8)).toBe('600');
});

test('a report of what an import would do leaves nothing behind, and files that are none are told in a line', async () => {
  const source = join(folder, 'one-api.db');
  await makeNewApiDatabase(`sqlite:${source}`, {
    users: [
      { id: 1, username: 'root', password: 'x', quota: 500_000 },
      { id: 2, username: 'x\u001b[2J\nnotes:', password: 'x', quota: -1 },
    ],
  });
  const dry = await tollgate(['import', 'new-api', source, '--data', 'unborn', '--json']);
  expect(JSON.parse(dry.output)).toMatchObject({
    applied: false,
    users: { taken: 2 },
    sums: { compared: 1, agree: true },
  });
  expect(readdirSync(folder)).not.toContain('unborn');
  // Names that strangers gave themselves there are read on a terminal here.
  const { output } = await tollgate(['import', 'new-api', source, '--data', 'unborn']);
  expect(output).toContain('user 2 (x [2J notes:): owes 1 units there');
  expect(output).not.toContain('\u001b');
  writeFileSync(join(folder, 'broken.json'), '{"a":');
  writeFileSync(join(folder, 'other.yaml'), 'a: 1');
  const told: readonly (readonly [readonly string[], RegExp])[] = [
    [
      ['import', 'litellm', 'other.yaml'],
      /^tollgate: other.yaml is not a LiteLLM configuration: it has no model_list\n$/,
    ],
    [
      ['import', 'litellm', 'other.yaml', '--prices', 'broken.json'],
      /^tollgate: broken.json cannot be read: [^\n]*\n$/,
    ],
    [['import', 'litellm', folder], /^tollgate: [^\n]* is a folder, and no file\n$/],
    [
      ['key', 'create', '--user', 'x', '--group', 'y', '--name', 'a\nb'],
      /^tollgate: --name is one line of at most 100 characters\n$/,
    ],
    [
      ['link', '--user', 'x', '--host', 'a b/c'],
      /^tollgate: --host is a name or an address, not 'a b\/c'\n$/,
    ],
    [['config', 'check', folder], /^tollgate: [^\n]* is a folder, and no file\n$/],
  ];
  for (const [args, words] of told)
    expect(await tollgate(args)).toMatchObject({ code: 1, errors: expect.stringMatching(words) });
});

test('a configuration that sells nothing says so', async () => {
  writeFileSync(join(folder, 'empty.yaml'), '');
  expect(await tollgate(['config', 'check', 'empty.yaml'])).toMatchObject({
    code: 0,
    output:
      'empty.yaml: ok (1 group, 0 models, 0 channels)\n  nothing can be asked for: there are no models and no channels\n',
  });
});

test('a link for a user begins with how the console is reached, and is for users who are there', async () => {
  const place = mkdtempSync(join(folder, 'link-'));
  const { id } = JSON.parse(
    (await tollgate(['user', 'create', '--name', 'Ada', '--data', place, '--json'])).output,
  );
  const link = async (env = {}) =>
    JSON.parse(
      (await tollgate(['link', '--user', id, '--data', place, '--json', '--port', '8123'], env))
        .output,
    );
  expect(await link()).toEqual({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:8123\/auth\/link\?token=[A-Za-z0-9]{43}$/),
    user: id,
    expires_at: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  expect((await link({ PUBLIC_URL: 'https://ai.example.com/' })).url).toMatch(
    /^https:\/\/ai\.example\.com\/auth\/link\?token=/,
  );
  expect(await tollgate(['link', '--user', 'usr_nobody', '--data', place])).toMatchObject({
    code: 1,
    errors: expect.stringContaining('there is no user usr_nobody'),
  });
});

const otherKey = createHash('sha256').update('another key').digest('base64');

describe('what an operator got wrong ends the command with one line and exit code 1', () => {
  writeFileSync(join(folder, 'file'), '');
  const cases: readonly (readonly [string, () => Promise<Ended>, RegExp])[] = [
    [
      'a port in use',
      () => tollgate(['serve', '--data', 'a', '--port', String(port)]),
      /address already in use .*--port or PORT/,
    ],
    [
      'a data folder that is a file',
      () => tollgate(['serve', '--data', 'file', '--port', '0']),
      /file is no folder; name one for the data with --data or TOLLGATE_DATA/,
    ],
    [
      'half of a way to sign in',
      () => tollgate(['serve', '--data', 'a', '--port', '0'], { GITHUB_CLIENT_ID: 'x' }),
      /GITHUB_CLIENT_SECRET is missing beside GITHUB_CLIENT_ID/,
    ],
    [
      'a proxy that is no address',
      () =>
        tollgate(['serve', '--data', 'a', '--port', '0'], { TRUSTED_PROXIES: '10.0.0.0/8, proxy' }),
      /TRUSTED_PROXIES are addresses and networks such as 10\.0\.0\.0\/8, not 'proxy'/,
    ],
    [
      'a master key that is none',
      () => tollgate(['serve', '--data', 'a', '--port', '0'], { TOLLGATE_MASTER_KEY: 'x' }),
      /TOLLGATE_MASTER_KEY must hold 32 bytes in base64/,
    ],
    [
      'a database of another kind',
      () => tollgate(['user', 'list'], { DATABASE_URL: 'mysql://x' }),
      /DATABASE_URL.*postgres:/,
    ],
    [
      'a database that does not answer',
      () => tollgate(['user', 'list'], { DATABASE_URL: 'postgres://x@127.0.0.1:1/x' }),
      /the database of DATABASE_URL cannot be reached: .*ECONNREFUSED/,
    ],
    [
      'a host that this machine does not have',
      () => tollgate(['serve', '--port', '0'], { HOST: 'nosuch.invalid' }),
      /nosuch\.invalid; HOST and --host name an address of this machine/,
    ],
    [
      'files at an address that is none',
      () => tollgate(['serve', '--port', '0'], { MEDIA_URL: 'gs://x' }),
      /MEDIA_URL is neither a folder nor/,
    ],
    [
      'files in a bucket without keys',
      () => tollgate(['serve', '--port', '0'], { MEDIA_URL: 's3://x' }),
      /MEDIA_URL needs keys/,
    ],
    [
      'an address of clients that is none',
      () => tollgate(['serve', '--port', '0'], { PUBLIC_URL: 'ai.example.com' }),
      /PUBLIC_URL is the URL at which clients/,
    ],
    [
      'an address of clients with the path of the API',
      () => tollgate(['serve', '--port', '0'], { PUBLIC_URL: 'https://ai.example.com/v1/' }),
      /PUBLIC_URL is the URL at which clients reach the gateway, without \/v1/,
    ],
    [
      'traces to an address that is none',
      () => tollgate(['serve', '--port', '0'], { OTEL_EXPORTER_OTLP_ENDPOINT: 'nourl' }),
      /OTEL_EXPORTER_OTLP_ENDPOINT is an address such as/,
    ],
    ...[
      ['check'],
      ['user', 'list'],
      ['user', 'create', '--name', 'Ada'],
      ['key', 'list'],
      ['key', 'disable', 'key_1'],
      ['backup', 'b.db'],
    ].map((command): (typeof cases)[number] => [
      `a mistyped data folder for ${command.slice(0, 2).join(' ')}`,
      () => tollgate([...command, '--data', 'nowhere']),
      /there is no database .*nowhere.*--data/,
    ]),
    [
      'a backup into no folder',
      () => tollgate(['backup', 'none/b.db']),
      /there is no folder .*none/,
    ],
    [
      'a user without a name',
      () => tollgate(['user', 'create', '--name', ' ']),
      /--name is one line of 1 to 100 characters/,
    ],
  ];
  test.each(cases)('%s', async (_name, run, words) => {
    const { code, errors } = await run();
    const said = errors
      .split('\n')
      .filter((line) => line !== '' && !line.includes('no vendor is configured'));
    expect(said).toEqual([expect.stringMatching(words)]);
    expect(code).toBe(1);
  });
});

test('a master key that somebody typed is told for what it is', async () => {
  const server = spawn(
    process.execPath,
    [entry, 'serve', '--data', 'typed', '--port', '0', '--json'],
    {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        TOLLGATE_LOG: 'silent',
        TOLLGATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let errors = '';
  server.stderr.on('data', (text) => {
    errors += text;
  });
  await new Promise((resolve) => server.stdout.once('data', resolve));
  const gone = new Promise((resolve) => server.once('exit', resolve));
  server.kill();
  await gone;
  expect(errors).toMatch(/the master key is easy to guess\. Make a new one with: openssl/);
});

test('a second gateway on the same folder is told who serves it and what to do; commands work beside the first', async () => {
  const first = spawn(
    process.execPath,
    [entry, 'serve', '--data', 'shared', '--port', '0', '--json'],
    {
      cwd: folder,
      env: { PATH: process.env['PATH'], TOLLGATE_LOG: 'silent' },
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  const gone = new Promise((resolve) => first.once('exit', resolve));
  try {
    await new Promise((resolve) => first.stdout.once('data', resolve));
    const { code, errors } = await tollgate(['serve', '--data', 'shared', '--port', '0']);
    expect(errors).toMatch(
      /another gateway serves from .*shared.tollgate\.db.*--data.*PostgreSQL \(DATABASE_URL\)\n$/,
    );
    expect(code).toBe(1);
    expect(await tollgate(['check', '--data', 'shared'])).toMatchObject({ code: 0, errors: '' });
  } finally {
    first.kill();
    await gone;
  }
});

test('the limits of a key are set, shown and changed, and one that it was made without is added', async () => {
  const data = ['--data', 'limits', '--json'];
  const first = spawn(process.execPath, [entry, 'serve', '--port', '0', ...data], {
    cwd: folder,
    env: { PATH: process.env['PATH'], TOLLGATE_LOG: 'silent', OPENAI_API_KEY: 'sk-none' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const gone = new Promise((resolve) => first.once('exit', resolve));
  try {
    await new Promise((resolve) => first.stdout.once('data', resolve));
    const user = JSON.parse((await tollgate(['user', 'create', '--name', 'ada', ...data])).output);
    const made = await tollgate([
      'key',
      'create',
      '--user',
      user.id,
      '--group',
      'default',
      '--daily-limit',
      '5',
      '--monthly-limit',
      '50.5',
      ...data,
    ]);
    const { id } = JSON.parse(made.output);
    const limits = { limit: null, daily_limit: '5.00', monthly_limit: '50.50' };
    expect(JSON.parse((await tollgate(['key', 'list', ...data])).output)).toMatchObject([
      { id, ...limits },
    ]);
    expect(
      JSON.parse((await tollgate(['key', 'limit', id, '--daily-limit', '6', ...data])).output),
    ).toMatchObject({
      ...limits,
      daily_limit: '6.00',
    });
    expect(
      JSON.parse((await tollgate(['key', 'limit', id, '--limit', '9', ...data])).output),
    ).toMatchObject({ limit: '9.00', daily_limit: '6.00' });
    for (const [wrong, words] of [
      [['--daily-limit', 'x'], /--daily-limit is a sum in yuan/],
      [[], /name a limit/],
    ] as const) {
      const { code, errors } = await tollgate(['key', 'limit', id, ...wrong, ...data]);
      expect(errors).toMatch(words);
      expect(code).toBe(1);
    }
  } finally {
    first.kill();
    await gone;
  }
}, 30_000);

/** Starts a gateway on the folder, tells it twice to stop, and returns its exit code or signal. */
async function stopTwice(data: string, pauseMs: number): Promise<unknown> {
  const gateway = spawn(
    process.execPath,
    [entry, 'serve', '--data', data, '--port', '0', '--json'],
    {
      cwd: folder,
      env: { PATH: process.env['PATH'], TOLLGATE_LOG: 'silent' },
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  const gone = new Promise((resolve) =>
    gateway.once('exit', (code, signal) => resolve(signal ?? code)),
  );
  await new Promise((resolve) => gateway.stdout.once('data', resolve));
  gateway.kill('SIGTERM');
  await wait(pauseMs);
  gateway.kill('SIGINT');
  return gone;
}

test('a gateway that is told twice to stop never crashes, at whatever moment the second word comes', async () => {
  for (let round = 0; round < rounds; round += 2) {
    const ends = [0, 1].map((n) => stopTwice(`stopped-${n}`, ((round + n) * 20) / rounds));
    // When everything is closed and the process about to end, a signal is the system's.
    for (const end of await Promise.all(ends)) expect([0, 'SIGINT']).toContain(end);
  }
}, 60_000);

test('a gateway under another master key than its channels were sealed with says so, and takes the old one beside it', async () => {
  const config = join(folder, 'tollgate.yaml');
  writeFileSync(
    config,
    'channels: [{ name: c, vendor: openai, api_key: k, groups: [default], models: [] }]\n',
  );
  // The port is in use: this run records its channel and ends.
  await tollgate(['serve', '--config', config, '--data', 'sealed', '--port', String(port)]);
  const { code, errors } = await tollgate(['serve', '--data', 'sealed', '--port', '0'], {
    TOLLGATE_MASTER_KEY: otherKey,
  });
  expect(errors).toMatch(
    /the master key \(TOLLGATE_MASTER_KEY, or master\.key in the data folder\) is not the one that it was sealed with\. .* TOLLGATE_OLD_MASTER_KEY\n$/,
  );
  expect(code).toBe(1);
  const old = readFileSync(join(folder, 'sealed', 'master.key'), 'utf8');
  const renewed = { TOLLGATE_MASTER_KEY: otherKey, TOLLGATE_OLD_MASTER_KEY: old };
  await tollgate(['serve', '--data', 'sealed', '--port', String(port)], renewed);
  const tested = await tollgate(['channel', 'test', 'c', '--data', 'sealed'], {
    TOLLGATE_MASTER_KEY: otherKey,
  });
  expect(tested.errors).toMatch(/no model of c can be tested/);
});
