import { mkdtempSync, readFileSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import { auditPage } from '../accounts/audit.ts';
import { findUser, listUsers } from '../accounts/users.ts';
import { migrations } from '../app/schema.ts';
import { enrol } from '../signin/enrol.ts';
import { checkConfig } from './config.ts';
import { initCommand } from './init.ts';
import { readConfigurationFile } from './serve.ts';

let folder = '';
let file = '';
const keys = { DEEPSEEK_API_KEY: 'sk-deepseek-secret', OPENAI_API_KEY: 'sk-openai-secret' };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-init-'));
  file = join(folder, 'tollgate.yaml');
  const made = folder;
  onTestFinished(() => rmSync(made, { recursive: true }));
});

const silently = () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  onTestFinished(() => log.mockRestore());
  return () => String(log.mock.lastCall?.[0]);
};

test('a file is written that serve accepts, with the vendors of the environment and none of their keys', async () => {
  const printed = silently();
  await initCommand(file, { data: folder, yes: true, json: true, name: '-' }, keys);
  expect(JSON.parse(printed())).toMatchObject({ file, data: folder, channels: 2, user: null });
  expect(existsSync(join(folder, 'tollgate.db'))).toBe(false);
  const text = readFileSync(file, 'utf8');
  expect(text).not.toContain('secret');
  const read = await readConfigurationFile(file, keys);
  expect(read).toMatchObject({
    ok: true,
    configuration: { channels: [{ name: 'openai' }, { name: 'deepseek' }] },
  });
});

test('without a vendor key the file is one that can be completed', async () => {
  const printed = silently();
  await initCommand(file, { data: folder, yes: true, name: '-' }, {});
  expect(printed()).toMatch(
    /No vendor key is in the environment[^]*First, with a vendor's key:\n +export DEEPSEEK_API_KEY=[^]*--force --name -\nOr, with a server of your own[^]*'house'[^]*Then:\n.* serve --config /,
  );
  expect(await readConfigurationFile(file, {})).toMatchObject({ ok: true });
  expect(readFileSync(file, 'utf8')).toContain('DEEPSEEK_API_KEY');
});

test.each(['# ', '#'])('the commented channel is valid once its %j are gone', async (mark) => {
  silently();
  await initCommand(file, { data: folder, yes: true, name: '-' }, {});
  const text = readFileSync(file, 'utf8');
  const [before = '', channel = '', after = ''] = text.split(/^channels:\n((?:#.*\n)+)/mu);
  const uncommented = channel.replaceAll(new RegExp(`^${mark}`, 'gmu'), '');
  writeFileSync(file, `${before}channels:\n${uncommented}${after}`);
  const printed = silently();
  await checkConfig(file, { json: true }, keys);
  expect(JSON.parse(printed())).toMatchObject({ ok: true, channels: 1, warnings: [] });
});

const one = { DEEPSEEK_API_KEY: keys.DEEPSEEK_API_KEY };

test.each([
  ['# ', {}, 1],
  ['#', {}, 1],
  ['# ', one, 2],
  ['#', one, 2],
])('the commented server of one’s own is valid once its %j are gone', async (mark, env, count) => {
  silently();
  await initCommand(file, { data: folder, yes: true, name: '-' }, env);
  const lines = readFileSync(file, 'utf8').split('\n');
  const models = lines.indexOf('#models:');
  const uncommented = lines.map((line, index) =>
    (index >= models || line.includes('name: house')) && line !== ''
      ? line.replace(line.trimStart().startsWith(mark) ? mark : '#', '')
      : line,
  );
  writeFileSync(file, uncommented.join('\n'));
  const printed = silently();
  await checkConfig(file, { json: true }, env);
  expect(JSON.parse(printed())).toMatchObject({ ok: true, channels: count });
  expect(printed()).not.toContain('my-model');
  expect(await readConfigurationFile(file, env)).toMatchObject({
    ok: true,
    configuration: {
      channels: expect.arrayContaining([
        expect.objectContaining({ name: 'house', vendor: 'vllm' }),
      ]),
    },
  });
});

test('the next steps name the variables that the file reads', async () => {
  const printed = silently();
  const env = { ...keys, OPENAI_BASE_URL: 'https://proxy.example/v1', FORCE_COLOR: '0' };
  await initCommand(file, { data: folder, yes: true, name: '-' }, env);
  expect(printed()).toContain(
    "The file reads OPENAI_API_KEY, OPENAI_BASE_URL, DEEPSEEK_API_KEY. Each terminal that runs 'config check' or 'serve' has to set them.",
  );
});

test('a file that is there stays, unless --force is said', async () => {
  silently();
  writeFileSync(file, 'mine');
  const options = { data: folder, yes: true, name: '-' } as const;
  await expect(initCommand(file, options, keys)).rejects.toThrow('--force overwrites it');
  expect(readFileSync(file, 'utf8')).toBe('mine');
  await initCommand(file, { ...options, force: true }, keys);
  expect(readFileSync(file, 'utf8')).toContain('price_multiplier: 1.0');
});

test('what is wrong is told before anything is written', async () => {
  const refused = async (options: object, words: string) => {
    await expect(
      initCommand(file, { data: folder, yes: true, name: 'Ada', ...options }, keys),
    ).rejects.toThrow(words);
    expect(existsSync(file)).toBe(false);
    expect(existsSync(join(folder, 'tollgate.db'))).toBe(false);
  };
  for (const multiplier of ['x', '1\nchannels: []', '-1', '0.0000001'])
    await refused({ multiplier }, 'the multiplier (--multiplier) must');
  await refused({ vendors: 'deepseek,groq' }, 'GROQ_API_KEY is not set');
  await refused({ vendors: 'nobody' }, "there is no vendor 'nobody'");
  await refused({ name: 'a\nb' }, '--name is one line');
  await refused(
    { yes: undefined, name: undefined, json: true },
    'there is no terminal for questions',
  );
});

test('a file in no folder is refused before a user is made', async () => {
  const nowhere = join(folder, 'none', 'tollgate.yaml');
  await expect(
    initCommand(nowhere, { data: folder, yes: true, name: 'Ada' }, keys),
  ).rejects.toThrow('there is no folder');
  expect(existsSync(join(folder, 'tollgate.db'))).toBe(false);
});

test('the next steps lead to a key that can pay, in another terminal than the gateway', async () => {
  const printed = silently();
  await initCommand(file, { data: folder, yes: true }, { ...keys, FORCE_COLOR: '0' });
  const steps = [
    'Next:',
    ' serve ',
    'In another terminal, for yourself:',
    ' link ',
    ' user credit ',
    ' key create ',
  ];
  const found = steps.map((step) => printed().indexOf(step));
  expect(found).toEqual(found.toSorted((a, b) => a - b));
  expect(found).not.toContain(-1);
});

forEachDatabase((_name, _openFresh, fresh) => {
  test('only what no option tells is asked, and the first operator is made', async () => {
    const place = await fresh(migrations);
    const database = await place.open();
    const printed = silently();
    const asked: string[] = [];
    const ask = async (question: string, usual: string) => {
      asked.push(`${question.split(' ')[0]} [${usual}]`);
      return question.startsWith('Vendors') ? 'openai' : usual;
    };
    const env = { ...keys, DATABASE_URL: place.url };
    await initCommand(file, { data: folder, json: true, multiplier: '1.2' }, env, ask);
    expect(asked).toEqual(['Vendors [openai,deepseek]', 'Name [operator]']);
    const { user, channels } = JSON.parse(printed());
    expect(channels).toBe(1);
    expect(await findUser(database, user)).toMatchObject({ name: 'operator', role: 'operator' });
    expect(await auditPage(database, { account: user, limit: 5 })).toMatchObject([
      { action: 'user.create', actorKind: 'command' },
    ]);
    expect(readFileSync(file, 'utf8')).toContain('price_multiplier: 1.2');
  });

  test('an operator that exists is used, and no other is made', async () => {
    const place = await fresh(migrations);
    const database = await place.open();
    const { id } = await database.transact(() => enrol('operator', 'operator', 1));
    const printed = silently();
    const env = { ...keys, DATABASE_URL: place.url, FORCE_COLOR: '0' };
    await initCommand(file, { data: folder, yes: true }, env);
    expect(printed()).toContain(`operator ${id} (operator) exists already: no other was created`);
    expect(printed()).toContain(` link --user ${id}`);
    expect(await listUsers(database, { after: '', limit: 9 })).toHaveLength(1);
  });
});
