import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startSim } from '../../sim/index.ts';
import { configurationFrom } from '../../test/support/running.ts';
import { systemClock } from '../base/clock.ts';
import { nanoPerYuan } from '../base/money.ts';
import { openWallets, paymentSettings, wrongPayments } from './settings.ts';

const order = {
  id: 'ord_1234567890',
  amount: nanoPerYuan,
  method: 'qr',
  payerIp: undefined,
  subject: 'Top-up',
  notifyUrl: 'https://ai.example.com/pay/wechat_pay/notify',
  returnUrl: 'https://ai.example.com/top-up/ord_1234567890',
} as const;

test('without its public key, WeChat Pay is believed by certificates that only our APIv3 key opens', async () => {
  const sim = await startSim();
  onTestFinished(() => sim.close());
  const { public_key: _, public_key_id: __, ...written } = sim.wallets.settings.wechat_pay;
  const make = (settings: Readonly<Record<string, string>>) =>
    openWallets({ wechat_pay: settings }, systemClock, new AbortController().signal)
      .get('wechat_pay')
      ?.createOrder({ ...order, expiresAt: systemClock.now() + 600_000 });
  expect(await make(written)).toMatchObject({
    kind: 'made',
    code: expect.stringMatching(/^weixin:/),
  });
  expect(await make({ ...written, api_v3_key: 'f'.repeat(32) })).toMatchObject({
    kind: 'fault',
    sure: false,
  });
  expect(await make({ ...sim.wallets.settings.wechat_pay, serial: '00' })).toMatchObject({
    kind: 'fault',
    sure: true,
    why: expect.stringContaining('SIGN_ERROR'),
  });
});

test('certificates are fetched once for calls that overlap, and again soon after a fetch that failed', async () => {
  const sim = await startSim();
  onTestFinished(() => sim.close());
  let laterMs = 0;
  const clock = {
    now: () => systemClock.now() + laterMs,
    monotonicMs: () => systemClock.monotonicMs() + laterMs,
  };
  const { public_key: _, public_key_id: __, ...written } = sim.wallets.settings.wechat_pay;
  const { counter } = sim.wallets;
  counter.now = () => clock.now();
  const wallet = openWallets({ wechat_pay: written }, clock, new AbortController().signal).get(
    'wechat_pay',
  );
  const expiresAt = clock.now() + 600_000;
  const make = () => wallet?.createOrder({ ...order, expiresAt });
  counter.trouble = { kind: 'error', call: 'certificates' };
  expect(await make()).toMatchObject({ kind: 'fault', sure: false });
  counter.trouble = undefined;
  laterMs = 2_000;
  const made = await Promise.all([make(), make(), make(), make(), make()]);
  expect(made.map((one) => one?.kind)).toEqual(['made', 'made', 'made', 'made', 'made']);
});

test('what is missing or wrong is named by member and variable, and no secret is told', async () => {
  const sim = await startSim();
  onTestFinished(() => sim.close());
  const { wechat_pay: good, alipay } = sim.wallets.settings;
  const { serial: _, ...rest } = good;
  expect(wrongPayments({ wechat_pay: good, alipay })).toBeUndefined();
  expect(wrongPayments({ wechat_pay: rest })).toBe(
    'payments.wechat_pay.serial (WECHAT_PAY_SERIAL) is missing',
  );
  expect(wrongPayments({ wechat_pay: { ...good, api_v3_key: 'short-secret' } })).toBe(
    'payments.wechat_pay.api_v3_key (WECHAT_PAY_API_V3_KEY) has 32 characters',
  );
  const broken = wrongPayments({ alipay: { ...alipay, private_key: 'my-secret' } });
  expect(broken).toBe(
    'payments.alipay.private_key (ALIPAY_PRIVATE_KEY) is an RSA key, in PEM or base64',
  );
});

test('the environment fills in what the file does not say; a key may be a file', async () => {
  const sim = await startSim();
  const file = join(tmpdir(), `alipay-${systemClock.now()}.pem`);
  onTestFinished(() => sim.close());
  const { alipay } = sim.wallets.settings;
  await writeFile(file, alipay['private_key'] ?? '');
  const env = {
    ALIPAY_SELLER_ID: alipay['seller_id'],
    ALIPAY_PRIVATE_KEY_FILE: file,
    ALIPAY_PUBLIC_KEY: alipay['public_key'],
    ALIPAY_APP_ID: 'other',
  };
  const settings = paymentSettings({ alipay: { app_id: alipay['app_id'] } }, env);
  expect(settings.alipay).toMatchObject({
    app_id: alipay['app_id'],
    seller_id: alipay['seller_id'],
  });
  expect(settings.wechat_pay).toBeUndefined();
  expect(wrongPayments(settings)).toBeUndefined();
  expect(openWallets(paymentSettings({}, {}), systemClock, new AbortController().signal).size).toBe(
    0,
  );
});

test('a key of the file takes precedence over a key of the environment, whatever the form of each', async () => {
  const sim = await startSim();
  onTestFinished(() => sim.close());
  const { alipay, wechat_pay: wechat } = sim.wallets.settings;
  const { public_key: _, ...rest } = wechat;
  const env = {
    ALIPAY_PRIVATE_KEY_FILE: '/of/the/environment',
    WECHAT_PAY_PUBLIC_KEY: 'of the environment',
  };
  const settings = paymentSettings(
    { alipay, wechat_pay: { ...rest, public_key_file: '/of/the/file' } },
    env,
  );
  expect(settings.alipay?.['private_key_file']).toBeUndefined();
  expect(settings.alipay?.['private_key']).toBe(alipay['private_key']);
  expect(settings.wechat_pay?.['public_key']).toBeUndefined();
  expect(settings.wechat_pay?.['public_key_file']).toBe('/of/the/file');
});

test("WeChat Pay's public key is refused without its id", async () => {
  const sim = await startSim();
  onTestFinished(() => sim.close());
  const { public_key_id: _, ...rest } = sim.wallets.settings.wechat_pay;
  expect(wrongPayments({ wechat_pay: rest })).toBe(
    'payments.wechat_pay.public_key_id (WECHAT_PAY_PUBLIC_KEY_ID) is missing: WeChat Pay shows it beside its public key',
  );
});

test('a merchant names the ways that it has a permission for; without names it has all', async () => {
  const sim = await startSim();
  onTestFinished(() => sim.close());
  const { wechat_pay: wechat, alipay } = sim.wallets.settings;
  const methodsOf = (
    env: Readonly<Record<string, string>>,
    written: Readonly<Record<string, string>> = {},
  ) =>
    [
      ...openWallets(
        paymentSettings({ wechat_pay: { ...wechat, ...written }, alipay }, env),
        systemClock,
        new AbortController().signal,
      ).values(),
    ].map(({ methods }) => methods);
  expect(methodsOf({})).toEqual([
    ['qr', 'mobile'],
    ['qr', 'page', 'mobile'],
  ]);
  expect(methodsOf({ ALIPAY_METHODS: 'mobile, qr' }, { methods: 'qr' })).toEqual([
    ['qr'],
    ['qr', 'mobile'],
  ]);
  const { payments = {} } = await configurationFrom(
    'payments: { alipay: { methods: [page, qr] } }',
  );
  expect(payments.alipay).toEqual({ methods: 'page,qr' });
  expect(wrongPayments({ wechat_pay: { ...wechat, methods: 'qr,page' } })).toBe(
    'payments.wechat_pay.methods (WECHAT_PAY_METHODS) has a name that is not one of qr, mobile',
  );
});

test('an order can be paid for two minutes at least: WeChat Pay takes no shorter one on a phone', async () => {
  const { payments } = await configurationFrom('payments: { expiry_minutes: 2 }');
  expect(payments?.expiry_minutes).toBe(2);
  await expect(configurationFrom('payments: { expiry_minutes: 1 }')).rejects.toThrow(
    'expiry_minutes',
  );
});
