import { expect, test } from 'vitest';
import { readConfiguration } from '../catalog/config.ts';
import { signinSettings } from './settings.ts';

const read = (text: string) =>
  readConfiguration(text, {
    env: { SECRET: 's3cret' },
    vendors: [],
    serves: () => true,
    now: Date.parse('2026-11-21'),
  });

test('what is not configured is not there, and what is half configured is told', () => {
  expect(signinSettings(undefined, {})).toEqual({ signUp: true });
  expect(signinSettings(undefined, { GITHUB_CLIENT_ID: '', TOLLGATE_SIGN_UP: 'off' })).toEqual({
    signUp: false,
  });
  expect(signinSettings(undefined, { GITHUB_CLIENT_ID: 'x' })).toBe(
    'GITHUB_CLIENT_SECRET is missing beside GITHUB_CLIENT_ID',
  );
  expect(signinSettings(undefined, { WECHAT_APP_SECRET: 'x' })).toBe(
    'WECHAT_APP_ID is missing beside WECHAT_APP_SECRET',
  );
  expect(signinSettings(undefined, { TOLLGATE_SIGN_UP: 'no' })).toContain('on or off');
  expect(
    signinSettings(undefined, {
      WECHAT_APP_ID: 'wx',
      WECHAT_APP_SECRET: 's',
      WECHAT_API_URL: 'http://127.0.0.1:1/',
    }),
  ).toEqual({
    wechat: {
      appId: 'wx',
      appSecret: 's',
      baseUrl: 'https://open.weixin.qq.com',
      apiUrl: 'http://127.0.0.1:1',
    },
    signUp: true,
  });
});

test('the file goes before the environment', async () => {
  const result = await read(
    'signin:\n  sign_up: false\n  github: { client_id: Iv1, client_secret: "${SECRET}", base_url: https://github.example.com/, api_url: https://github.example.com/api/v3 }\n',
  );
  const env = { GITHUB_CLIENT_ID: 'other', GITHUB_CLIENT_SECRET: 'other', TOLLGATE_SIGN_UP: 'on' };
  expect(result.ok && signinSettings(result.configuration.signin, env)).toEqual({
    github: {
      clientId: 'Iv1',
      clientSecret: 's3cret',
      baseUrl: 'https://github.example.com',
      apiUrl: 'https://github.example.com/api/v3',
    },
    signUp: false,
  });
});

test('what is wrong in the file is told with its line', async () => {
  const result = await read(
    'signin:\n  sign_up: maybe\n  github: { client_id: x, api_url: nowhere }\n  gitlab: {}\n',
  );
  expect(result.ok ? [] : result.problems.map(({ line, path }) => [line, path])).toEqual([
    [2, 'signin.sign_up'],
    [3, 'signin.github.client_secret'],
    [3, 'signin.github.api_url'],
    [4, 'signin.gitlab'],
  ]);
});
