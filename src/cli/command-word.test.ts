import { expect, test } from 'vitest';
import { asTyped, commandWord, sameData } from './command-word.ts';

const started = {
  env: { PATH: '/usr/local/bin:/usr/bin' },
  folder: '/srv/ada/tollgate',
  node: '/usr/bin/node',
};

test.each([
  ['/srv/ada/tollgate/bin/tollgate.js', 'node bin/tollgate.js'],
  ['/opt/my tollgate/bin/tollgate.js', "node '/opt/my tollgate/bin/tollgate.js'"],
  ['/usr/local/bin/tollgate', 'tollgate'],
  ['/opt/tollgate/bin/tollgate', '/opt/tollgate/bin/tollgate'],
  ['/srv/ada/tollgate/node_modules/.bin/tollgate', 'npx tollgate'],
  [
    '/srv/ada/.npm/_npx/1/node_modules/.bin/tollgate',
    '/srv/ada/.npm/_npx/1/node_modules/.bin/tollgate',
  ],
  ['/srv/ada/tollgate/src/cli/main.ts', 'npx tsx src/cli/main.ts'],
  [undefined, 'tollgate'],
])('%s is typed as %s', (script, word) => {
  expect(commandWord({ ...started, script })).toBe(word);
});

test('a folder that npx puts into the path for itself is not in the path of another terminal', () => {
  const place = '/srv/ada/.npm/_npx/1/node_modules/.bin';
  const env = { PATH: `${place}:/usr/bin` };
  expect(commandWord({ ...started, env, script: `${place}/tollgate` })).toBe(`${place}/tollgate`);
});

test('Node is named by its file where no shell finds it', () => {
  expect(
    commandWord({ ...started, node: '/nodejs/bin/node', script: '/app/bin/tollgate.js' }),
  ).toBe('/nodejs/bin/node /app/bin/tollgate.js');
});

test('a line is typed with the word that works here, names of files stay', () => {
  const line = 'DEEPSEEK_API_KEY=sk-1 tollgate serve --config tollgate.yaml; $(tollgate user list)';
  expect(asTyped(line, 'node bin/tollgate.js')).toBe(
    'DEEPSEEK_API_KEY=sk-1 node bin/tollgate.js serve --config tollgate.yaml; $(node bin/tollgate.js user list)',
  );
  expect(asTyped('tollgate backup "tollgate-$(date +%F).db"', 'npx tollgate')).toBe(
    'npx tollgate backup "tollgate-$(date +%F).db"',
  );
});

test('the folder of the data is named where the usual one would not be found', () => {
  expect(sameData(undefined, {})).toBe('');
  expect(sameData(undefined, { TOLLGATE_DATA: '/srv/tollgate' })).toBe(' --data /srv/tollgate');
  expect(sameData('my data', {})).toBe(" --data 'my data'");
});
