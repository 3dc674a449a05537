import { AlipaySdk } from 'alipay-sdk';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Aes, Formatter, Rsa, Wechatpay } from 'wechatpay-axios-plugin';
import { startSim } from '../sim/index.ts';
import { formOf } from '../sim/wallets/index.ts';
import { newPair, privatePem, publicPem } from '../sim/wallets/keys.ts';
import { chinaTime } from '../sim/wallets/trade.ts';
import { wechatBill } from '../sim/wallets/wechat-bill.ts';
import { systemClock } from '../src/base/clock.ts';
import {
  AlipayCaller,
  notificationIsSigned,
  signedPart,
  signRequest,
} from '../src/payments/wallets/alipay-call.ts';
import { publicKeyFrom, rsaSign } from '../src/payments/wallets/rsa.ts';
import { readWechatBill } from '../src/payments/wallets/wechat-pay.ts';
import { authorize, sealHolds, sealOf, unseal } from '../src/payments/wallets/wechat-call.ts';

// Three readings of the wallets' documents: ours, the simulator's, and that of the packages which
// others pay with.

const pair = newPair();
const text = fc.oneof(
  fc.string(),
  fc.constantFrom('', '充值 ¥1.00', '{"a":"b\\"c"}', 'a=b&c=d', '%41+ '),
);
const paths = fc.constantFrom(
  '/v3/certificates',
  '/wechat-pay/v3/pay/transactions/native',
  '/v3/bill/tradebill?bill_date=2026-11-20&tar_type=GZIP',
  '/v3/a%20b?c=%E5',
);
const runs = { numRuns: 40 };

test("WeChat Pay's package finds our signature under any request, and we find its own under any answer", () => {
  const merchant = { mchId: '1900000001', serial: 'ABCD', privateKey: pair.privateKey };
  fc.assert(
    fc.property(
      fc.constantFrom('GET', 'POST'),
      paths,
      text,
      fc.nat(),
      (method, path, body, timestamp) => {
        const header = authorize(merchant, { method, path, body, timestamp, nonce: 'n0nce' });
        const [, signature = ''] = /,signature="([^"]+)"/.exec(header) ?? [];
        expect(
          Rsa.verify(
            Formatter.request(method, path, timestamp, 'n0nce', body),
            signature,
            pair.publicKey,
          ),
        ).toBe(true);
        const theirs = Formatter.authorization('1900000001', 'n0nce', signature, timestamp, 'ABCD');
        expect(new Set(header.split(/[ ,]/))).toEqual(new Set(theirs.split(/[ ,]/)));
        const seal = {
          serial: 'x',
          timestamp,
          nonce: 'n0nce',
          signature: Rsa.sign(Formatter.response(timestamp, 'n0nce', body), pair.privateKey),
        };
        expect(sealHolds(seal, body, pair.publicKey)).toBe(true);
        expect(sealHolds(seal, `${body} `, pair.publicKey)).toBe(false);
      },
    ),
    runs,
  );
});

test('what its package seals we open, and nothing that was changed', () => {
  const key = Buffer.from('0123456789abcdef0123456789abcdef');
  const nonce = fc.stringMatching(/^[0-9a-f]{12}$/);
  fc.assert(
    fc.property(text, nonce, text, (plain, iv, aad) => {
      const sealed = {
        algorithm: 'AEAD_AES_256_GCM',
        nonce: iv,
        associated_data: aad,
        ciphertext: Aes.AesGcm.encrypt(plain, key, iv, aad),
      };
      expect(unseal(key, sealed)).toBe(plain);
      expect(unseal(key, { ...sealed, associated_data: `${aad}x` })).toBeUndefined();
    }),
    runs,
  );
});

test('its package buys from the simulated WeChat Pay, believes its answers, and reads its notification and bill as we do', async () => {
  const { wallets, url, close } = await startSim();
  const { keys } = wallets.wechat;
  const client = new Wechatpay({
    baseURL: `${url}/wechat-pay/`,
    mchid: keys.mchId,
    serial: keys.merchantSerial,
    privateKey: privatePem(keys.merchant),
    certs: {
      [keys.publicKeyId]: publicPem(keys.platform),
      [keys.certificateSerial]: keys.certificate,
    },
  });
  const order = {
    ...{ appid: keys.appId, mchid: keys.mchId, description: '充值', out_trade_no: 'ord_oracle' },
    ...{ notify_url: 'http://127.0.0.1:9/pay', amount: { total: 100, currency: 'CNY' } },
  };
  const made = await client.chain('v3/pay/transactions/native').post(order);
  expect(made.data).toMatchObject({ code_url: expect.stringMatching(/^weixin:/) });
  const phone = {
    ...{ ...order, out_trade_no: 'ord_phone' },
    scene_info: { payer_client_ip: '2001:db8::7', h5_info: { type: 'Wap' } },
  };
  const opened = [1, 2].map(() => client.chain('v3/pay/transactions/h5').post(phone));
  const [one = '', two = ''] = (await Promise.all(opened)).map(({ data }) =>
    String(Reflect.get(data, 'h5_url')),
  );
  expect(one).toMatch(/checkmweb\?prepay_id=wx/);
  expect(two).not.toBe(one);
  const { scene_info: _, ...desk } = phone;
  await expect(client.chain('v3/pay/transactions/h5').post(desk)).rejects.toThrow('400');
  await expect(client.chain('v3/pay/transactions/native').post(desk)).rejects.toThrow('403');
  wallets.pay('ord_oracle');
  const asked = await client
    .chain('v3/pay/transactions/out-trade-no/ord_oracle')
    .get({ params: { mchid: keys.mchId } });
  expect(asked.data).toMatchObject({ trade_state: 'SUCCESS', amount: { total: 100 } });
  await expect.poll(() => wallets.notifications).toHaveLength(1);
  const [notice] = wallets.notifications;
  if (notice === undefined) throw new Error('nothing was told');
  const { headers, body } = notice;
  const seal = sealOf(headers, Date.now());
  expect(seal && sealHolds(seal, body, keys.platform.publicKey)).toBe(true);
  const content = Formatter.response(
    Number(headers['wechatpay-timestamp']),
    headers['wechatpay-nonce'] ?? '',
    body,
  );
  expect(
    Rsa.verify(
      content,
      headers['wechatpay-signature'] ?? '',
      Rsa.from(keys.certificate, Rsa.KEY_TYPE_PUBLIC),
    ),
  ).toBe(true);
  expect(publicKeyFrom(keys.certificate)?.equals(keys.platform.publicKey)).toBe(true);
  const { resource } = JSON.parse(body);
  const unsealed = Aes.AesGcm.decrypt(
    resource.ciphertext,
    keys.apiV3Key,
    resource.nonce,
    resource.associated_data,
  );
  expect(JSON.parse(unsealed)).toMatchObject({
    out_trade_no: 'ord_oracle',
    trade_state: 'SUCCESS',
  });
  expect(unseal(Buffer.from(keys.apiV3Key), resource)).toBe(unsealed);
  const { counter } = wallets;
  const { plain } = wechatBill(
    chinaTime(counter.now()).slice(0, 10),
    [...counter.trades.values()],
    keys,
  ) ?? { plain: Buffer.alloc(0) };
  const lines = (await readWechatBill(plain.toString('utf8')))?.map(({ number, orderId }) => ({
    微信订单号: number,
    商户订单号: orderId,
  }));
  expect(lines).toHaveLength(1);
  expect(Formatter.castCsvBill(plain)).toMatchObject({ rows: lines });
  await close();
});

const alipayOf = (
  keys: { readonly appId: string; readonly app: typeof pair; readonly alipay: typeof pair },
  gateway: string,
) =>
  new AlipaySdk({
    ...{ appId: keys.appId, gateway, keyType: 'PKCS8', camelcase: false },
    ...{ privateKey: privatePem(keys.app), alipayPublicKey: publicPem(keys.alipay) },
  });

test("Alipay's package signs as we do, character by character", () => {
  const sdk = alipayOf({ appId: '2021', app: pair, alipay: pair }, 'http://127.0.0.1:9/gateway.do');
  fc.assert(
    fc.property(text, fc.nat({ max: 99 }), (subject, fen) => {
      const content = {
        out_trade_no: 'ord_1',
        total_amount: `1.${String(fen).padStart(2, '0')}`,
        subject,
      };
      const told = {
        bizContent: content,
        notify_url: 'https://gw.example/pay?a=b&c=%20',
        timestamp: '2026-11-21 10:00:00',
      };
      const { searchParams } = new URL(sdk.pageExecute('alipay.trade.page.pay', 'GET', told));
      const parameters = Object.fromEntries(searchParams);
      expect(parameters['biz_content']).toBe(JSON.stringify(content));
      expect(signRequest(parameters, pair.privateKey)).toBe(parameters['sign']);
    }),
    runs,
  );
});

test('its package buys from the simulated Alipay, believes its answers, and takes its notification as we do', async () => {
  const { wallets, url, close } = await startSim();
  const { keys } = wallets.alipay;
  const gateway = `${url}/alipay/gateway.do`;
  const sdk = alipayOf(keys, gateway);
  const timestamp = chinaTime(Date.now());
  const content = {
    out_trade_no: 'ord_oracle',
    total_amount: '1.00',
    subject: '充值',
    product_code: 'QR_CODE_OFFLINE',
  };
  const call = (method: string, bizContent: object) =>
    sdk.exec(
      method,
      { bizContent, notify_url: 'http://127.0.0.1:9/pay', timestamp },
      { validateSign: true },
    );
  const made = await call('alipay.trade.precreate', content);
  expect(made).toMatchObject({
    code: '10000',
    qr_code: expect.stringMatching(/^https:\/\/qr\.alipay\.com/),
  });
  const trade = wallets.pay('ord_oracle');
  expect(await call('alipay.trade.query', { out_trade_no: 'ord_oracle' })).toMatchObject({
    trade_status: 'TRADE_SUCCESS',
  });
  const notice = wallets.alipay.notification(trade);
  expect([
    sdk.checkNotifySignV2({ ...notice }),
    notificationIsSigned(notice, keys.alipay.publicKey),
  ]).toEqual([true, true]);
  const forged = { ...notice, total_amount: '100.00' };
  expect([
    sdk.checkNotifySignV2({ ...forged }),
    notificationIsSigned(forged, keys.alipay.publicKey),
  ]).toEqual([false, false]);
  expect(Object.fromEntries(new URLSearchParams(formOf('', notice).body))).toEqual(notice);

  const account = {
    ...keys,
    privateKey: keys.app.privateKey,
    alipayKey: keys.alipay.publicKey,
    gateway,
  };
  const ours = new AlipayCaller(account, systemClock, new AbortController().signal);
  const pages = {
    'alipay.trade.page.pay': { out_trade_no: 'ord_page', product_code: 'FAST_INSTANT_TRADE_PAY' },
    'alipay.trade.wap.pay': {
      ...{ out_trade_no: 'ord_phone', product_code: 'QUICK_WAP_WAY' },
      quit_url: 'http://127.0.0.1:9/top-up?a=b',
    },
  };
  const addresses = {
    notify_url: 'http://127.0.0.1:9/pay',
    return_url: 'http://127.0.0.1:9/top-up',
  };
  for (const [method, own] of Object.entries(pages)) {
    const page = { ...content, ...own };
    const [mine, theirs] = [
      ours.page(method, page, { ...addresses, timestamp }),
      sdk.pageExecute(method, 'GET', { bizContent: page, ...addresses, timestamp }),
    ].map((address) => new URL(address).searchParams);
    const { format: _, ...said } = Object.fromEntries(mine ?? []);
    const { format: __, alipay_sdk: ___, ...told } = Object.fromEntries(theirs ?? []);
    expect({ ...said, sign: '' }).toEqual({ ...told, sign: '' });
    const shown = await (await fetch(`${gateway}?${String(mine)}`)).text();
    expect(shown).toContain('Pay ¥1.00');
    expect(await (await fetch(`${gateway}?${String(theirs)}`)).text()).toBe(shown);
  }
  await close();
});

test('an answer of Alipay is cut out of its text as its package cuts it', () => {
  const sdk = alipayOf({ appId: '2021', app: pair, alipay: pair }, 'http://127.0.0.1:9/gateway.do');
  const member = 'alipay_trade_query_response';
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (body) => {
      const part = JSON.stringify(body);
      const answer = `{"${member}":${part},"sign":"${rsaSign(part, pair.privateKey)}"}`;
      expect(sdk.getSignStr(answer, member)).toBe(part);
      expect(signedPart(answer, member, pair.publicKey)).toBe(part);
    }),
    runs,
  );
});
