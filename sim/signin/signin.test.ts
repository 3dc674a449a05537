import { createHash } from 'node:crypto';
import { onTestFinished, expect, test } from 'vitest';
import { startSim } from '../index.ts';
import { simGithubApp, simWechatApp, simWechatLoner } from './apps.ts';
import { Codes } from './codes.ts';

const back = 'http://127.0.0.1:9/auth/callback';
const verifier = 'v'.repeat(43);
const challenge = createHash('sha256').update(verifier).digest('base64url');

async function simulator() {
  const sim = await startSim();
  onTestFinished(() => sim.close());
  const post = (
    path: string,
    fields: Record<string, string>,
    headers: Record<string, string> = {},
  ) =>
    fetch(sim.url + path, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers,
      redirect: 'manual',
    });
  const get = (path: string, query: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(`${sim.url}${path}?${new URLSearchParams(query).toString()}`, {
      headers,
      redirect: 'manual',
    });
  return { post, get };
}

const locationOf = (response: Response): URL => new URL(response.headers.get('location') ?? '');

const githubQuery = {
  client_id: simGithubApp.clientId,
  redirect_uri: back,
  state: 's',
  code_challenge: challenge,
  code_challenge_method: 'S256',
};
const proof = {
  client_id: simGithubApp.clientId,
  client_secret: simGithubApp.clientSecret,
  redirect_uri: back,
  code_verifier: verifier,
};
const json = { accept: 'application/json' };

test("GitHub's page is Chinese for a browser that asks for Chinese first, else English", async () => {
  const { get } = await simulator();
  const read = async (language: string) => {
    const headers = { 'accept-language': language };
    return (await get('/github/login/oauth/authorize', githubQuery, headers)).text();
  };
  expect(await read('zh-CN,zh;q=0.9,en;q=0.8')).toMatch(/<html lang="zh">.*授权 Tollgate.*取消/s);
  for (const language of ['en-GB,en;q=0.9,zh;q=0.8', 'de'])
    expect(await read(language)).toMatch(/<html lang="en">.*Authorize Tollgate.*Cancel/s);
});

test('GitHub: a code is for one exchange by the application and the browser that asked for it', async () => {
  const { post, get } = await simulator();
  const page = await get('/github/login/oauth/authorize', githubQuery);
  expect(await page.text()).toContain('value="octocat"');
  const codeOf = async () =>
    locationOf(
      await post('/github/login/oauth/authorize', {
        ...githubQuery,
        person: 'octocat',
        decision: 'approve',
      }),
    ).searchParams.get('code') ?? '';
  const exchange = async (members: Record<string, string>) =>
    JSON.parse(
      await (await post('/github/login/oauth/access_token', { ...proof, ...members }, json)).text(),
    );
  const code = await codeOf();
  const granted = await exchange({ code });
  expect(granted).toMatchObject({ token_type: 'bearer', scope: '' });
  expect(await exchange({ code })).toMatchObject({ error: 'bad_verification_code' });
  expect(await exchange({ code: await codeOf(), code_verifier: 'w'.repeat(43) })).toMatchObject({
    error: 'bad_verification_code',
  });
  expect(await exchange({ code: await codeOf(), client_secret: 'x' })).toMatchObject({
    error: 'incorrect_client_credentials',
  });
  expect(
    await exchange({ code: await codeOf(), redirect_uri: 'http://127.0.0.1:1/' }),
  ).toMatchObject({ error: 'redirect_uri_mismatch' });
  const authorization = `Bearer ${granted.access_token}`;
  expect(
    await (await get('/github/api/user', {}, { authorization, 'user-agent': 'x' })).json(),
  ).toMatchObject({
    id: 583_231,
    login: 'octocat',
  });
  expect(
    (await get('/github/api/user', {}, { authorization: 'Bearer gho_x', 'user-agent': 'x' }))
      .status,
  ).toBe(401);
  const form = await post('/github/login/oauth/access_token', { ...proof, code: 'x' });
  expect(await form.text()).toMatch(/^error=bad_verification_code&/);
});

test('GitHub: a user who declines comes back with an error; no redirect to an unregistered address', async () => {
  const { post, get } = await simulator();
  const denied = locationOf(
    await post('/github/login/oauth/authorize', { ...githubQuery, decision: 'deny' }),
  );
  expect([denied.searchParams.get('error'), denied.searchParams.get('state')]).toEqual([
    'access_denied',
    's',
  ]);
  for (const wrong of [
    { redirect_uri: 'https://evil.example/' },
    { client_id: 'x' },
    { code_challenge_method: 'plain' },
  ]) {
    const refused = await post('/github/login/oauth/authorize', {
      ...githubQuery,
      ...wrong,
      decision: 'approve',
    });
    expect([refused.status >= 400, refused.headers.get('location')]).toEqual([true, null]);
    expect(
      (await get('/github/login/oauth/authorize', { ...githubQuery, ...wrong })).status,
    ).toBeGreaterThanOrEqual(400);
  }
});

const wechatQuery = {
  appid: simWechatApp.appId,
  redirect_uri: back,
  response_type: 'code',
  scope: 'snsapi_login',
  state: 's',
};

test('WeChat: refusals are 200 with a number, answers say that they are text', async () => {
  const { post, get } = await simulator();
  const scan = async (members: Record<string, string> = {}) =>
    locationOf(
      await post('/weixin/open/connect/qrconnect', {
        ...wechatQuery,
        person: 'chen',
        decision: 'approve',
        ...members,
      }),
    ).searchParams;
  const exchange = async (members: Record<string, string>) => {
    const credentials = {
      appid: simWechatApp.appId,
      secret: simWechatApp.appSecret,
      grant_type: 'authorization_code',
    };
    const response = await get('/weixin/api/sns/oauth2/access_token', {
      ...credentials,
      ...members,
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain']);
    return JSON.parse(await response.text());
  };
  const code = (await scan()).get('code') ?? '';
  const granted = await exchange({ code });
  expect(granted).toMatchObject({ scope: 'snsapi_login', expires_in: 7_200 });
  expect((await exchange({ code })).errcode).toBe(40_163);
  expect((await exchange({ code: 'x' })).errcode).toBe(40_029);
  expect((await exchange({ code, secret: 'x' })).errcode).toBe(40_125);
  expect((await exchange({ code, appid: 'x' })).errcode).toBe(40_013);
  const { access_token, openid, unionid } = granted;
  expect(
    await (await get('/weixin/api/sns/userinfo', { access_token, openid })).json(),
  ).toMatchObject({ nickname: '陈晨', unionid });
  expect(
    await (await get('/weixin/api/sns/userinfo', { access_token, openid: 'o' })).json(),
  ).toMatchObject({ errcode: 40_003 });
  expect(
    await (await get('/weixin/api/sns/userinfo', { access_token: 'x', openid })).json(),
  ).toMatchObject({ errcode: 40_001 });
  const alone = await exchange({
    code: (await scan({ appid: simWechatLoner.appId })).get('code') ?? '',
    appid: simWechatLoner.appId,
    secret: simWechatLoner.appSecret,
  });
  expect(alone).not.toHaveProperty('unionid');
  expect(alone.openid).not.toBe(openid);
});

test('WeChat: who says no comes back with the state alone; members in another order are refused', async () => {
  const { post, get } = await simulator();
  const denied = locationOf(
    await post('/weixin/open/connect/qrconnect', { ...wechatQuery, decision: 'deny' }),
  );
  expect([...denied.searchParams]).toEqual([['state', 's']]);
  const { state, ...rest } = wechatQuery;
  expect(await (await get('/weixin/open/connect/qrconnect', wechatQuery)).text()).toContain(
    '扫码并同意',
  );
  expect(await (await get('/weixin/open/connect/qrconnect', { state, ...rest })).text()).toContain(
    '出错了',
  );
  expect(
    await (
      await get('/weixin/open/connect/qrconnect', { ...wechatQuery, scope: 'snsapi_base' })
    ).text(),
  ).toContain('Scope');
});

test('codes live for ten minutes', () => {
  let now = 0;
  const codes = new Codes<string>(() => now);
  const [one, two] = [codes.issue('one'), codes.issue('two')];
  now = 599_999;
  expect(codes.redeem(one)).toBe('one');
  expect(codes.redeem(one)).toBe('used');
  now = 600_000;
  expect(codes.redeem(two)).toBe('unknown');
});
