import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { simConfig } from '../sim/catalog.ts';
import { type Sim, startSim } from '../sim/index.ts';
import { commandExamples } from '../src/cli/examples.ts';
import { leaves, nameOf } from '../src/cli/help.ts';
import { program } from '../src/cli/program.ts';
import { freePort } from './support/free-port.ts';
import { makeNewApiDatabase } from './support/new-api-database.ts';

const entry = fileURLToPath(new URL('../bin/tollgate.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'tollgate-cli-'));
let simulator: Sim;

beforeAll(async () => {
  simulator = await startSim({ host: '127.0.0.1', port: 0 });
  mkdirSync(join(folder, 'bin'));
  symlinkSync(entry, join(folder, 'bin', 'tollgate'));
});

afterAll(async () => {
  await simulator.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Ended {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

const environment = (more: Readonly<Record<string, string>>) => ({
  PATH: [join(folder, 'bin'), dirname(process.execPath), process.env['PATH']].join(':'),
  HOME: folder,
  PORT: '0',
  TOLLGATE_LOG: 'silent',
  TOLLGATE_MASTER_KEY: Buffer.from('a master key of thirty-two bytes').toString('base64'),
  ...more,
});

/** Lines as pasted into a shell. */
function pasted(
  lines: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const options = { cwd: folder, env: environment(env), timeout: 30_000 };
  const text = lines.join('\n');
  return new Promise((resolve) => {
    const shell = ['--norc', '-euo', 'pipefail', '-c', text];
    const child = execFile('bash', shell, options, (_error, output, errors) =>
      resolve({ code: child.exitCode ?? -1, output, errors }),
    );
  });
}

/** A line that goes on until Ctrl-C: what it says when it has begun, and how it ended. */
async function interrupted(
  line: string,
  env: Readonly<Record<string, string>>,
  meanwhile: (said: string) => Promise<void> = async () => {},
): Promise<Ended> {
  const child = spawn('bash', ['--norc', '-c', line.replace(/^((?:\w+=\S+ )*)/, '$1exec ')], {
    cwd: folder,
    env: environment(env),
  });
  let [output, errors] = ['', ''];
  child.stderr.on('data', (text) => (errors += text));
  // A terminal may hand on the demo's words in pieces.
  const begun = line.includes('tollgate demo') || line.includes(' kept') ? 'Ctrl-C' : '\n';
  const spoken = new Promise((resolve) =>
    child.stdout.on('data', (text) => {
      output += text;
      if (output.includes(begun)) resolve(undefined);
    }),
  );
  const gone = once(child, 'exit');
  await Promise.race([spoken, gone, wait(line.includes('--follow') ? 2_000 : 20_000)]);
  try {
    await meanwhile(output);
  } finally {
    child.kill('SIGINT');
  }
  const [code] = await gone;
  return { code: Number(code ?? -1), output, errors };
}

const goesOn = (name: string, line: string): boolean =>
  ['serve', 'start', 'demo', 'sim'].includes(name) || line.includes('--follow');

const unasked = (line: string): string => (line.includes('--yes') ? line : `${line} --yes`);

test('each command has its examples, and nothing else has', () => {
  expect(Object.keys(commandExamples).toSorted()).toEqual(leaves(program).map(nameOf).toSorted());
});

test('examples work when they are pasted', async () => {
  const configuration = simConfig(simulator.url).replaceAll('sim-deepseek,', 'deepseek,');
  writeFileSync(join(folder, 'tollgate.yaml'), configuration);
  writeFileSync(
    join(folder, 'prices.json'),
    '{"deepseek-chat":{"input_cost_per_token":0.000001,"output_cost_per_token":0.000002,"litellm_provider":"deepseek","mode":"chat"}}',
  );
  writeFileSync(
    join(folder, 'litellm.yaml'),
    'model_list:\n  - { model_name: gpt, litellm_params: { model: openai/gpt-4o, api_key: os.environ/OPENAI_API_KEY } }\n',
  );
  await makeNewApiDatabase(`sqlite:${join(folder, 'one-api.db')}`, {
    users: [{ id: 1, username: 'root', password: 'x', quota: 500_000 }],
  });
  await interrupted('tollgate serve --config tollgate.yaml', {});
  await pasted(['tollgate user create --name First']);
  for (const command of leaves(program)) {
    const name = nameOf(command);
    const lines = (commandExamples[name] ?? []).map((line) =>
      line.replace(/--port \d+/, '--port 0'),
    );
    const passing = lines.filter((line) => !goesOn(name, line));
    // No terminal is here to ask in, and the folder has its file.
    if (name === 'init')
      passing.splice(0, passing.length, `cd "$(mktemp -d -p .)"`, ...passing.map(unasked));
    if (passing.length > 0)
      expect(await pasted(passing), passing.join('\n')).toMatchObject({ code: 0, errors: '' });
    for (const line of lines.filter((each) => goesOn(name, each))) {
      const data = line.includes('--follow') ? 'data' : join(folder, `data-${name}`);
      expect((await interrupted(line, { TOLLGATE_DATA: data })).code, line).toBe(0);
    }
  }
}, 240_000);

test('help is a sentence, options with their defaults, and examples; a terminal sees it in colour', async () => {
  const plain = (await pasted(['tollgate usage --help'])).output;
  expect(plain).toContain('Show usage and cost of a period by model, key or user.');
  expect(plain).toContain('default: "model"');
  expect(plain).toContain('Examples:\n  tollgate usage --since 7d\n');
  expect(plain).not.toContain('\u001b');
  const forced = { FORCE_COLOR: '1' };
  expect((await pasted(['tollgate usage --help'], forced)).output).toContain('\u001b[1mExamples:');
  expect((await pasted(['tollgate nothing'], forced)).errors).not.toContain('undefined');
  expect((await pasted(['tollgate check --json'], forced)).output).not.toContain('\u001b');
});

test.each([
  ['tollgate srve', "unknown command 'srve'\n(Did you mean serve?)"],
  ['tollgate user lst', "unknown command 'lst'\n(Did you mean list?)"],
  ['tollgate usage --sinc 7d', "unknown option '--sinc'\n(Did you mean --since?)"],
  ['tollgate completion bsh', 'Allowed choices are bash, zsh, fish.'],
])('%s is answered with what was probably meant', async (line, words) => {
  const { code, errors } = await pasted([line]);
  expect(errors).toContain(words);
  expect(code).toBe(1);
});

test('bash completes commands, options and their values', async () => {
  const completed = async (...words: readonly string[]) => {
    const { output, errors, code } = await pasted([
      'source <(tollgate completion bash)',
      `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})`,
      `COMP_CWORD=${words.length - 1}`,
      '_tollgate || true',
      'echo "${COMPREPLY[*]-}"',
    ]);
    expect({ errors, code }).toEqual({ errors: '', code: 0 });
    return output.trim().split(' ');
  };
  expect(await completed('tollgate', 'us')).toEqual(['usage', 'user']);
  expect(await completed('tollgate', 'user', 'cre')).toEqual(['create', 'credit']);
  expect(await completed('tollgate', 'user', 'credit', '--am')).toEqual(['--amount']);
  expect(await completed('tollgate', 'usage', '--by', '')).toEqual(['model', 'key', 'user']);
  expect(await completed('tollgate', 'serve', '--config', '')).toEqual(['']);
});

test.each(['zsh', 'fish'])('the script for %s names every command', async (shell) => {
  const { output, code } = await pasted([`tollgate completion ${shell}`]);
  expect(code).toBe(0);
  for (const name of leaves(program).map(nameOf)) expect(output).toContain(` ${name}"`);
});

test('the demo prints lines that work when pasted, beside another program ten ports above', async () => {
  const [port, taken] = await neighbours();
  const words = async (line: string) => {
    const { code, output } = await interrupted(line, { TMPDIR: folder }, async (said) => {
      const variables = said.split('\n').filter((each) => each.startsWith('export '));
      const curl = said.slice(said.indexOf('curl '), said.indexOf('Ctrl-C'));
      const ask = '-H "content-type: application/json" -d';
      const message = '"messages": [{"role": "user", "content": "Hi"}]';
      const sdks = [
        `curl -sS "$TOLLGATE_URL/v1/chat/completions" -H "authorization: Bearer $TOLLGATE_API_KEY" ${ask} '{"model": "deepseek-chat", ${message}}'`,
        `curl -sS "$ANTHROPIC_BASE_URL/v1/messages" -H "authorization: Bearer $ANTHROPIC_AUTH_TOKEN" ${ask} '{"model": "deepseek-chat", "max_tokens": 9, ${message}}'`,
        'curl -sS "$TOLLGATE_URL/readyz" -o /dev/null -w "%{http_code}\\n"',
      ];
      const told = said.split('\n').filter((each) => / (?:status|link) .*--data /.test(each));
      const reached = await pasted(told);
      expect(reached.output).toMatch(/gateway +[^]*http:\S+auth\/link\?token=/);
      const answers = (await pasted([...variables, curl, 'echo', ...sdks])).output;
      expect(answers.match(/"assistant"/g)).toHaveLength(3);
      expect(answers).toMatch(/200$/m);
    });
    expect(code).toBe(0);
    return output;
  };
  const demo = await words(`tollgate demo --port ${port}`);
  expect(demo).toContain(`listens on http://127.0.0.1:${port}`);
  // The variables are for programs: a start that finds them sends their key to no vendor.
  const lines = demo.split('\n').filter((each) => each.startsWith('export '));
  const variables = Object.fromEntries(lines.map((each) => each.slice(7).split('=')));
  const nobodys = { TMPDIR: folder, TOLLGATE_DATA: join(folder, 'nobodys') };
  const again = await interrupted('tollgate start --port 0', { ...variables, ...nobodys });
  expect(again.output).toContain('The vendors behind it are simulated');
  const busy = await pasted([`tollgate demo --port ${port + 10}`]);
  expect(busy.errors).toContain(`name another with --port or PORT, such as --port ${port + 11}`);
  taken.close();
}, 60_000);

test('a start without a vendor serves a data folder with users, and a demo that was kept stays one', async () => {
  const starts = async (data: string) =>
    (await interrupted(`tollgate start --port 0 --data ${data}`, { TMPDIR: folder })).output;
  const user = /link --user (usr_\w+)/;
  const first = await starts('kept');
  const second = await starts('kept');
  expect(user.exec(second)?.[1]).not.toBe(user.exec(first)?.[1]);
  const { output } = await pasted([
    `tollgate user list --data kept`,
    `tollgate link --user ${user.exec(second)?.[1]} --data kept`,
  ]);
  expect(output).toContain('auth/link?token=');
  await pasted(['mkdir own', 'tollgate user create --name Ada --data own']);
  expect(await starts('own')).toContain('no models: no vendor is configured');
}, 60_000);

test.skipIf(!existsSync('/usr/bin/script'))(
  'a terminal shows no line for each request unless it is asked for, and a pipe does',
  async () => {
    const call = async (said: string): Promise<void> => {
      const [, key = ''] = /OPENAI_API_KEY=(\S+)/.exec(said) ?? [];
      const [, url = ''] = /OPENAI_BASE_URL=(\S+)/.exec(said) ?? [];
      const answer = await fetch(`${url}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: '{"model": "deepseek-chat", "messages": [{"role": "user", "content": "Hi"}]}',
      });
      expect(answer.status).toBe(200);
      await wait(1_000); // Lines wait for others for half a second.
    };
    const demo = 'tollgate demo --port 0';
    const onTerminal = `script --quiet --return --command "exec ${demo}" /dev/null`;
    const requests = async (line: string, level: string) => {
      const env = { TMPDIR: folder, TOLLGATE_LOG: level };
      return (await interrupted(line, env, call)).output.match(/"msg":"request"/g)?.length ?? 0;
    };
    expect(await requests(onTerminal, '')).toBe(0);
    expect(await requests(onTerminal, 'info')).toBe(1);
    expect(await requests(demo, '')).toBe(1);
  },
  60_000,
);

test('a first start says what it serves and where, and the steps that it prints lead to a call', async () => {
  const file = join(folder, 'first.yaml');
  writeFileSync(file, simConfig(simulator.url));
  const data = join(folder, 'first data');
  const line = `"${process.execPath}" "${entry}" serve --config ${file} --data "${data}"`;
  const { errors } = await interrupted(line, { FORCE_COLOR: '0' }, async (said) => {
    expect(said).toMatch(/^ {2}serves {3}.*deepseek \(\d+ models?\)/m);
    expect(said).toContain(`  data     ${data}\n`);
    expect(said).toMatch(/once, within 15 minutes: http\S+auth\/link/);
    const [, after = ''] = said.split('In another terminal, for a user:\n');
    const steps = after.split('\n').slice(0, 3);
    const call = after.split('\n').slice(4, 7);
    expect(steps[0]).toContain(`${entry} user create --name Ada --data '${data}'`);
    const { output, code } = await pasted(steps);
    expect(code).toBe(0);
    expect(output).toContain('now has 10.00 yuan');
    const [key = ''] = /^sk-\S+/m.exec(output) ?? [];
    await wait(1_500); // A gateway that runs sees a new key within a second.
    const answer = await pasted([`export TOLLGATE_API_KEY=${key}`, call.join('\n')]);
    expect(JSON.parse(answer.output)).toMatchObject({
      model: 'deepseek-chat',
      choices: [{ message: { role: 'assistant' } }],
    });
  });
  expect(errors).not.toContain('no vendor');
  const again = await interrupted(line, { FORCE_COLOR: '0' });
  expect(again.output).toContain('  serves   ');
  expect(again.output).not.toContain('No user has a key yet');
}, 60_000);

test('a gateway without vendors names the file that nobody named, or init', async () => {
  const alone = mkdtempSync(join(folder, 'alone-'));
  const line = `env -C ${alone} tollgate serve`;
  expect((await interrupted(line, {})).errors).toContain(
    "write a configuration file with 'tollgate init'",
  );
  writeFileSync(join(alone, 'tollgate.yaml'), 'channels: []\n');
  expect((await interrupted(line, {})).errors).toContain(
    'nothing names it. Use it with: tollgate serve --config tollgate.yaml',
  );
}, 60_000);

/** A free port, and a server on the tenth port above it. */
async function neighbours(): Promise<readonly [number, Server]> {
  for (;;) {
    const port = await freePort();
    const server = createServer();
    const free = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port + 10, '127.0.0.1', () => resolve(true));
    });
    if (free) return [port, server];
  }
}
